package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"
)

// ReadOnly makes a node answer writes with READONLY, as a replica does that its
// clients take for the primary. It serves reads, and its keys expire.
type ReadOnly struct {
	// Node is who takes no writes: "r0".
	Node string
	// For is how long, in virtual time. 0 means until the world is healed at the
	// end of the workload.
	For time.Duration
}

// WriteRefuser is a world whose Redis nodes can refuse writes.
type WriteRefuser interface {
	// RefuseWrites makes the node refuse writes for d, or until the world is
	// healed if d is 0. It does not wait for that. It returns an error when
	// there is no such node.
	RefuseWrites(node string, d time.Duration) error
}

// Kind is "read_only".
func (ReadOnly) Kind() string { return "read_only" }

func (r *ReadOnly) form() Form {
	return Form{
		Text:   "a node refuses writes",
		Class:  promise.ReadOnly,
		Fields: []Field{{"node", Name{To: &r.Node, Role: Servers}, "which one takes no writes"}, lasts(&r.For)},
	}
}

// Apply asks a WriteRefuser for it.
func (r ReadOnly) Apply(world any) error {
	return ask(r, world, func(w WriteRefuser) error { return w.RefuseWrites(r.Node, r.For) })
}

// String is "make r0 read-only for 15s".
func (r ReadOnly) String() string { return fmt.Sprintf("make %s read-only %s", r.Node, length(r.For)) }
