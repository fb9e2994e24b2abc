package failure

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// Failure is a run in which a lock broke its promise, with the number of runs that
// count as the same failure. Package search finds it, makes its scenario minimal and
// writes the story. Before that, Run is nil, and so is everything after it.
type Failure struct {
	// Lock is the lock's name.
	Lock string `json:"lock"`
	// Seed is the seed by which the search names the run. One that is a variation of another run is played with the seed
	// of that, which Run has.
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
	// Answers are the run in a few answers: see [outcome.Answers].
	Answers []outcome.Answer `json:"answers,omitempty"`
	// Reasons say what was violated.
	Reasons []string `json:"reasons,omitempty"`
	// Story is the run in which it was found, in words. Of a long one, the steps
	// that lead to the decisive step remain.
	Story []Step `json:"story,omitempty"`

	// LeftOut is what there was no time for, such as "7 repetitions".
	LeftOut []string `json:"-"`
	// Outcome is the run: the minimal one, once the failure is examined. It is nil
	// in a failure that came from another process.
	Outcome *outcome.Outcome `json:"-"`
}

// RoughShape is what failures have in common that are not minimal yet: the labels, and the kinds of the faults that
// struck. It needs Outcome.
func (f *Failure) RoughShape() string {
	return cmp.Or(prose.Commas(f.labels()), "no violation") + ": " + cmp.Or(prose.Commas(f.kinds()), "no faults")
}

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

// Enough is how often a run must break the promise to be made minimal. A run that
// fails less often might fail or pass by chance while smaller scenarios are tried.
const Enough = 9

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
	case cmp.Or(sc.Workload.Kind, file.WorkloadRegister) != file.WorkloadRegister && !sc.Workload.TriesFence():
		section = fmt.Sprintf(" (%s)", sc.Workload.Kind)
	case sc.Workload.Nested > 0:
		section = " (nested)"
	case sc.Workload.Beside:
		section = " (two locks)"
	}
	return fmt.Sprintf("%s: %s%s", what, cmp.Or(prose.Commas(kinds), "no faults"), section)
}

// Failures are failures of different shapes.
type Failures []Failure

// Add counts a failure with those of its shape: see [Keep].
func (all *Failures) Add(f Failure) {
	*all = Keep(*all, f, func(f *Failure) *Failure { return f })
}

// Keep counts a failure, or something that has one, with those of its shape in a list. Of these, it keeps the smallest:
// the one with the fewest faults, then the lowest seed, then the shortest scenario.
func Keep[F any](all []F, found F, of func(*F) *Failure) []F {
	f := of(&found)
	i := slices.IndexFunc(all, func(other F) bool { return of(&other).Shape == f.Shape })
	if i < 0 {
		return append(all, found)
	}
	known := of(&all[i])
	runs, first := known.Runs+f.Runs, min(known.FirstSeed, f.FirstSeed)
	if smaller(f, known) {
		all[i] = found
	}
	known.Runs, known.FirstSeed = runs, first
	return all
}

func smaller(a, b *Failure) bool {
	return cmp.Or(cmp.Compare(a.Faults, b.Faults), cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.length(), b.length())) < 0
}

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
