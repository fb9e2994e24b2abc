package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"
)

// Refuse makes a node refuse new connections. Those that are there go on.
type Refuse struct {
	// Node is who refuses: "r0" or "s0".
	Node string
	// For is how long, in virtual time. 0 means until the network is healed at
	// the end of the workload.
	For time.Duration
}

// Refuser is a world whose nodes can refuse connections.
type Refuser interface {
	// Refuse makes the node refuse new connections for d, or until the network
	// is healed if d is 0. It does not wait for that. It returns an error when
	// there is no such node.
	Refuse(node string, d time.Duration) error
}

// Kind is "refuse".
func (Refuse) Kind() string { return "refuse" }

func (r *Refuse) form() Form {
	return Form{
		Text:   "a node refuses new connections",
		Class:  promise.Reset,
		Fields: []Field{{"node", Name{To: &r.Node, Role: Servers | Store}, "which one refuses connections"}, lasts(&r.For)},
	}
}

// Apply asks a Refuser for it.
func (r Refuse) Apply(world any) error {
	return ask(r, world, func(w Refuser) error { return w.Refuse(r.Node, r.For) })
}

// String is "refuse connections to r0 for 15s".
func (r Refuse) String() string {
	return fmt.Sprintf("refuse connections to %s %s", r.Node, length(r.For))
}
