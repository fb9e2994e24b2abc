package explore

import (
	"maps"
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Tally is what some runs of an exploration came to.
type Tally struct {
	// Runs counts the runs, NonVacuous those that say something: a violation was
	// seen, or clients contended and faults struck, where any were drawn. Vacuous
	// says of the others why they say nothing.
	Runs       int            `json:"runs"`
	NonVacuous int            `json:"non_vacuous"`
	Vacuous    map[string]int `json:"vacuous,omitempty"`
	// Violating counts the runs with a violation, Violations the runs with one
	// of each label.
	Violating  int                   `json:"violating"`
	Violations map[checker.Label]int `json:"violations,omitempty"`
	// Nondeterministic counts the runs that came out differently when they were
	// made again, Failed those that came to no end.
	Nondeterministic int `json:"nondeterministic"`
	Failed           int `json:"failed"`
	// Faults counts faults by kind, Classes the runs in which one of a class
	// struck.
	Faults  map[string]FaultTally `json:"faults,omitempty"`
	Classes map[lock.Fault]int    `json:"classes,omitempty"`
	// Events counts what the worlds delivered; Virtual is their virtual time.
	Events  int           `json:"events"`
	Virtual time.Duration `json:"virtual"`
}

// FaultTally counts the faults of one kind.
type FaultTally struct {
	// Drawn counts those of all schedules, Struck those of them that came about.
	Drawn  int `json:"drawn"`
	Struck int `json:"struck"`
}

// count counts one run, which has an outcome of one mode.
func (t *Tally) count(o *play.Outcome, broken []play.Violation) {
	m := &o.Modes[0]
	one := Tally{Runs: 1, Events: m.Events, Virtual: m.Virtual, Violations: map[checker.Label]int{}}
	one.Faults, one.Classes = faultsOf(o.Scenario, m.FaultsFired)
	why := play.Vacuous(o)
	switch {
	case len(broken) > 0:
		one.NonVacuous, one.Violating = 1, 1
	case why == "":
		one.NonVacuous = 1
	default:
		one.Vacuous = map[string]int{why: 1}
	}
	for _, v := range broken {
		one.Violations[v.Label] = 1
	}
	t.Add(one)
}

// faultsOf counts the faults of a schedule by kind and by class.
func faultsOf(sc *file.Scenario, fired []bool) (map[string]FaultTally, map[lock.Fault]int) {
	kinds, classes := map[string]FaultTally{}, map[lock.Fault]int{}
	for i, f := range sc.Faults {
		k := kinds[f.Action.Kind()]
		k.Drawn++
		if fired[i] {
			k.Struck++
			if class := faults.ClassIn(sc.Faults, f.Action); class != "" {
				classes[class] = 1
			}
		}
		kinds[f.Action.Kind()] = k
	}
	return kinds, classes
}

// Add puts the tally of other runs to these.
func (t *Tally) Add(other Tally) {
	t.Runs += other.Runs
	t.NonVacuous += other.NonVacuous
	t.Violating += other.Violating
	t.Nondeterministic += other.Nondeterministic
	t.Failed += other.Failed
	t.Events += other.Events
	t.Virtual += other.Virtual
	t.Vacuous = search.AddCounts(t.Vacuous, other.Vacuous)
	t.Violations = search.AddCounts(t.Violations, other.Violations)
	t.Classes = search.AddCounts(t.Classes, other.Classes)
	if t.Faults == nil && len(other.Faults) > 0 {
		t.Faults = map[string]FaultTally{}
	}
	for kind, n := range other.Faults {
		sum := t.Faults[kind]
		t.Faults[kind] = FaultTally{sum.Drawn + n.Drawn, sum.Struck + n.Struck}
	}
}

// Labels are the labels of the violations, in the order of severity.
func (t *Tally) Labels() []checker.Label {
	return slices.SortedFunc(maps.Keys(t.Violations), func(a, b checker.Label) int { return b.Severity() - a.Severity() })
}

// Kinds are the kinds of fault that were drawn, in order.
func (t *Tally) Kinds() []string { return slices.Sorted(maps.Keys(t.Faults)) }
