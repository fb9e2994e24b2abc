package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// MaxSliceSize is the largest size of a Slice, in bytes.
const MaxSliceSize = 1 << 20

// Slice cuts messages into small packets that arrive one after another. TCP
// promises a stream of bytes, and no code may count on more of it in one read.
type Slice struct {
	// Between, And and Direction are where: see Wire.
	Between []string
	And     []string
	// Size is the most bytes that a packet has: 1 to MaxSliceSize. A message that is
	// longer is halved until its parts are short enough.
	Size int
	// Delay is the time from one packet to the next, in whole microseconds.
	// Default: 0.
	Delay time.Duration
	// For is how long this lasts, in virtual time. 0 means until the network is
	// healed at the end of the workload.
	For time.Duration
	// Direction is which way. Empty means DirectionBoth.
	Direction Direction
}

// Kind is "slice".
func (Slice) Kind() string { return "slice" }

func (s *Slice) form() Form {
	return Form{
		Text:  "messages arrive in small packets",
		Class: promise.Latency,
		Fields: []Field{
			near(&s.Between, Anybody),
			far(&s.And, Anybody),
			{"size", Count{To: &s.Size, Most: MaxSliceSize, Units: "bytes", Such: 8}, "the most that a packet has"},
			{"delay", Offset{To: &s.Delay, Each: true, None: "nothing", Unit: time.Microsecond, Such: time.Millisecond},
				"the time from one packet to the next"},
			lasts(&s.For),
			way(&s.Direction, DirectionBoth),
		},
	}
}

// Apply asks a Toxifier for Toxiproxy's slicer toxics.
func (s Slice) Apply(world any) error {
	s = filled(s)
	return toxify(s, world, s.wire(), func(uint64) toxics.Toxic {
		return &toxics.SlicerToxic{AverageSize: s.Size, Delay: int(s.Delay / time.Microsecond)}
	}, s.For)
}

func (s Slice) wire() Wire { return Wire{s.Between, s.And, s.Direction} }

// String is "slice messages between c0 and r0 (both) into 8 bytes, 1ms apart,
// for 15s".
func (s Slice) String() string {
	return fmt.Sprintf("slice messages %v into %d bytes, %v apart, %s", s.wire(), s.Size, s.Delay, length(s.For))
}
