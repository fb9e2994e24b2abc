package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"
)

// The rates at which a clock may run: from standing still to ten times too fast.
const (
	MinPPM = -1_000_000
	MaxPPM = 9_000_000
)

// ClockDrift makes the clocks of a machine run too fast or too slow, the wall
// clock and the monotonic one alike. A lease is measured by two of them, the
// holder's and the node's (F20).
type ClockDrift struct {
	// Clock is whose clocks drift: "c0", "r0", or a replica such as "r0a".
	Clock string
	// PPM is by how much, in millionths of the true rate: faster if it is
	// positive, from MinPPM to MaxPPM. It must not be 0.
	PPM int64
	// For is how long it lasts, in virtual time. 0 means until the world is
	// healed at the end of the workload.
	For time.Duration
}

// ClockDrifter is a world whose clocks can run at other rates.
type ClockDrifter interface {
	// DriftClock makes the clocks of that name run faster by ppm millionths, or
	// slower if it is negative, and as they should again after d, or when the
	// world is healed if d is 0. What they have gained or lost by then stays. At
	// MinPPM they stand still. It does not wait for the end. It returns an error
	// when there is no such clock.
	DriftClock(name string, ppm int64, d time.Duration) error
}

// Kind is "clock_drift".
func (ClockDrift) Kind() string { return "clock_drift" }

func (c *ClockDrift) form() Form {
	return Form{
		Text: "a clock runs too fast or too slow",
		// any number of drifts of half the allowance differ by no more than the whole
		Class:    driftClass(2 * max(c.PPM, -c.PPM)),
		together: driftsClass,
		Fields: []Field{
			{"clock", Name{To: &c.Clock, Role: Clients | Servers}, "whose clock drifts"},
			{"ppm", Deviation{To: &c.PPM, Least: MinPPM, Most: MaxPPM, Units: "millionths of the true rate", Such: 10_000},
				"how much too fast, or too slow if it is negative"},
			lasts(&c.For),
		},
	}
}

// driftsClass is what promises call the drifts of a schedule by, taken together:
// clocks that are all too fast differ less than their sizes say.
func driftsClass(schedule []Fault) promise.Fault {
	var slowest, fastest int64 // clocks without a fault run true
	for _, f := range schedule {
		if drift, ok := f.Action.(ClockDrift); ok {
			slowest, fastest = min(slowest, drift.PPM), max(fastest, drift.PPM)
		}
	}
	return driftClass(fastest - slowest)
}

// driftClass is the class of clocks whose rates differ by so many millionths.
func driftClass(ppm int64) promise.Fault {
	if ppm <= promise.DriftAllowance {
		return promise.ClockDrift
	}
	return promise.ClockRate
}

// Apply asks a ClockDrifter for the drift.
func (c ClockDrift) Apply(world any) error {
	return ask(c, world, func(w ClockDrifter) error { return w.DriftClock(c.Clock, c.PPM, c.For) })
}

// String is "drift the clock of r0 by +10000 ppm for 1m0s".
func (c ClockDrift) String() string {
	return fmt.Sprintf("drift the clock of %s by %+d ppm %s", c.Clock, c.PPM, length(c.For))
}
