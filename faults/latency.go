package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Latency makes messages late, each by a time drawn anew. The order on each
// connection is kept: one late message holds up those behind it.
type Latency struct {
	// Between, And and Direction are where: see Wire.
	Between []string
	And     []string
	// Add is by how much each message is late at least, on top of what the
	// network takes anyway.
	Add time.Duration
	// Jitter is by how much more it may be late: between nothing and Jitter,
	// both included, every length as likely as any other. Add and Jitter must
	// not both be 0.
	Jitter time.Duration
	// For is how long this lasts, in virtual time. 0 means until the network is
	// healed at the end of the workload.
	For time.Duration
	// Direction is which way. Empty means DirectionBoth: each way apart, so that
	// a round trip is late twice.
	Direction Direction
}

// Kind is "latency".
func (Latency) Kind() string { return "latency" }

func (l *Latency) form() Form {
	return Form{
		Text:  "messages are late, each by another time",
		Class: promise.Latency,
		check: func() error {
			if l.Add == 0 && l.Jitter == 0 {
				return wrong("add", "nothing is late: give add, jitter or both, such as 50ms")
			}
			return nil
		},
		Fields: []Field{
			near(&l.Between, Anybody),
			far(&l.And, Anybody),
			{"add", Offset{To: &l.Add, Each: true, None: "nothing", Such: 50 * time.Millisecond},
				"by how much each message is late at least"},
			{"jitter", Offset{To: &l.Jitter, Each: true, None: "nothing", Such: 20 * time.Millisecond},
				"by how much more it may be late"},
			lasts(&l.For),
			way(&l.Direction, DirectionBoth),
		},
	}
}

// Apply asks a Toxifier for Jitter toxics.
func (l Latency) Apply(world any) error {
	l = filled(l)
	return toxify(l, world, l.wire(), func(seed uint64) toxics.Toxic {
		return &Jitter{Add: l.Add, Spread: l.Jitter, Seed: seed}
	}, l.For)
}

func (l Latency) wire() Wire { return Wire{l.Between, l.And, l.Direction} }

// String is "delay messages between c0 and r0 (both) by 50ms to 70ms for 15s".
func (l Latency) String() string {
	return fmt.Sprintf("delay messages %v by %v to %v %s", l.wire(), l.Add, l.Add+l.Jitter, length(l.For))
}
