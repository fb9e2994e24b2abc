package faults

import (
	"fmt"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// MaxRate is the highest rate of a Bandwidth, in KB/s.
const MaxRate = 1_000_000

// Bandwidth limits how much a connection carries.
type Bandwidth struct {
	// Between, And and Direction are where: see Wire.
	Between []string
	And     []string
	// Rate is how much each direction of a connection carries, in KB/s, which
	// are 1,000 bytes per second as in Toxiproxy: 1 to MaxRate.
	Rate int
	// For is how long this lasts, in virtual time. 0 means until the network is
	// healed at the end of the workload.
	For time.Duration
	// Direction is which way. Empty means DirectionBoth.
	Direction Direction
}

// Kind is "bandwidth".
func (Bandwidth) Kind() string { return "bandwidth" }

// Apply asks a Toxifier for Toxiproxy's bandwidth toxics.
func (b Bandwidth) Apply(world any) error {
	return toxify(b, world, b.wire(), func(uint64) toxics.Toxic {
		return &toxics.BandwidthToxic{Rate: int64(b.Rate)}
	}, b.For)
}

// Validate returns a *FieldError when a side makes no sense, the rate is out of
// range, the time is negative, or the direction is not known.
func (b Bandwidth) Validate() error {
	return first(
		b.wire().validate("no connections are slow"),
		within1To("rate", b.Rate, MaxRate, "KB/s"),
		orToTheEnd("for", b.For, "the shortage"),
	)
}

func (b Bandwidth) wire() Wire { return Wire{b.Between, b.And, b.Direction} }

// String is "limit connections between c0 and r0 (both) to 10 KB/s for 15s".
func (b Bandwidth) String() string {
	return fmt.Sprintf("limit connections %v to %d KB/s %s", b.wire(), b.Rate, length(b.For))
}
