package search

import (
	"cmp"
	"slices"

	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/shrink"
)

// Found is a violation that exploration has found, made as small as it gets.
type Found struct {
	// Lock is the lock's name, Seed the seed of the run.
	Lock string `json:"lock"`
	Seed uint64 `json:"seed"`
	// Drawn is how many faults the schedule had when it was drawn, Faults how
	// many are left.
	Drawn  int `json:"faults_drawn"`
	Faults int `json:"faults"`
	// Violations are what the lock did although it must not. There are none
	// where the lock is only nondeterministic.
	Violations []play.Violation `json:"violations"`
	// Shape is the same for violations that count as one.
	Shape string `json:"shape"`
	// Same of Replays runs of the drawn schedule, the first among them, were
	// equal to the first, and Again of them broke the promise in the same way.
	Same    int `json:"same"`
	Again   int `json:"again"`
	Replays int `json:"replays"`
	// Divergence is the first difference of those that were not equal.
	Divergence string `json:"divergence,omitempty"`
	// Run is the minimal run as it is stored; [play.RunFile.Replay] makes it again.
	Run *play.RunFile `json:"run"`
	// Reasons say what was violated, Story tells the run in which it was.
	Reasons []string `json:"reasons"`
	Story   []string `json:"story"`

	// Outcome is the minimal run. It is not there in what was read as JSON.
	Outcome *play.Outcome `json:"-"`
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
// Errors are those of [play.Run].
func Examine(l play.Lock, sc *file.Scenario, seed uint64) (*Found, error) {
	o, broken, err := l.Try(sc, seed)
	if err != nil {
		return nil, err
	}
	return ExamineRun(l, sc, o, broken)
}

// ExamineRun is [Examine] for a run that has just been made, and for
// what [play.Lock.Try] said of it.
func ExamineRun(l play.Lock, sc *file.Scenario, o *play.Outcome, broken []play.Violation) (*Found, error) {
	f := &Found{Lock: l.Name, Seed: o.Seed, Drawn: len(sc.Faults), Violations: broken}
	if err := f.repeat(l, sc, o); err != nil {
		return nil, err
	}
	if f.Again >= enough {
		struck := fired(sc, o)
		small := shrink.Minimize(struck, FailsLike(l, struck, f.Violations, f.Seed))
		if ok, err := f.settle(l, small); ok || err != nil {
			return f, err
		}
	}
	_, err := f.settle(l, sc)
	return f, err
}

// repeat makes a run again, to see whether it replays.
func (f *Found) repeat(l play.Lock, sc *file.Scenario, first *play.Outcome) error {
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
func (f *Found) compare(first, o *play.Outcome) {
	if differs := play.Differ(first, o); differs == nil {
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
func alike(broken, like []play.Violation) bool {
	for _, v := range broken {
		if len(like) > 0 && v == like[0] {
			return true
		}
	}
	return false
}

// fired is the scenario without the faults that never struck.
func fired(sc *file.Scenario, o *play.Outcome) *file.Scenario {
	out := *sc
	out.Faults = nil
	for i, f := range sc.Faults {
		if o.Modes[0].FaultsFired[i] {
			out.Faults = append(out.Faults, f)
		}
	}
	return &out
}

// FailsLike is what [shrink.Minimize] asks about a scenario that was drawn for a lock
// and made it do what it must not: whether, with the same seed, the lock still
// does the first of that, and every fault strikes.
//
// A lock that is made once and for all keeps its ways whatever a scenario says,
// so a scenario that says something else of it than sc would mislead.
func FailsLike(l play.Lock, sc *file.Scenario, broken []play.Violation, seed uint64) func(*file.Scenario) bool {
	return func(smaller *file.Scenario) bool {
		if !l.FollowsSpec && smaller.Lock != sc.Lock {
			return false
		}
		o, still, err := l.Try(smaller, seed)
		return err == nil && len(broken) > 0 && slices.Contains(still, broken[0]) && len(o.NeverFired()) == 0
	}
}
