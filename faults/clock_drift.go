package faults

import (
	"fmt"
	"time"
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

// Apply asks a ClockDrifter for the drift.
func (c ClockDrift) Apply(world any) error {
	w, err := able[ClockDrifter](c, world)
	if err != nil {
		return err
	}
	return done(c, w.DriftClock(c.Clock, c.PPM, c.For))
}

// Validate returns a *FieldError when no clock is named, the rate is none that
// a clock may have, or the time is negative.
func (c ClockDrift) Validate() error {
	return first(
		named("clock", c.Clock, "whose clock drifts", "c0"),
		validatePPM(c.PPM),
		orToTheEnd("for", c.For, "the drift"),
	)
}

func validatePPM(ppm int64) error {
	if ppm == 0 {
		return wrong("ppm", "a drift of 0 is none: give millionths of the true rate, such as 10000 for one in a hundred too fast")
	}
	if ppm < MinPPM || ppm > MaxPPM {
		return wrong("ppm", "%d is out of range: give a number from %d, which stands still, to %d", ppm, MinPPM, MaxPPM)
	}
	return nil
}

// String is "drift the clock of r0 by +10000 ppm for 1m0s".
func (c ClockDrift) String() string {
	return fmt.Sprintf("drift the clock of %s by %+d ppm %s", c.Clock, c.PPM, length(c.For))
}
