package outcome

import (
	"time"

	"locksim/sim/trace"
)

// State is the world at one step of a run.
type State struct {
	// Step is the number of the last event that had happened, Event that event.
	// Step may be a little higher than the step asked for, since messages that are
	// sent in one instant are recorded together.
	Step  int
	Event string
	// At is the virtual time.
	At time.Duration
	// Over says that the run had ended before the step.
	Over bool
	// Clients are c0, c1, …, Nodes the servers but the store, replicas too.
	Clients []ClientState
	Nodes   []NodeState
	// Store are the registers, as "resource/register=operation"; Highest is the
	// highest token that the fence has seen.
	Store   []string
	Highest uint64
	// Flights are the links with bytes under way.
	Flights []trace.Flight
}

// ClientState is one client at one step.
type ClientState struct {
	Name string
	// Condition is "running", "paused" or "crashed".
	Condition string
	// Holds says that the lock promises the client its lease: the claim.
	Holds bool
	// Believes says that the client acts as the holder.
	Believes bool
	// Token is that of its latest grant, Left the rest of its lease on the client's
	// clock; both are zero without a grant.
	Token uint64
	Left  time.Duration
}

// NodeState is one server at one step. Role is its role, such as "primary" or
// "replica of r0"; it is empty in a world without replicas.
type NodeState struct {
	Name string
	Role string
	Keys []trace.Key
}
