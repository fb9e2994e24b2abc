package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"
)

// ClockJump sets the wall clock of a machine: a step of NTP, a leap second, an
// administrator. On a client only code that reads the wall clock notices (F21,
// F22). A Redis node expires its keys by its wall clock, so a jump forward ends
// leases early and a jump backward prolongs them (F18, F19).
type ClockJump struct {
	// Clock is whose clock jumps: "c0", "r0", or a replica such as "r0a".
	Clock string
	// By is how far, forward if it is positive. It must not be 0.
	By time.Duration
}

// ClockJumper is a world whose clocks can be set.
type ClockJumper interface {
	// JumpClock moves the wall clock of that name now, backward if d is
	// negative. Monotonic time is not touched. It returns an error when there is
	// no such clock.
	JumpClock(name string, d time.Duration) error
}

// Kind is "clock_jump".
func (ClockJump) Kind() string { return "clock_jump" }

func (c *ClockJump) form() Form {
	return Form{
		Text:  "a wall clock is set forward or back",
		Class: clientOrNode(c.Clock, promise.WallClock, promise.NodeClock),
		Fields: []Field{
			{"clock", Name{To: &c.Clock, Role: Clients | Servers}, "whose clock jumps"},
			{"by", Offset{To: &c.By, EitherWay: true, Such: 5 * time.Second}, "how far, forward if it is positive"},
		},
	}
}

// Apply asks a ClockJumper for the jump.
func (c ClockJump) Apply(world any) error {
	return ask(c, world, func(w ClockJumper) error { return w.JumpClock(c.Clock, c.By) })
}

// String is "set the clock of r0 forward by 5s".
func (c ClockJump) String() string {
	if c.By < 0 {
		return fmt.Sprintf("set the clock of %s back by %v", c.Clock, -c.By)
	}
	return fmt.Sprintf("set the clock of %s forward by %v", c.Clock, c.By)
}
