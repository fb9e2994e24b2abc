package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Wire is the part of the network that a fault is about: the links between two
// sides of the world, one way or both. Links within a side do not belong to it.
type Wire struct {
	// Between is one side, by process names. It must not be empty.
	Between []string
	// And is the other side. Empty means everything that is not in Between.
	And []string
	// Direction is which way is meant. Empty means DirectionBoth.
	Direction Direction
}

// Direction is which way a fault of the network works.
type Direction string

const (
	// DirectionBoth is both ways.
	DirectionBoth Direction = "both"
	// DirectionForward is what is sent from Between to And.
	DirectionForward Direction = "forward"
	// DirectionBackward is what is sent from And to Between.
	DirectionBackward Direction = "backward"
)

// Directions lists the directions, the default first. The caller owns the slice.
func Directions() []Direction {
	return []Direction{DirectionBoth, DirectionForward, DirectionBackward}
}

// Toxifier is a world whose links can carry toxics, in the sense of Toxiproxy.
type Toxifier interface {
	// Toxify puts a toxic on each direction of each link of the wire, at the
	// end of its chain, on the connections that are there and on those to come.
	// It calls build once for each direction of each link, with a seed that is
	// different for each of them and for each run. The toxics are removed after
	// d, or when the network is healed if d is 0; Toxify does not wait for that.
	// The name says in the trace what they are. w.Direction is never empty. It
	// returns an error when a process or a link does not exist.
	Toxify(w Wire, name string, build func(seed uint64) toxics.Toxic, d time.Duration) error
}

// toxify asks a Toxifier for the toxics of an action.
func toxify(a Action, world any, w Wire, build func(seed uint64) toxics.Toxic, d time.Duration) error {
	t, err := able[Toxifier](a, world)
	if err != nil {
		return err
	}
	w.Direction = orFirst(w.Direction, Directions())
	return done(a, t.Toxify(w, a.Kind(), build, d))
}

// validate returns a *FieldError when a side makes no sense or the direction is
// not known. The complaint is what to say when nobody stands on the first side.
func (w Wire) validate(complaint string) error {
	if len(w.Between) == 0 {
		return wrong("between", "%s: name the processes of one side, such as [c0]", complaint)
	}
	return first(w.validateSides(), oneOf("direction", w.Direction, Directions()))
}

// validateSides looks for nameless processes and for one named twice: there is
// no link from a process to itself.
func (w Wire) validateSides() error {
	both := slices.Concat(w.Between, w.And)
	for i, name := range both {
		field := fmt.Sprintf("between[%d]", i)
		if i >= len(w.Between) {
			field = fmt.Sprintf("and[%d]", i-len(w.Between))
		}
		if name == "" {
			return wrong(field, "the process has no name: write one such as c0, r0 or s0")
		}
		if slices.Contains(both[:i], name) {
			return wrong(field, "%s is named twice: a process stands on one side, once", name)
		}
	}
	return nil
}

// String is "between c0 and r0, s0 (both)".
func (w Wire) String() string {
	return fmt.Sprintf("between %s and %s (%s)", strings.Join(w.Between, ", "), orEverything(w.And), orFirst(w.Direction, Directions()))
}
