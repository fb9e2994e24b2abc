package search

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/shrink"
)

// Failure is a run in which a lock did what it must not, with the number of runs
// that count as the same failure. [NewFailure] takes it from a trial;
// [Failure.Examine] makes its scenario minimal and tells the story. Before that,
// Run is nil, and so is all that follows it.
type Failure struct {
	// Lock is the lock's name.
	Lock string `json:"lock"`
	// Seed is the seed of the run.
	Seed uint64 `json:"seed"`
	// Placed is what a sweep had placed in the scenario.
	Placed *Placed `json:"placed,omitempty"`
	// Violations are what the lock did although it must not. There are none
	// where the lock is only nondeterministic.
	Violations []play.Violation `json:"violations" jsonschema:"nullable"`
	// Shape is what failures have in common that count as one, by [Shape]. Of a
	// scenario that was drawn, that makes sense only once the failure is examined;
	// before, it is the labels and the kinds of the faults that struck.
	Shape string `json:"shape"`
	// Runs counts the runs that count as this failure, this one among them.
	Runs int `json:"runs" jsonschema:"minimum=1"`
	// FirstSeed is the lowest seed of these runs.
	FirstSeed uint64 `json:"first_seed"`
	// Drawn counts the faults that the scenario had at first.
	Drawn int `json:"faults_drawn"`
	// Faults counts the faults that are left.
	Faults int `json:"faults"`
	// Same counts the replays that were equal to the first run, the first among them.
	Same int `json:"same,omitempty" jsonschema:"minimum=1"`
	// Again counts the replays that broke the promise in the same way.
	Again int `json:"again,omitempty"`
	// Replays counts the runs of the scenario as it was at first, the first among them.
	Replays int `json:"replays,omitempty" jsonschema:"minimum=1"`
	// Divergence is the first difference of those that were not equal.
	Divergence string `json:"divergence,omitempty"`
	// Run is the minimal run as it is stored, without its wall times;
	// [play.RunFile.Replay] makes it again.
	Run *play.RunFile `json:"run,omitempty"`
	// Reasons say what was violated.
	Reasons []string `json:"reasons,omitempty"`
	// Story is the run in which it was found, in words. Of a long one, the steps
	// that lead to the decisive step remain.
	Story []Step `json:"story,omitempty"`

	// Outcome is the run: the minimal one, once the failure is examined. It is nil
	// in a [Failure.Value].
	Outcome *play.Outcome `json:"-"`

	trial *Trial // in which it was found; nil in a Value
}

// NewFailure is what a trial shows: a violation, or nothing but that two runs
// differed.
func NewFailure(t *Trial) Failure {
	f := Failure{Lock: t.lock.Name, Seed: t.Seed, Placed: t.Placed, Violations: t.Violations, Runs: 1, FirstSeed: t.Seed,
		Drawn: len(t.Scenario.Faults), Faults: len(t.Scenario.Faults), Outcome: t.Outcome, trial: t}
	f.Shape = cmp.Or(prose.Commas(f.labels()), "no violation") + ": " + cmp.Or(prose.Commas(f.kinds()), "no faults")
	if t.Placed != nil { // each fault was placed for its own sake, also the second of a kind
		f.Shape = Shape(t.Scenario, t.Violations)
	}
	return f
}

// Case is the case in which it was found. It panics for a failure that is the value
// of another.
func (f *Failure) Case() Case { return f.trial.Case }

// Value is the failure as another process reads it: without its run.
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

// Replays is how often a failing run is made, the first time among them.
const Replays = 10

// enough is how often a run must have broken the promise to be made minimal. What
// fails less often might fail by chance while it is tried with less.
const enough = 9

// Examine makes the run again, ten times in all, and then minimal, and tells its
// story. A run that does not break the promise every time is examined all the same:
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
		if ok, err := f.tell(small); ok || err != nil {
			return err
		}
	}
	_, err := f.tell(t.Scenario)
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
// violation counts, since others may follow from it.
func alike(broken, like []play.Violation) bool {
	return len(like) > 0 && slices.Contains(broken, like[0])
}

