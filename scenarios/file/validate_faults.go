package file

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/faults"
)

func (s checked) validateFaults() error {
	if len(s.Faults) > MaxFaults {
		return wrong("faults", "there are %d: a scenario has at most %d", len(s.Faults), MaxFaults)
	}
	for i, f := range s.Faults {
		err := first(s.validateNames(f), f.Validate(), s.validateLinks(f.Action), s.validateMoment(f), validateLengths(f.Action))
		if field, ok := errors.AsType[*faults.FieldError](err); ok {
			return &faults.FieldError{Field: fmt.Sprintf("faults[%d].%s", i, field.Field), Problem: field.Problem}
		}
	}
	return nil
}

// validateMoment checks that the trigger can come about.
func (s checked) validateMoment(f faults.Fault) error {
	if f.When == nil {
		return lasts("at", f.At, 0)
	}
	if err := lasts("after", f.After, 0); err != nil {
		return err
	}
	often, word := 1, "once"
	if s.Workload.Kind == WorkloadTransfer && slices.Contains([]string{faults.EventRead, faults.EventWrite, faults.EventWritten}, f.When.Name) {
		often, word = 2, "twice"
	}
	lives := 1 + s.restarts(f.When.Client)
	if slices.Contains(faults.Events(), f.When.Name) && f.When.Nth > often*lives*s.Workload.Rounds {
		return wrong("when.nth", "%d is too many: %s passes %s %s a round, and workload.rounds is %d; lower nth or raise the rounds",
			f.When.Nth, f.When.Client, f.When.Name, word, s.Workload.Rounds)
	}
	return nil
}

// restarts is how often a client begins its rounds anew, at most.
func (s checked) restarts(client string) int {
	count := 0
	for _, f := range s.Faults {
		if f.Action == (faults.Restart{Process: client}) {
			count++
		}
	}
	return count
}

// validateLengths checks every length of time of an action.
func validateLengths(action faults.Action) error {
	for _, l := range lengths(action) {
		if err := lasts(action.Kind()+"."+l.field, max(l.d, -l.d), 0); err != nil {
			return err
		}
	}
	return nil
}

// timeField is a field with a length of time.
type timeField struct {
	field string
	d     time.Duration
}

// lengths are the lengths of time of an action.
func lengths(action faults.Action) []timeField {
	switch a := action.(type) {
	case faults.Pause:
		return []timeField{{"for", a.For}}
	case faults.Slow:
		return []timeField{{"by", a.By}, {"for", a.For}}
	case faults.ExhaustPool:
		return []timeField{{"for", a.For}}
	case faults.ClockJump:
		return []timeField{{"by", a.By}}
	case faults.ClockDrift:
		return []timeField{{"for", a.For}}
	case faults.ClockFreeze:
		return []timeField{{"for", a.For}}
	case faults.Refuse:
		return []timeField{{"for", a.For}}
	case faults.Stall:
		return []timeField{{"for", a.For}}
	case faults.ReadOnly:
		return []timeField{{"for", a.For}}
	}
	return lengthsOfLinks(action)
}

func lengthsOfLinks(action faults.Action) []timeField {
	switch a := action.(type) {
	case faults.Latency:
		return []timeField{{"add", a.Add}, {"jitter", a.Jitter}, {"for", a.For}}
	case faults.Bandwidth:
		return []timeField{{"for", a.For}}
	case faults.Slice:
		return []timeField{{"delay", a.Delay}, {"for", a.For}}
	case faults.SlowClose:
		return []timeField{{"delay", a.Delay}, {"for", a.For}}
	case faults.DelayMessage:
		return []timeField{{"by", a.By}}
	case faults.Partition:
		return []timeField{{"for", a.For}}
	}
	return nil
}
