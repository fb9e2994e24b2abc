package faults

import (
	"fmt"
	"strings"
	"time"

	"locksim/lock/promise"
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

func (p *Partition) form() Form {
	return Form{
		Text:  "the network between two groups holds or drops what is sent",
		Class: promise.Partition,
		Cuts:  true,
		Fields: []Field{
			near(&p.Between, Anybody),
			far(&p.And, Anybody),
			lasts(&p.For),
			{"bytes", Word{(*string)(&p.Bytes), texts(BytesModes())}, "what becomes of the bytes sent meanwhile"},
			way(&p.Direction, DirectionBoth),
		},
	}
}

// Apply asks a Cutter for the cut.
func (p Partition) Apply(world any) error {
	p = filled(p)
	return ask(p, world, func(w Cutter) error { return w.Cut(p) })
}

// String is "cut c0 off from r0, s0 for 15s (hold, both)".
func (p Partition) String() string {
	p = filled(p)
	return fmt.Sprintf("cut %s off from %s %s (%s, %s)", strings.Join(p.Between, ", "), orEverything(p.And), length(p.For),
		p.Bytes, p.Direction)
}
