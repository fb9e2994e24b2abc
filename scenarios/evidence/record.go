package evidence

import (
	"time"

	"locksim/checker"
	"locksim/sim/trace"
)

// Record is what a driver has seen of one run. It is complete when the run is over, and says nothing about what any
// of it means. All times are those since the start of the run. A record is a value: nothing in this package modifies
// it.
type Record struct {
	// Live says that the run was one on real servers, in real time.
	Live bool `json:"live,omitempty"`
	// Over is the number of the last event before the end of the workload: 0 if it did not end. What comes after it,
	// such as the healing of the network and the probe, is not judged as the work of clients.
	Over int `json:"over,omitempty"`
	// AskedFor is how long a client asks for the lock before it gives up.
	AskedFor time.Duration `json:"asked_for"`
	// Ownerless says that clients entered a lock again that has no owners.
	Ownerless bool `json:"ownerless,omitempty"`
	// Waiting are the calls that had not returned by then, so that the network was healed first; or, if there are any that
	// never return, only those.
	Waiting []checker.Waiting `json:"waiting,omitempty"`
	// Loops says which client looped without an end, in a sentence; "" if none did.
	Loops string `json:"loops,omitempty"`
	// Timeline is what the trace says that evidence needs.
	Timeline Timeline `json:"timeline"`
	// Clients are the clients in the order in which they began: one that was restarted is another one of the same name.
	Clients []Client `json:"clients"`
	// Servers are all servers but the store, as they were at the start.
	Servers trace.Servers `json:"servers"`
	// Faults are what became of each fault of the scenario, in its order.
	Faults []Fault `json:"faults,omitempty"`
	// Keys are the names of the keys of the lock, by the resource; nil if nothing is known of them. Queues are the keys in
	// which its waiters queue, for a lock that has an order.
	Keys   map[string][]string `json:"keys,omitzero"`
	Queues map[string]string   `json:"queues,omitzero"`
	// Learnt says that the keys were learnt, and not named by the lock.
	Learnt bool `json:"learnt,omitempty"`
	// Changes are the changes of the keys on all servers, in order, to the end of the run. ChangesBefore is how many of
	// them came before the probe.
	Changes       []trace.KeyChange `json:"changes,omitempty"`
	ChangesBefore int               `json:"changes_before,omitempty"`
	// Decisions are those of the store, and of the data that a lock brings along.
	Decisions []Decision `json:"decisions,omitempty"`
	// Final are the values of the registers at the end.
	Final []Final `json:"final,omitempty"`
	// Last are the reads of the probe, of a store that is under test.
	Last []checker.Op `json:"last,omitempty"`
	// Left is the state of the servers when the workload was over and the network was whole again, Ended that at the end
	// of the run, after the probe.
	Left  []ServerState `json:"left,omitempty"`
	Ended []ServerState `json:"ended,omitempty"`
	// Probe is what became of the client that asked for the lock at the end.
	Probe Probe `json:"probe"`
}

// ServerState is the state of a server at one moment.
type ServerState struct {
	// Server is what it is, and was at the start.
	trace.Server
	// Follows is its part in replication by now, such as "primary" or "replica of r0"; it is empty for a server without
	// replication.
	Follows string `json:"follows,omitempty"`
	// Asked says that locks send requests to it: it is no replica, nor a primary
	// that a failover has replaced.
	Asked bool `json:"asked,omitempty"`
	// Keys are its keys, and the locks of its sessions, if servers of its kind can list them. Listed says that there is
	// nothing else on them that keeps a client out.
	Keys   []trace.Key `json:"keys,omitempty"`
	Listed bool        `json:"listed,omitempty"`
	// Down says that it is not running.
	Down bool `json:"down,omitempty"`
	// Connections are the numbers of connections that clients have open to it, by the client; nil if that is not known, or
	// if there are none.
	Connections map[string]int `json:"connections,omitempty"`
}

