package faults

import (
	"fmt"
	"time"
)

// ClockFreeze makes the clocks of a machine stand still, while the machine goes
// on working. It is the worst of the drifts.
type ClockFreeze struct {
	// Clock is whose clocks stand still: "c0", "r0", or a replica such as "r0a".
	Clock string
	// For is how long, in virtual time. 0 means until the world is healed at the
	// end of the workload. The clocks stay behind by that much.
	For time.Duration
}

// Kind is "clock_freeze".
func (ClockFreeze) Kind() string { return "clock_freeze" }

// Apply asks a ClockDrifter for a drift of MinPPM.
func (c ClockFreeze) Apply(world any) error {
	w, err := able[ClockDrifter](c, world)
	if err != nil {
		return err
	}
	return done(c, w.DriftClock(c.Clock, MinPPM, c.For))
}

// Validate returns a *FieldError when no clock is named or the time is negative.
func (c ClockFreeze) Validate() error {
	return first(
		named("clock", c.Clock, "whose clock stands still", "c0"),
		orToTheEnd("for", c.For, "the standstill"),
	)
}

// String is "freeze the clock of c0 for 15s".
func (c ClockFreeze) String() string {
	return fmt.Sprintf("freeze the clock of %s %s", c.Clock, length(c.For))
}