// struck is the scenario of a run without the faults that never struck.
func struck(o *play.Outcome) *file.Scenario {
	out := *o.Scenario
	out.Faults = nil
	for i, f := range o.Scenario.Faults {
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
		return err == nil && alike(still, broken) && len(o.NeverFired()) == 0
	}
}

// tell plays a scenario and takes over all that there is to say of the run. It is
// made from the text of the scenario, as a replay of it is, without a fence and in
// the mode in which the lock is judged. A lock that is not deterministic may need
// several runs until one of them breaks the promise; ok is false where none does.
func (f *Failure) tell(sc *file.Scenario) (ok bool, err error) {
	l := f.trial.lock
	modes := []fence.Mode{fence.None}
	if mode := l.JudgedMode(); mode != fence.None {
		modes = append(modes, mode)
	}
	source, err := file.Format(sc)
	if err != nil {
		return false, err
	}
	read, err := file.Parse(sc.Name+".yaml", source, play.ServerNames(l)...)
	if err != nil {
		return false, fmt.Errorf("scenario %s, as it is stored: %w", sc.Name, err)
	}
	for range Replays {
		o, err := play.Run(read, l, play.RunOptions{Seed: f.Seed, Modes: modes})
		if err != nil {
			return false, err
		}
		judged := *o
		judged.Modes = o.Modes[len(o.Modes)-1:]
		broken := play.Violations(&judged, l.JudgedBy())
		if ok = len(f.Violations) == 0 || alike(broken, f.Violations); ok {
			f.Violations = broken
		}
		f.Outcome, f.Run, f.Faults = o, play.NewRunFile(o), len(read.Faults)
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

// Shape is what minimal failures have in common that count as one: the first
// violation with its mode, the kinds of the faults, and what a section does, as
// in "corrupted in mode none: crash, restart (transfer)". At which event a fault
// strikes is no part of it: a pause after the read and one before the write do
// the same harm.
func Shape(sc *file.Scenario, broken []play.Violation) string {
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
	case sc.Workload.Kind == file.WorkloadTransfer:
		section = " (transfer)"
	case sc.Workload.Nested > 0:
		section = " (nested)"
	}
	return fmt.Sprintf("%s: %s%s", what, cmp.Or(prose.Commas(kinds), "no faults"), section)
}

// Fails plays a case in which the lock has failed before. The result is the failure
// as it is, not made minimal once more, or nil where the lock passes. What does not
// fail at once may be a matter of chance: the lock passes when two runs in a row do
// and are equal, or when it has passed as often as a failure is replayed. Errors are
// those of [play.Run].
func Fails(l play.Lock, c Case) (*Failure, error) {
	t := Play(l, c)
	for n := 1; ; n++ {
		switch {
		case t.Err != nil:
			return nil, t.Err
		case len(t.Violations) > 0:
			f := NewFailure(t)
			_, err := f.tell(c.Scenario)
			return &f, err
		case n > 1 && t.Difference == nil, n == Replays:
			return nil, nil
		}
		t = t.repeat()
	}
}

// Failures are failures of different shapes.
type Failures []Failure

// Add counts a failure with those of its shape. Of these, the smallest is kept: the
// one with the fewest faults, then the lowest seed, then the shortest scenario.
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

// length is that of the scenario's text.
func (f *Failure) length() int {
	if f.Run == nil {
		return 0
	}
	return len(f.Run.Source)
}

// Explains reports whether another failure may well be an instance of this one, which
// has been examined: it has a violation of the same label, and at least the same
// kinds of fault struck.
func (f *Failure) Explains(other *Failure) bool {
	of := other.kinds()
	return len(f.Violations) > 0 && slices.Contains(other.labels(), f.Violations[0].Label) &&
		!slices.ContainsFunc(f.kinds(), func(kind string) bool { return !slices.Contains(of, kind) })
}