// Fault is what became of a fault of the scenario.
type Fault struct {
	// Fired says that it struck, for the first time as Strike says.
	Fired bool `json:"fired,omitempty"`
	Strike
	// Again are its later strikes, in order; nil for a fault that struck once.
	Again []Strike `json:"again,omitempty"`
	// Unable says why the world could not play it; "" if it could, or was not asked.
	Unable string `json:"unable,omitempty"`
}

// Strike is one time that a fault struck.
type Strike struct {
	// Struck is the instant.
	Struck time.Duration `json:"struck,omitempty"`
	// Felt are the first and the last instant at which it was felt before the workload ended. It has one instant if it was
	// felt once, and none if it was not.
	Felt []time.Duration `json:"felt,omitempty"`
	// Holder is the client that it struck as [faults.Holder]; "" if the fault does not aim at that.
	Holder string `json:"holder,omitempty"`
}

// Decision is the store's decision about one operation, with its position.
type Decision struct {
	At checker.Pos `json:"at"`
	trace.Decision
}

// Final is the value of a register at the end of a run; "" for one that was never written.
type Final struct {
	Resource string `json:"resource"`
	Register string `json:"register"`
	Value    string `json:"value"`
}

// Client is one life of a client, from its start to its end.
type Client struct {
	// Name is that of its process.
	Name string `json:"name"`
	// Grants, Attempts and Tries are what it asked for.
	Grants   []Grant           `json:"grants,omitempty"`
	Attempts []checker.Attempt `json:"attempts,omitempty"`
	Tries    []checker.Try     `json:"tries,omitempty"`
	// Lapsed are the instants at which the lock was granted to the client although its process, or its worker, had ended
	// by then.
	Lapsed []time.Duration `json:"lapsed,omitempty"`
	// GaveUp is when it first gave up an operation in the transaction that has its lock; 0 for never.
	GaveUp time.Duration `json:"gave_up,omitempty"`
	// Longest is the length of its longest section.
	Longest time.Duration `json:"longest,omitempty"`
	// Crashed says that it had crashed by the end of the run.
	Crashed bool `json:"crashed,omitempty"`
}

// Grant is a grant as its client saw it. Of [checker.Grant] it has what the driver notes: the evidence adds the rest.
type Grant struct {
	checker.Grant
	// Ops are the operations under it. The last one may be Unfinished: the run ended before it.
	Ops        []checker.Op `json:"ops,omitempty"`
	Unfinished bool         `json:"unfinished,omitempty"`
	// Calls are the calls of the lease that returned.
	Calls []checker.Call `json:"calls,omitempty"`
	// Returned is when Acquire returned. OverAtOnce says that the validity had ended by then, LostAtOnce that the loss had
	// been announced; LossKnown that the lock knew of it before the last answer, where that was observed.
	Returned   time.Duration `json:"returned,omitempty"`
	OverAtOnce bool          `json:"over_at_once,omitempty"`
	LostAtOnce bool          `json:"lost_at_once,omitempty"`
	LossKnown  bool          `json:"loss_known,omitempty"`
	// LossChecked is when a check of a section met the loss.
	LossChecked checker.Pos `json:"loss_checked,omitempty"`
	// LostValues is how many values its Lost had, in place of being closed. Started and Stopped are how often an
	// election has called back for this term.
	LostValues int `json:"lost_values,omitempty"`
	Started    int `json:"started,omitempty"`
	Stopped    int `json:"stopped,omitempty"`
}

// Probe is a lone client that asks for the lock when all workloads have ended and the network is healed: it must get
// the lock within the longest TTL of the keys, plus a retry. A lock on several nodes must not need all of them,
// though: a majority is enough.
type Probe struct {
	// Bound is how long it asked, for each resource. 0 means that it did not ask.
	Bound time.Duration `json:"bound,omitempty"`
	// Acquired says that it got the lock of every resource. Problem is the last error that it met.
	Acquired bool   `json:"acquired,omitempty"`
	Problem  string `json:"problem,omitempty"`
	// Denied says that every Acquire that failed said only that the lock was taken, or that the time was over.
	Denied bool `json:"denied,omitempty"`
}
