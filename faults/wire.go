package faults

import (
	"cmp"
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

// toxify asks a Toxifier for the toxics of an action. w.Direction is not empty.
func toxify(a Action, world any, w Wire, build func(seed uint64) toxics.Toxic, d time.Duration) error {
	return ask(a, world, func(t Toxifier) error { return t.Toxify(w, a.Kind(), build, d) })
}

// near and far are the fields that have the two sides of a wire.
func near(to *[]string, role Role) Field {
	return Field{"between", Names{To: to, Role: role, Side: Near}, "who is on one side"}
}

func far(to *[]string, role Role) Field {
	return Field{"and", Names{To: to, Role: role, Side: Far, Default: "everything else"}, "who is on the other side"}
}

// way is the field that has the direction of a wire, with its default.
func way(to *Direction, byDefault Direction) Field {
	words := texts(Directions())
	i := slices.Index(words, string(byDefault))
	return Field{"direction", Word{(*string)(to), slices.Insert(slices.Delete(words, i, i+1), 0, string(byDefault))},
		"which way"}
}

// lasts is the field that has the length of a fault that may last to the end.
func lasts(to *time.Duration) Field { return Field{"for", Length{To: to}, "how long this lasts"} }

// length is how long something lasts, as the end of a phrase.
func length(d time.Duration) string {
	if d == 0 {
		return "until the end"
	}
	return fmt.Sprint("for ", d)
}

// orEverything is one side of a network, as part of a phrase.
func orEverything(names []string) string {
	if len(names) == 0 {
		return "everything else"
	}
	return strings.Join(names, ", ")
}

// String is "between c0 and r0, s0 (both)".
func (w Wire) String() string {
	return fmt.Sprintf("between %s and %s (%s)", strings.Join(w.Between, ", "), orEverything(w.And),
		cmp.Or(w.Direction, DirectionBoth))
}
