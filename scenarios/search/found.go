package search

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/play"
	"locksim/scenarios/shrink"
	"locksim/scenarios/subject"
)

// Found is a failure with the run in which it was found, which makes it possible to examine it. [NewFound] makes it
// from a trial.
type Found struct {
	failure.Failure
	trial *Trial         // in which it was found
	death *outcome.Death // how the program ends in the run; nil if it does not
}

// NewFound makes a failure of a trial with a violation, or with only a difference
// between two runs.
func NewFound(t *Trial) Found {
	f := Found{Failure: failure.Failure{Lock: t.lock.Name, Seed: t.Seed, Placed: t.Placed, Violations: t.Violations,
		Runs: 1, FirstSeed: t.Seed,
		Drawn: len(t.Scenario.Faults), Faults: len(t.Scenario.Faults), Outcome: t.Outcome}, trial: t}
	f.Shape = f.RoughShape()
	if t.Placed != nil { // each fault was placed on purpose, also the second of a kind
		f.Shape = failure.Shape(t.Scenario, t.Violations)
	}
	return f
}

// Case is the case in which it was found.
func (f *Found) Case() Case { return f.trial.Case }

// Value is the failure as it is passed to another process: without its run.
func (f *Found) Value() failure.Failure {
	v := f.Failure
	v.Outcome = nil
	return v
}

// Budget reports whether there is time for so many more runs. Nil is time without a limit.
type Budget func(runs int) bool

func (b Budget) has(runs int) bool { return b == nil || b(runs) }

// spare is for how many runs there must be time, beside the one that is asked for: those with which an examination
// ends, of two modes, and something for the reports.
const spare = 4

// Examine repeats the run, to ten runs in all, then makes it minimal, and writes
// its story. A run that does not break the promise every time is examined too:
// Again says how often it did. What there is no time for is left out: LeftOut says so.
//
// Errors are those of [play.Run].
func (f *Found) Examine(within Budget) error {
	if err := f.repeat(within); err != nil {
		return err
	}
	t := f.trial
	if f.Again >= min(failure.Enough, f.Replays) {
		fails, cut := FailsLike(t.lock, t.Scenario, f.Violations, t.Played()), false
		small := shrink.Minimize(struck(t.Outcome), func(sc *file.Scenario) bool {
			cut = cut || !within.has(1+spare)
			return !cut && fails(sc)
		})
		if cut {
			f.LeftOut = append(f.LeftOut, "smaller schedules")
		}
		if within.has(spare) {
			if ok, err := f.adopt(small); ok || err != nil {
				return err
			}
		}
	}
	if within.has(spare) {
		if ok, err := f.adopt(t.Scenario); err != nil || ok {
			return err
		}
	} else {
		f.LeftOut = append(f.LeftOut, "a play of it as it is stored")
	}
	f.Violations = t.Violations // no repetition breaks the promise: the run in which it was found is kept
	for i := range t.Outcome.Modes {
		if err := t.Outcome.Modes[i].Complete(); err != nil {
			return err
		}
	}
	f.keep(t.Outcome, len(t.Scenario.Faults))
	return nil
}

// repeat plays the run again, to ten runs in all, and counts how often it is the same.
func (f *Found) repeat(within Budget) error {
	t := f.trial
	f.Same, f.Again, f.Replays = 1, min(len(f.Violations), 1), 1
	for f.Replays < failure.Replays {
		if !within.has(1 + spare) {
			f.LeftOut = append(f.LeftOut, prose.Count(failure.Replays-f.Replays, "repetition"))
			break
		}
		f.Replays++
		again := t.repeat()
		if why := NoVerdict(again.Err); why != "" { // it differs
			f.Divergence = cmp.Or(f.Divergence, "a run had no verdict: "+why)
			continue
		}
		if again.Err != nil {
			return again.Err
		}
		f.compare(again)
		if len(f.Violations) == 0 {
			f.Violations = again.Violations
		}
		if alike(again.Violations, f.Violations) {
			f.Again++
		}
	}
	if t.Difference != nil { // from a repetition that was made before
		f.Replays++
		f.Divergence = cmp.Or(f.Divergence, t.Difference.Where())
	}
	return nil
}

// compare counts a repetition that is equal to the first run.
func (f *Found) compare(again *Trial) {
	if again.Difference == nil {
		f.Same++
		return
	}
	f.Divergence = cmp.Or(f.Divergence, again.Difference.Where())
}

// alike reports whether a run has broken the promise as another did: the first
// violation is compared, since others may follow from it.
func alike(broken, like []outcome.Violation) bool {
	return len(like) > 0 && slices.Contains(broken, like[0])
}

