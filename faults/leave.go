package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"
)

// Leave makes a member leave its cluster for good, as `etcdctl member remove` and `reconfig -remove` of ZooKeeper do:
// the others agree on it, its process ends then, and the majority is that of those who are left. When the fault ends it
// joins again, as a new member with its name would: it has to catch up. While the cluster cannot agree, an operator
// tries on.
type Leave struct {
	// Node is who leaves: "e0".
	Node string
	// For is for how long, in virtual time. 0 means until the world is healed at the end of the workload.
	For time.Duration
}

// Remover is a world whose clusters can lose members.
type Remover interface {
	// Remove lets a member leave its cluster for d, or until the world is healed if d is 0. It does not wait for that. It
	// returns an error when there is no such node, or when it cannot leave.
	Remove(node string, d time.Duration) error
}

// Kind is "leave".
func (Leave) Kind() string { return "leave" }

func (l *Leave) form() Form {
	return Form{
		Text:   "a member leaves its cluster, and joins it again",
		Class:  promise.NodeCrash,
		Fields: []Field{{"node", Name{To: &l.Node, Role: Members}, "which one leaves"}, lasts(&l.For)},
	}
}

// Apply asks a Remover for it.
func (l Leave) Apply(world any) error {
	return ask(l, world, func(w Remover) error { return w.Remove(l.Node, l.For) })
}

// String is "let e0 leave its cluster for 15s".
func (l Leave) String() string {
	return fmt.Sprintf("let %s leave its cluster %s", l.Node, length(l.For))
}
