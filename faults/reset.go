package faults

import (
	"fmt"
	"strings"

	"locksim/lock/promise"
)

// Reset breaks the connections between two sides, as a machine on the way does
// that has lost its state. Both ends get an error, and what was unread or under
// way is gone. New connections can be opened at once.
type Reset struct {
	// Between is one side, the processes that have dialled: "c0".
	Between []string
	// And is the other side, the nodes they have dialled: "r0", "s0". Neither
	// may be empty.
	And []string
}

// Resetter is a world whose connections can be reset.
type Resetter interface {
	// Reset breaks every connection between a process and a node now. It returns
	// an error when there is no such process or node.
	Reset(process, node string) error
}

// Kind is "reset".
func (Reset) Kind() string { return "reset" }

func (r *Reset) form() Form {
	return Form{
		Text:  "the connections between two groups break",
		Class: promise.Reset,
		Fields: []Field{
			near(&r.Between, Clients),
			{"and", Names{To: &r.And, Role: Servers | Store, Side: Far}, "which nodes are on the other side"},
		},
	}
}

// Apply asks a Resetter for the reset of each pair, in the order of the names.
func (r Reset) Apply(world any) error {
	return ask(r, world, func(w Resetter) error {
		for _, process := range r.Between {
			for _, node := range r.And {
				if err := w.Reset(process, node); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// String is "reset the connections of c0 to r0, s0".
func (r Reset) String() string {
	return fmt.Sprintf("reset the connections of %s to %s", strings.Join(r.Between, ", "), strings.Join(r.And, ", "))
}
