package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Partition cuts the links between two sides of the world. Links within a side
// stay whole.
type Partition struct {
	// Between is one side, by process names. It must not be empty.
	Between []string
	// And is the other side. Empty means everything that is not in Between.
	And []string
	// For is how long the cut lasts, in virtual time. 0 means until the network
	// is healed at the end of the workload.
	For time.Duration
	// Bytes is what becomes of the bytes sent meanwhile. Empty means BytesHold.
	Bytes Bytes
	// Direction is which way the cut works. Empty means DirectionBoth.
	Direction Direction
}

// Bytes is what becomes of bytes that are sent over a link while it is cut.
type Bytes string

const (
	// BytesHold delivers them late, after the link has healed: what TCP does by
	// sending again. This is how stale commands and stale writes arrive. See
	// Hold.
	BytesHold Bytes = "hold"
	// BytesDrop loses them. A connection that has lost bytes does not survive
	// the healing. See Drop.
	BytesDrop Bytes = "drop"
)

// Direction is which way a partition cuts.
type Direction string

const (
	// DirectionBoth cuts both ways.
	DirectionBoth Direction = "both"
	// DirectionForward cuts only what is sent from Between to And.
	DirectionForward Direction = "forward"
	// DirectionBackward cuts only what is sent from And to Between.
	DirectionBackward Direction = "backward"
)

// BytesModes lists the ways to treat bytes, the default first. The caller owns
// the slice.
func BytesModes() []Bytes { return []Bytes{BytesHold, BytesDrop} }

// Directions lists the directions, the default first. The caller owns the slice.
func Directions() []Direction {
	return []Direction{DirectionBoth, DirectionForward, DirectionBackward}
}

// Cutter is a world whose network can be cut.
type Cutter interface {
	// Cut makes the partition now and heals it after p.For. It does not wait
	// for the healing. p.Bytes and p.Direction are never empty. It returns an
	// error when a process does not exist.
	Cut(p Partition) error
}

// Kind is "partition".
func (Partition) Kind() string { return "partition" }

// Apply asks a Cutter for the cut.
func (p Partition) Apply(world any) error {
	w, err := able[Cutter](p, world)
	if err != nil {
		return err
	}
	p.Bytes = orFirst(p.Bytes, BytesModes())
	p.Direction = orFirst(p.Direction, Directions())
	return done(p, w.Cut(p))
}

// Validate returns a *FieldError when a side makes no sense, the time is
// negative, or a choice is not known.
func (p Partition) Validate() error {
	if len(p.Between) == 0 {
		return wrong("between", "nobody is cut off: name the processes of one side, such as [c0]")
	}
	if err := p.validateSides(); err != nil {
		return err
	}
	if p.For < 0 {
		return wrong("for", "%v is negative: give the length of the cut, such as 15s", p.For)
	}
	if err := oneOf("bytes", p.Bytes, BytesModes()); err != nil {
		return err
	}
	return oneOf("direction", p.Direction, Directions())
}

// validateSides looks for nameless processes and for one named twice: no
// process can be cut off from itself.
func (p Partition) validateSides() error {
	both := slices.Concat(p.Between, p.And)
	for i, name := range both {
		field := fmt.Sprintf("between[%d]", i)
		if i >= len(p.Between) {
			field = fmt.Sprintf("and[%d]", i-len(p.Between))
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

// String is "cut c0 off from r0, s0 for 15s (hold, both)".
func (p Partition) String() string {
	other, length := "everything else", "until the end"
	if len(p.And) > 0 {
		other = strings.Join(p.And, ", ")
	}
	if p.For > 0 {
		length = fmt.Sprint("for ", p.For)
	}
	return fmt.Sprintf("cut %s off from %s %s (%s, %s)", strings.Join(p.Between, ", "), other, length,
		orFirst(p.Bytes, BytesModes()), orFirst(p.Direction, Directions()))
}
