package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"
)

// Stall blocks a node: a slow command, such as KEYS over millions of them, or a
// disk that does not answer. What arrives waits, and is done afterwards in its
// order. The node's clock goes on, and so do the leases on it.
type Stall struct {
	// Node is who is blocked: "r0" or "s0".
	Node string
	// For is how long, in virtual time. 0 means until the world is healed at the
	// end of the workload.
	For time.Duration
}

// Staller is a world whose nodes can be blocked.
type Staller interface {
	// Stall blocks the node for d, or until the world is healed if d is 0. It
	// does not wait for that. It returns an error when there is no such node.
	Stall(node string, d time.Duration) error
}

// Kind is "stall".
func (Stall) Kind() string { return "stall" }

func (s *Stall) form() Form {
	return Form{
		Text:   "a slow command blocks a node",
		Class:  promise.Stall,
		Fields: []Field{{"node", Name{To: &s.Node, Role: Servers | Store}, "which one is blocked"}, lasts(&s.For)},
	}
}

// Apply asks a Staller for it.
func (s Stall) Apply(world any) error {
	return ask(s, world, func(w Staller) error { return w.Stall(s.Node, s.For) })
}

// String is "stall r0 for 15s".
func (s Stall) String() string { return fmt.Sprintf("stall %s %s", s.Node, length(s.For)) }
