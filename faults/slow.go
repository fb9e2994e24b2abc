package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"
)

// Slow makes the timers of a process late: a processor that is starved, a
// scheduler with too much to do. What the process does once it runs is as quick
// as ever. A watchdog that renews late loses its lock this way (F37).
type Slow struct {
	// Process is whose timers are late: "c0".
	Process string
	// By is how much later each timer fires. It must be positive.
	By time.Duration
	// For is how long this lasts, in virtual time. 0 means until the world is
	// healed at the end of the workload.
	For time.Duration
}

// Slower is a world whose processes can have late timers.
type Slower interface {
	// Slow makes every timer of the process that comes due from now on fire later
	// by so much, until d is over, or until the world is healed if d is 0. It
	// does not wait for that. It returns an error when there is no such process.
	Slow(process string, by, d time.Duration) error
}

// Kind is "slow".
func (Slow) Kind() string { return "slow" }

func (s *Slow) form() Form {
	return Form{
		Text:  "the timers of a process fire late",
		Class: promise.Slow,
		Fields: []Field{
			{"process", Name{To: &s.Process, Role: Clients}, "whose timers are late"},
			{"by", Offset{To: &s.By, Each: true, Such: 2 * time.Second}, "how much later each timer fires"},
			lasts(&s.For),
		},
	}
}

// Apply asks a Slower for it.
func (s Slow) Apply(world any) error {
	return ask(s, world, func(w Slower) error { return w.Slow(s.Process, s.By, s.For) })
}

// String is "slow the timers of c0 by 2s for 1m0s".
func (s Slow) String() string {
	return fmt.Sprintf("slow the timers of %s by %v %s", s.Process, s.By, length(s.For))
}
