package faults

import (
	"fmt"
	"strings"
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

// Apply asks a Resetter for the reset of each pair, in the order of the names.
func (r Reset) Apply(world any) error {
	w, err := able[Resetter](r, world)
	if err != nil {
		return err
	}
	for _, process := range r.Between {
		for _, node := range r.And {
			if err := w.Reset(process, node); err != nil {
				return done(r, err)
			}
		}
	}
	return nil
}

// Validate returns a *FieldError when a side is empty or makes no sense.
func (r Reset) Validate() error {
	if err := (Wire{Between: r.Between, And: r.And}).validate("no connections are reset"); err != nil {
		return err
	}
	if len(r.And) == 0 {
		return wrong("and", "no connections are reset: name the nodes of the other side, such as [r0]")
	}
	return nil
}

// String is "reset the connections of c0 to r0, s0".
func (r Reset) String() string {
	return fmt.Sprintf("reset the connections of %s to %s", strings.Join(r.Between, ", "), strings.Join(r.And, ", "))
}
