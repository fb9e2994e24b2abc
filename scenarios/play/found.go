package play

import (
	"cmp"
	"slices"
)

// Found is a violation that was found, with the minimal run that shows it.
type Found struct {
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Seed is the seed of the run.
	Seed uint64 `json:"seed"`
	// Drawn is how many faults the schedule had in which the violation was found.
	Drawn int `json:"faults_drawn"`
	// Faults is how many faults are left in the minimal one.
	Faults int `json:"faults"`
	// Violations are what the lock did although it must not. There are none
	// where the lock is only nondeterministic.
	Violations []Violation `json:"violations" jsonschema:"nullable"`
	// Shape is the same for violations that count as one.
	Shape string `json:"shape"`
	// Same counts the replays that were equal to the first, which is one of them.
	Same int `json:"same"`
	// Again counts the replays that broke the promise in the same way.
	Again int `json:"again"`
	// Replays is how often the schedule was run as it was found.
	Replays int `json:"replays" jsonschema:"minimum=1"`
	// Divergence is the first difference between replays that were not equal. It
	// is absent where all were.
	Divergence string `json:"divergence,omitempty"`
	// Run is the minimal run as it is stored.
	Run *RunFile `json:"run"`
	// Reasons are sentences that say what was violated, the decisive ones first.
	Reasons []string `json:"reasons" jsonschema:"nullable"`
	// Story is the minimal run, told line by line.
	Story []string `json:"story" jsonschema:"nullable,minLength=0"`

	// Outcome is the minimal run. It is not there in what was read as JSON.
	Outcome *Outcome `json:"-"`
}

// Replays is how often a drawn run is made, the first time among them.
const Replays = 10

// enough is how often a run must have broken the promise to be made smaller. What
// fails less often might fail by chance while it is tried with less.
const enough = 9

// Examine makes a drawn run that has broken the promise of its lock again, ten
// times in all, and then as small as it gets. A run that does not break the
// promise now is examined all the same: Again says how often it did.
//
// Errors are those of [Run].
func Examine(l Lock, sc *Scenario, seed uint64) (*Found, error) {
	o, broken, err := l.Try(sc, seed)
	if err != nil {
		return nil, err
	}
	return ExamineRun(l, sc, o, broken)
}

// ExamineRun is [Examine] for a run that has just been made, and for
// what [Lock.Try] said of it.
func ExamineRun(l Lock, sc *Scenario, o *Outcome, broken []Violation) (*Found, error) {
	f := &Found{Lock: l.Name, Seed: o.Seed, Drawn: len(sc.Faults), Violations: broken}
	if err := f.repeat(l, sc, o); err != nil {
		return nil, err
	}
	if f.Again >= enough {
		struck := fired(sc, o)
		small := Minimize(struck, FailsLike(l, struck, f.Violations, f.Seed))
		if ok, err := f.settle(l, small); ok || err != nil {
			return f, err
		}
	}
	_, err := f.settle(l, sc)
	return f, err
}

// repeat makes a run again, to see whether it replays.
func (f *Found) repeat(l Lock, sc *Scenario, first *Outcome) error {
	f.Same, f.Replays = 1, Replays
	if len(f.Violations) > 0 {
		f.Again = 1
	}
	for range Replays - 1 {
		o, broken, err := l.Try(sc, f.Seed)
		if err != nil {
			return err
		}
		f.compare(first, o)
		if len(broken) > 0 && len(f.Violations) == 0 {
			f.Violations = broken
		}
		if alike(broken, f.Violations) {
			f.Again++
		}
	}
	return nil
}

// compare counts a run that is equal to the first.
func (f *Found) compare(first, o *Outcome) {
	if differs := Differ(first, o); differs == nil {
		f.Same++
	} else if f.Divergence == "" {
		f.Divergence = differs.Where()
	}
}

// Doubt counts one more run, which differed from the first in this way; an empty
// text says that it did not, and counts nothing.
func (f *Found) Doubt(difference string) {
	if difference != "" {
		f.Replays++
		f.Divergence = cmp.Or(f.Divergence, difference)
	}
}

// alike reports whether a run has broken the promise as another did: the first
// violation counts, since others may follow from it.
func alike(broken, like []Violation) bool {
	for _, v := range broken {
		if len(like) > 0 && v == like[0] {
			return true
		}
	}
	return false
}

// fired is the scenario without the faults that never struck.
func fired(sc *Scenario, o *Outcome) *Scenario {
	out := *sc
	out.Faults = nil
	for i, f := range sc.Faults {
		if o.Modes[0].FaultsFired[i] {
			out.Faults = append(out.Faults, f)
		}
	}
	return &out
}

// FailsLike is what [Minimize] asks about a scenario that was drawn for a lock
// and made it do what it must not: whether, with the same seed, the lock still
// does the first of that, and every fault strikes.
//
// A lock that is made once and for all keeps its ways whatever a scenario says,
// so a scenario that says something else of it than sc would mislead.
func FailsLike(l Lock, sc *Scenario, broken []Violation, seed uint64) func(*Scenario) bool {
	return func(smaller *Scenario) bool {
		if !l.FollowsSpec && smaller.Lock != sc.Lock {
			return false
		}
		o, still, err := l.Try(smaller, seed)
		return err == nil && len(broken) > 0 && slices.Contains(still, broken[0]) && len(o.NeverFired()) == 0
	}
}
