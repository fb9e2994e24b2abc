package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"
)

// Suspend stops the machine of a process for a while, and its monotonic clock with it: a
// laptop that sleeps, a virtual machine that is suspended, or migrated by copying its
// memory. In a [Pause] the process finds by its clock that time has passed. After this it
// does not: CLOCK_MONOTONIC of Linux, by which Go measures, does not count the time of a
// suspension (golang/go issue 24595). The wall clock is right again afterwards.
type Suspend struct {
	// Process is whose machine stops: "c0".
	Process string
	// For is how long it stops, in virtual time. It must be positive.
	For time.Duration
}

// Suspender is a world whose machines can be suspended.
type Suspender interface {
	// Suspend stops the machine of the process now and wakes it after d: its monotonic
	// clock is behind by d from then on. It does not wait for the end. It returns an error
	// when there is no such process.
	Suspend(process string, d time.Duration) error
}

// Kind is "suspend".
func (Suspend) Kind() string { return "suspend" }

func (s *Suspend) form() Form {
	return Form{
		Text:  "the machine of a process sleeps, and its monotonic clock does not count that time",
		Class: promise.ClockRate,
		Fields: []Field{
			{"process", Name{To: &s.Process, Role: Clients}, "whose machine sleeps"},
			{"for", Length{To: &s.For, Ends: true}, "how long it sleeps"},
		},
	}
}

// Apply asks a Suspender for it.
func (s Suspend) Apply(world any) error {
	return ask(s, world, func(w Suspender) error { return w.Suspend(s.Process, s.For) })
}

// String is "suspend the machine of c0 for 15s".
func (s Suspend) String() string {
	return fmt.Sprintf("suspend the machine of %s for %v", s.Process, s.For)
}
