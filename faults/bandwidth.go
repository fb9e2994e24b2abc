package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"

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

func (b *Bandwidth) form() Form {
	return Form{
		Text:  "connections carry only so many KB/s",
		Class: promise.Latency,
		Fields: []Field{
			near(&b.Between, Anybody),
			far(&b.And, Anybody),
			{"rate", Count{To: &b.Rate, Most: MaxRate, Units: "KB/s", Such: 10}, "how much each direction of a connection " +
				"carries"},
			lasts(&b.For),
			way(&b.Direction, DirectionBoth),
		},
	}
}

// Apply asks a Toxifier for Toxiproxy's bandwidth toxics.
func (b Bandwidth) Apply(world any) error {
	b = filled(b)
	return toxify(b, world, b.wire(), func(uint64) toxics.Toxic {
		return &toxics.BandwidthToxic{Rate: int64(b.Rate)}
	}, b.For)
}

func (b Bandwidth) wire() Wire { return Wire{b.Between, b.And, b.Direction} }

// String is "limit connections between c0 and r0 (both) to 10 KB/s for 15s".
func (b Bandwidth) String() string {
	return fmt.Sprintf("limit connections %v to %d KB/s %s", b.wire(), b.Rate, length(b.For))
}
