package faults

import (
	"fmt"
	"strings"
	"time"
)

// Partition cuts the links between two sides of the world: between clients and
// nodes, or between a Redis node and its replicas. Links within a side stay
// whole.
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

// BytesModes lists the ways to treat bytes, the default first. The caller owns
// the slice.
func BytesModes() []Bytes { return []Bytes{BytesHold, BytesDrop} }

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
	return first(
		Wire{p.Between, p.And, p.Direction}.validate("nobody is cut off"),
		orToTheEnd("for", p.For, "the cut"),
		oneOf("bytes", p.Bytes, BytesModes()),
	)
}

// String is "cut c0 off from r0, s0 for 15s (hold, both)".
func (p Partition) String() string {
	return fmt.Sprintf("cut %s off from %s %s (%s, %s)", strings.Join(p.Between, ", "), orEverything(p.And), length(p.For),
		orFirst(p.Bytes, BytesModes()), orFirst(p.Direction, Directions()))
}
