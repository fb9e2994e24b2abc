package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"
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

func (c *ClockFreeze) form() Form {
	return Form{
		Text:   "a clock stands still",
		Class:  promise.ClockRate,
		Fields: []Field{{"clock", Name{To: &c.Clock, Role: Clients | Servers}, "whose clock stands still"}, lasts(&c.For)},
	}
}

// Apply asks a ClockDrifter for a drift of MinPPM.
func (c ClockFreeze) Apply(world any) error {
	return ask(c, world, func(w ClockDrifter) error { return w.DriftClock(c.Clock, MinPPM, c.For) })
}

// String is "freeze the clock of c0 for 15s".
func (c ClockFreeze) String() string {
	return fmt.Sprintf("freeze the clock of %s %s", c.Clock, length(c.For))
}
