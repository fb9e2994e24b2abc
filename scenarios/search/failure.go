package search

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/shrink"
)

// Failure is a run in which a lock broke its promise, with the number of runs that
// count as the same failure. [NewFailure] makes it from a trial; [Failure.Examine]
// makes its scenario minimal and writes the story. Before that, Run is nil, and so
// is everything after it.
type Failure struct {
	// Lock is the lock's name.
	Lock string `json:"lock"`
	// Seed is the seed of the run.
	Seed uint64 `json:"seed"`
	// Placed is the fault that a sweep had placed in the scenario.
	Placed *Placed `json:"placed,omitempty"`
	// Violations are the ways in which the lock broke its promise. There are none
	// if the lock is only nondeterministic.
	Violations []outcome.Violation `json:"violations" jsonschema:"nullable"`
	// Shape is what failures that count as one have in common, by [Shape]. Before a
	// drawn scenario is examined and minimal, it is only the labels and the kinds
	// of the faults that struck.
	Shape string `json:"shape"`
	// Runs counts the runs that count as this failure, this one among them.
	Runs int `json:"runs" jsonschema:"minimum=1"`
	// FirstSeed is the lowest seed of these runs.
	FirstSeed uint64 `json:"first_seed"`
	// Drawn counts the faults of the original scenario.
	Drawn int `json:"faults_drawn"`
	// Faults counts the faults of the minimal scenario.
	Faults int `json:"faults"`
	// Same counts the replays that were equal to the first run, the first among them.
	Same int `json:"same,omitempty" jsonschema:"minimum=1"`
	// Again counts the replays that broke the promise in the same way.
	Again int `json:"again,omitempty"`
	// Replays counts the runs of the original scenario, the first among them.
	Replays int `json:"replays,omitempty" jsonschema:"minimum=1"`
	// Divergence is the first difference of a replay that was not equal.
	Divergence string `json:"divergence,omitempty"`
	// Run is the minimal run as it is stored, without its wall times;
	// [outcome.RunFile.Replay] makes it again.
	Run *outcome.RunFile `json:"run,omitempty"`
	// Reasons say what was violated.
	Reasons []string `json:"reasons,omitempty"`
	// Story is the run in which it was found, in words. Of a long one, the steps
	// that lead to the decisive step remain.
	Story []Step `json:"story,omitempty"`

	// Outcome is the run: the minimal one, once the failure is examined. It is nil
	// in a [Failure.Value].
	Outcome *outcome.Outcome `json:"-"`

	trial *Trial         // in which it was found; nil in a Value
	death *outcome.Death // how the program ends in the run; nil if it does not
}

// NewFailure makes a failure of a trial with a violation, or with only a difference
// between two runs.
func NewFailure(t *Trial) Failure {
	f := Failure{Lock: t.lock.Name, Seed: t.Seed, Placed: t.Placed, Violations: t.Violations, Runs: 1, FirstSeed: t.Seed,
		Drawn: len(t.Scenario.Faults), Faults: len(t.Scenario.Faults), Outcome: t.Outcome, trial: t}
	f.Shape = cmp.Or(prose.Commas(f.labels()), "no violation") + ": " + cmp.Or(prose.Commas(f.kinds()), "no faults")
	if t.Placed != nil { // each fault was placed on purpose, also the second of a kind
		f.Shape = Shape(t.Scenario, t.Violations)
	}
	return f
}

// Case is the case in which it was found. It panics for the [Failure.Value] of
// another failure.
func (f *Failure) Case() Case { return f.trial.Case }

// Value is the failure as it is passed to another process: without its run.
func (f Failure) Value() Failure {
	f.Outcome, f.trial = nil, nil
	return f
}

// labels are the labels of the violations.
func (f *Failure) labels() []checker.Label {
	var out []checker.Label
	for _, v := range f.Violations {
		out = append(out, v.Label)
	}
	return out
}