// struck is the scenario of a run without the faults that never struck.
func struck(o *outcome.Outcome) *file.Scenario {
	out := *o.Scenario
	out.Faults = nil
	for i, f := range o.Scenario.Faults {
		if o.Modes[0].FaultsFired[i] {
			out.Faults = append(out.Faults, f)
		}
	}
	return &out
}

// FailsLike is the function for [shrink.Minimize] about a scenario that was drawn
// for a lock and broke its promise: it reports whether, with the same seed, the
// lock still breaks it in the first of these ways, and every fault strikes.
//
// If the lock does not follow the lock part of a scenario, a scenario with another
// lock part than sc's would mislead, and does not count.
func FailsLike(l subject.Lock, sc *file.Scenario, broken []outcome.Violation, seed uint64) func(*file.Scenario) bool {
	return func(smaller *file.Scenario) bool {
		if misleads(l, sc, smaller) {
			return false
		}
		o, still, err := play.Try(l, smaller, seed)
		return err == nil && alike(still, broken) && len(o.NeverFired()) == 0
	}
}

// misleads reports whether a scenario has another lock part than the one that was drawn, and the lock does not follow
// it.
func misleads(l subject.Lock, drawn, smaller *file.Scenario) bool {
	return !l.FollowsSpec && !reflect.DeepEqual(smaller.Lock, drawn.Lock)
}

// adopt plays a scenario and sets the result of the failure from the run. It plays
// the text of the scenario, as a replay does, without a fence and in the mode in
// which the lock is judged. A lock that is not deterministic may need several runs
// until one of them breaks the promise; ok is false if none does.
func (f *Found) adopt(sc *file.Scenario) (ok bool, err error) {
	l := f.trial.lock
	source, err := file.Format(sc)
	if err != nil {
		return false, err
	}
	read, err := file.Parse(sc.Name+".yaml", source, subject.ServerNames(l)...)
	if err != nil {
		return false, fmt.Errorf("scenario %s, as it is stored: %w", sc.Name, err)
	}
	for range failure.Replays {
		o, err := play.Run(read, l, play.RunOptions{Seed: f.trial.Played(), Modes: f.modes(), Death: f.death})
		if err != nil {
			return false, err
		}
		judged := *o
		judged.Modes = o.Modes[len(o.Modes)-1:]
		broken := outcome.Violations(&judged, l.JudgedBy())
		if f.death != nil { // of the rest nothing is known, since the run has not ended
			broken = slices.DeleteFunc(broken, func(v outcome.Violation) bool { return v.Label != checker.Panicked })
		}
		if ok = len(f.Violations) == 0 || alike(broken, f.Violations); ok {
			f.Violations = broken
		}
		f.keep(o, len(read.Faults))
		if ok {
			break
		}
	}
	return ok, nil
}

// keep sets the result of the failure from a run, whose last mode is judged.
func (f *Found) keep(o *outcome.Outcome, faults int) {
	judged := o.Modes[len(o.Modes)-1]
	f.Outcome, f.Run, f.Faults = o, outcome.NewRunFile(o), faults
	f.Run.Violations = f.Violations
	clear(f.Run.Timing.WallSeconds) // all else is the same on every machine
	f.Shape = failure.Shape(o.Scenario, f.Violations)
	f.Answers = outcome.Answers(o)
	f.Story, f.Reasons = failure.ShortStory(judged.Story), nil
	for _, r := range judged.Verdict.Reasons {
		f.Reasons = append(f.Reasons, r.Text)
	}
}

// modes are the fencing modes in which the minimal scenario is played. A run in which the program ends is one of them
// alone.
func (f *Found) modes() []fence.Mode {
	mode := f.trial.lock.JudgedMode()
	if mode == fence.None || f.death != nil {
		return []fence.Mode{mode}
	}
	return []fence.Mode{fence.None, mode}
}

// Fails plays a case in which the lock has failed before. The result is the failure
// without minimizing, or nil if the lock passes. A lock that is not deterministic
// may pass by chance: the lock passes when two runs in a row pass and are equal, or
// when it has passed as often as a failure is replayed. Errors are those of
// [play.Run].
func Fails(l subject.Lock, c Case) (*failure.Failure, error) {
	t := Play(l, c)
	for n := 1; ; n++ {
		switch {
		case t.Err != nil:
			return nil, t.Err
		case len(t.Violations) > 0:
			f := NewFound(t)
			_, err := f.adopt(c.Scenario)
			return &f.Failure, err
		case n > 1 && t.Difference == nil, n == failure.Replays:
			return nil, nil
		}
		t = t.repeat()
	}
}
