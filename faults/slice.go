package faults

import (
	"fmt"
	"time"

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

// Apply asks a Toxifier for Toxiproxy's slicer toxics.
func (s Slice) Apply(world any) error {
	return toxify(s, world, s.wire(), func(uint64) toxics.Toxic {
		return &toxics.SlicerToxic{AverageSize: s.Size, Delay: int(s.Delay / time.Microsecond)}
	}, s.For)
}

// Validate returns a *FieldError when a side makes no sense, the size is out of
// range, a time is negative or too fine, or the direction is not known.
func (s Slice) Validate() error {
	return first(
		s.wire().validate("no messages are cut"),
		within1To("size", s.Size, MaxSliceSize, "bytes"),
		orToTheEnd("delay", s.Delay, "the wait between two packets"),
		whole("delay", s.Delay, time.Microsecond, "microseconds"),
		orToTheEnd("for", s.For, "the slicing"),
	)
}

func (s Slice) wire() Wire { return Wire{s.Between, s.And, s.Direction} }

// String is "slice messages between c0 and r0 (both) into 8 bytes, 1ms apart,
// for 15s".
func (s Slice) String() string {
	return fmt.Sprintf("slice messages %v into %d bytes, %v apart, %s", s.wire(), s.Size, s.Delay, length(s.For))
}
