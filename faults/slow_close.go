package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// SlowClose lets the end of a connection arrive late. The bytes before it are
// on time.
type SlowClose struct {
	// Between, And and Direction are where: see Wire.
	Between []string
	And     []string
	// Delay is by how much the end is late, in whole milliseconds. It must be
	// positive.
	Delay time.Duration
	// For is how long this lasts, in virtual time. 0 means until the network is
	// healed at the end of the workload.
	For time.Duration
	// Direction is which way. Empty means DirectionBoth.
	Direction Direction
}

// Kind is "slow_close".
func (SlowClose) Kind() string { return "slow_close" }

func (s *SlowClose) form() Form {
	return Form{
		Text:  "the end of a connection arrives late",
		Class: promise.Latency,
		Fields: []Field{
			near(&s.Between, Anybody),
			far(&s.And, Anybody),
			{"delay", Offset{To: &s.Delay, Each: true, Unit: time.Millisecond, Such: 5 * time.Second},
				"by how much the end is late"},
			lasts(&s.For),
			way(&s.Direction, DirectionBoth),
		},
	}
}

// Apply asks a Toxifier for Toxiproxy's slow_close toxics.
func (s SlowClose) Apply(world any) error {
	s = filled(s)
	return toxify(s, world, s.wire(), func(uint64) toxics.Toxic {
		return &toxics.SlowCloseToxic{Delay: s.Delay.Milliseconds()}
	}, s.For)
}

func (s SlowClose) wire() Wire { return Wire{s.Between, s.And, s.Direction} }

// String is "end connections between c0 and r0 (both) 5s late for 15s".
func (s SlowClose) String() string {
	return fmt.Sprintf("end connections %v %v late %s", s.wire(), s.Delay, length(s.For))
}