// kinds are the kinds of the faults that struck, sorted, each once.
func (f *Failure) kinds() []string {
	var kinds []string
	for i, fault := range f.Outcome.Scenario.Faults {
		if f.Outcome.Modes[0].FaultsFired[i] {
			kinds = append(kinds, fault.Action.Kind())
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Replays is the number of runs of a failing case, the first among them.
const Replays = 10

// enough is how often a run must break the promise to be made minimal. A run that
// fails less often might fail or pass by chance while smaller scenarios are tried.
const enough = 9

// Examine repeats the run, to ten runs in all, then makes it minimal, and writes
// its story. A run that does not break the promise every time is examined too:
// Again says how often it did.
//
// Errors are those of [play.Run].
func (f *Failure) Examine() error {
	t := f.trial
	f.Same, f.Again, f.Replays = 1, min(len(f.Violations), 1), Replays
	for range Replays - 1 {
		again := t.repeat()
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
	if f.Again >= enough {
		small := shrink.Minimize(struck(t.Outcome), FailsLike(t.lock, t.Scenario, f.Violations, f.Seed))
		if ok, err := f.adopt(small); ok || err != nil {
			return err
		}
	}
	_, err := f.adopt(t.Scenario)
	return err
}

// compare counts a repetition that is equal to the first run.
func (f *Failure) compare(again *Trial) {
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
func FailsLike(l play.Lock, sc *file.Scenario, broken []outcome.Violation, seed uint64) func(*file.Scenario) bool {
	return func(smaller *file.Scenario) bool {
		if misleads(l, sc, smaller) {
			return false
		}
		o, still, err := l.Try(smaller, seed)
		return err == nil && alike(still, broken) && len(o.NeverFired()) == 0
	}
}

// misleads reports whether a scenario has another lock part than the one that was drawn, and the lock does not follow it.
func misleads(l play.Lock, drawn, smaller *file.Scenario) bool {
	return !l.FollowsSpec && smaller.Lock != drawn.Lock
}

// adopt plays a scenario and sets the result of the failure from the run. It plays
// the text of the scenario, as a replay does, without a fence and in the mode in
// which the lock is judged. A lock that is not deterministic may need several runs
// until one of them breaks the promise; ok is false if none does.
func (f *Failure) adopt(sc *file.Scenario) (ok bool, err error) {
	l := f.trial.lock
	source, err := file.Format(sc)
	if err != nil {
		return false, err
	}
	read, err := file.Parse(sc.Name+".yaml", source, play.ServerNames(l)...)
	if err != nil {
		return false, fmt.Errorf("scenario %s, as it is stored: %w", sc.Name, err)
	}
	for range Replays {
		o, err := play.Run(read, l, play.RunOptions{Seed: f.Seed, Modes: f.modes(), Death: f.death})
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
		f.Outcome, f.Run, f.Faults = o, outcome.NewRunFile(o), len(read.Faults)
		clear(f.Run.Timing.WallSeconds) // all else is the same on every machine
		f.Shape = Shape(read, f.Violations)
		f.Story, f.Reasons = shortStory(judged.Modes[0].Story), nil
		for _, r := range judged.Modes[0].Verdict.Reasons {
			f.Reasons = append(f.Reasons, r.Text)
		}
		if ok {
			break
		}
	}
	return ok, nil
}

// modes are the fencing modes in which the minimal scenario is played. A run in which the program ends is one of them alone.
func (f *Failure) modes() []fence.Mode {
	mode := f.trial.lock.JudgedMode()
	if mode == fence.None || f.death != nil {
		return []fence.Mode{mode}
	}
	return []fence.Mode{fence.None, mode}
}

// Shape is what minimal failures that count as one have in common: the first
// violation with its mode, the kinds of the faults, and the kind of section, as in
// "corrupted in mode none: crash, restart (transfer)". The event at which a fault
// strikes is no part of it: a pause after the read and one before the write do the
// same harm.
func Shape(sc *file.Scenario, broken []outcome.Violation) string {
	what := "no violation"
	if len(broken) > 0 {
		what = broken[0].String()
	}
	kinds := make([]string, len(sc.Faults))
	for i, f := range sc.Faults {
		kinds[i] = f.Action.Kind()
	}
	slices.Sort(kinds)
	section := ""
	switch {
	case sc.Workload.Section != nil:
		section = " (section)"
	case sc.Workload.Kind == file.WorkloadTransfer:
		section = " (transfer)"
	case sc.Workload.Fills():
		section = fmt.Sprintf(" (%s)", sc.Workload.Kind)
	case sc.Workload.Nested > 0:
		section = " (nested)"
	}
	return fmt.Sprintf("%s: %s%s", what, cmp.Or(prose.Commas(kinds), "no faults"), section)
}

// Fails plays a case in which the lock has failed before. The result is the failure
// without minimizing, or nil if the lock passes. A lock that is not deterministic
// may pass by chance: the lock passes when two runs in a row pass and are equal, or
// when it has passed as often as a failure is replayed. Errors are those of
// [play.Run].
func Fails(l play.Lock, c Case) (*Failure, error) {
	t := Play(l, c)
	for n := 1; ; n++ {
		switch {
		case t.Err != nil:
			return nil, t.Err
		case len(t.Violations) > 0:
			f := NewFailure(t)
			_, err := f.adopt(c.Scenario)
			return &f, err
		case n > 1 && t.Difference == nil, n == Replays:
			return nil, nil
		}
		t = t.repeat()
	}
}

// Failures are failures of different shapes.
type Failures []Failure

// Add counts a failure with those of its shape. Of these, it keeps the smallest:
// the one with the fewest faults, then the lowest seed, then the shortest scenario.
func (all *Failures) Add(f Failure) {
	i := slices.IndexFunc(*all, func(other Failure) bool { return other.Shape == f.Shape })
	if i < 0 {
		*all = append(*all, f)
		return
	}
	known := &(*all)[i]
	runs, first := known.Runs+f.Runs, min(known.FirstSeed, f.FirstSeed)
	if smaller(&f, known) {
		*known = f
	}
	known.Runs, known.FirstSeed = runs, first
}

func smaller(a, b *Failure) bool {
	return cmp.Or(cmp.Compare(a.Faults, b.Faults), cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.length(), b.length())) < 0
}

// length is the length of the scenario's text.
func (f *Failure) length() int {
	if f.Run == nil {
		return 0
	}
	return len(f.Run.Source)
}

// Explains reports whether another failure is probably an instance of this one,
// which has been examined: it has a violation of the same label, and at least the
// same kinds of fault struck.
func (f *Failure) Explains(other *Failure) bool {
	of := other.kinds()
	return len(f.Violations) > 0 && slices.Contains(other.labels(), f.Violations[0].Label) &&
		!slices.ContainsFunc(f.kinds(), func(kind string) bool { return !slices.Contains(of, kind) })
}
