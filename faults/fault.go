// Package faults says what can go wrong in a run, as data.
//
// A [Fault] is an [Action] (a pause, a crash, a partition: [Kinds] lists them
// all) together with its trigger: an instant of virtual time, or an [Event] that
// a client passes, and perhaps some time after it. A list of faults is a
// schedule. Schedules are plain values: they can be compared, printed, shrunk and
// stored. What a kind of action is, and what its fields hold, is declared once, as
// a [Form].
//
// A fault does not know the world that it strikes. Each action needs one small
// ability, such as [Pauser] or [Cutter], and asks the world for it when it is
// applied. The simulated world and a live one (real servers, SIGSTOP, a real
// Toxiproxy) offer the same abilities, so one schedule serves both.
//
// Network faults that touch bytes are toxics in the sense of Toxiproxy, on each
// link of a [Wire]: its own, or [Hold], [Drop], [Jitter], [Resend], [Delay] and [Lose],
// which a Toxiproxy over TCP runs as well.
//
// Processes have short names everywhere: clients are c0, c1, …, Redis nodes
// r0, r1, …, replicas of r0 are r0a, r0b, …, and the protected store is s0.
package faults

import (
	"errors"
	"fmt"
	"time"
)

// Fault is one thing that goes wrong, and when. It is a value: applying it
// changes the world, never the fault.
type Fault struct {
	// When is the event that sets the fault off. Nil means that At counts.
	When *Event
	// At is the virtual time since the start of the run at which the fault
	// strikes. It must be 0 when When is set.
	At time.Duration
	// After is how long after its event the fault strikes, in virtual time. It
	// must be 0 when When is nil.
	After time.Duration
	// Every is the time from one strike to the next, in virtual time; 0 means that the fault strikes once. What lasts
	// longer than that is there several times at once.
	Every time.Duration
	// Times is how often it strikes in all, 1 to MaxTimes, where Every is set. 0 means until every client has ended its
	// workload.
	Times int
	// Probability is how likely each strike is, in percent, 1 to 99, drawn by the seed. 0 means that it is certain.
	Probability int
	// Action is what happens then.
	Action Action
	// Pos is where the fault stands in its file. Zero when it was built in Go.
	Pos Pos
}

// Action is what a fault does to the world.
type Action interface {
	// Kind is the action's name in a scenario file, such as "pause".
	Kind() string
	// Apply does it to the world, by the ability that the action needs. The
	// error wraps ErrUnable when the world lacks that ability. The action must
	// be valid. Apply is called from wherever the world allows its ability to
	// be used.
	Apply(world any) error
}

// ErrNoAbility is in the error of a world in which a fault strikes a server that cannot be struck so, such as the
// eviction of the keys of a server without keys.
var ErrNoAbility = errors.New("a server of this kind has no such ability")

// ErrUnable is returned when a fault is applied to a world that lacks the
// ability it needs: a pause in a world without Pause, for instance.
var ErrUnable = errors.New("the world is unable to do this")

// ErrRuns is in the error of a restart of a process that has not crashed.
var ErrRuns = errors.New("has not crashed")

// FieldError says which field of a fault or action makes no sense, and why. It
// is returned when Validate finds such a field.
type FieldError struct {
	// Field is the field's path in a scenario file, such as "pause.for" or
	// "between[1]".
	Field string
	// Problem is what is wrong with it and what to do about it.
	Problem string
}

// Error is the field and the problem.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// Validate returns a *FieldError for the first field that makes no sense, or
// nil. Fields of the trigger are named "at", "after", "every" or "when.nth", fields of the
// action are preceded by its kind: "pause.for".
func (f Fault) Validate() error {
	if f.When != nil && f.At != 0 {
		return wrong("at", "a fault has one trigger, and this one has an event as well: leave out at or when")
	}
	if f.At < 0 {
		return wrong("at", "%v is before the start of the run: give a time from 0s up", f.At)
	}
	if f.When != nil {
		if err := f.When.Validate(); err != nil {
			return within("when", err)
		}
	}
	if err := f.validateAfter(); err != nil {
		return err
	}
	if err := f.validateRepeats(); err != nil {
		return err
	}
	if f.Action == nil {
		return wrong("action", "the fault does nothing: give it an action, such as a pause")
	}
	return within(f.Action.Kind(), Validate(f.Action))
}

func (f Fault) validateAfter() error {
	if f.When == nil && f.After != 0 {
		return wrong("after", "there is no event that it could be after: add when, or put the time into at")
	}
	if f.After < 0 {
		return wrong("after", "%v is before the event: give a time from 0s up", f.After)
	}
	return nil
}

// String is the fault as a phrase: "pause c0 for 15s, when c0 passes read",
// "crash r0 (power), 1s after c0 passes read", "stall r0 for 1s, at 3s, and every 15s after that".
func (f Fault) String() string {
	switch {
	case f.When == nil:
		return fmt.Sprintf("%v, at %v%s", f.Action, f.At, f.repeats())
	case f.After > 0:
		return fmt.Sprintf("%v, %v after %s%s", f.Action, f.After, f.When.passing(), f.repeats())
	}
	return fmt.Sprintf("%v, %v%s", f.Action, f.When, f.repeats())
}

func wrong(field, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// within puts the name of the enclosing part before the field of a FieldError.
func within(part string, err error) error {
	field, ok := errors.AsType[*FieldError](err)
	if !ok {
		return err
	}
	return &FieldError{Field: part + "." + field.Field, Problem: field.Problem}
}

// ask has an action done by the ability of the world that it needs.
func ask[Ability any](a Action, world any, do func(world Ability) error) error {
	ability, ok := abilityOf[Ability](world)
	if !ok {
		return fmt.Errorf("%v: %w: a %T cannot %s", a, ErrUnable, world, a.Kind())
	}
	if err := do(ability); err != nil {
		return fmt.Errorf("%v: %w", a, err)
	}
	return nil
}
