package faults

import (
	"fmt"
	"time"
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

// Apply asks a ClockJumper for the jump.
func (c ClockJump) Apply(world any) error {
	w, err := able[ClockJumper](c, world)
	if err != nil {
		return err
	}
	return done(c, w.JumpClock(c.Clock, c.By))
}

// Validate returns a *FieldError when no clock is named or the jump leads
// nowhere.
func (c ClockJump) Validate() error {
	if c.By == 0 {
		return first(c.validateClock(), wrong("by", "a jump by 0s is none: give a time such as 5s or -5s"))
	}
	return c.validateClock()
}

func (c ClockJump) validateClock() error { return named("clock", c.Clock, "whose clock jumps", "c0") }

// String is "set the clock of r0 forward by 5s".
func (c ClockJump) String() string {
	if c.By < 0 {
		return fmt.Sprintf("set the clock of %s back by %v", c.Clock, -c.By)
	}
	return fmt.Sprintf("set the clock of %s forward by %v", c.Clock, c.By)
}
