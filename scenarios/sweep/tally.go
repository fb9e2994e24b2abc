package sweep

import (
	"maps"
	"slices"

	"locksim/checker"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Tally counts the runs of a sweep.
type Tally struct {
	// Placements and Pairs count the runs with one placement and with two.
	Placements int `json:"placements"`
	Pairs      int `json:"pairs"`
	// Struck counts the runs in which every fault came about, Vacuous those of
	// them that are no evidence, by the reason; see [play.Vacuous].
	Struck  int            `json:"struck"`
	Vacuous map[string]int `json:"vacuous,omitempty"`
	// Violating counts the runs with a violation, Violations those of each label.
	// Reduced counts pairs of which one placement alone does the same; these are
	// not among them.
	Violating  int                   `json:"violating"`
	Violations map[checker.Label]int `json:"violations,omitempty"`
	Reduced    int                   `json:"reduced"`
	// Nondeterministic counts the runs that came out differently when they were
	// made again, Failed those that came to no end.
	Nondeterministic int `json:"nondeterministic"`
	Failed           int `json:"failed"`
	// Kinds counts the placements by kind.
	Kinds map[string]KindTally `json:"kinds,omitempty"`
	// Events counts what the worlds delivered.
	Events int `json:"events"`
}

// KindTally counts the placements of one kind.
type KindTally struct {
	// Placed counts them, Struck those that came about, Violating those with a
	// violation.
	Placed    int `json:"placed"`
	Struck    int `json:"struck"`
	Violating int `json:"violating"`
}

// count counts one run.
func (t *Tally) count(o *play.Outcome, placed []placement, broken []play.Violation) {
	m := &o.Modes[0]
	one := Tally{Events: m.Events, Violations: map[checker.Label]int{}}
	if !slices.Contains(m.FaultsFired, false) {
		one.Struck = 1
	}
	for _, v := range broken {
		one.Violating, one.Violations[v.Label] = 1, 1
	}
	if why := play.Vacuous(o); why != "" && one.Struck == 1 && one.Violating == 0 {
		one.Vacuous = map[string]int{why: 1}
	}
	if len(placed) > 1 {
		one.Pairs = 1
	} else {
		one.Placements = 1
		one.Kinds = map[string]KindTally{placed[0].kind: {1, one.Struck, one.Violating}}
	}
	t.Add(one)
}

// Add puts the tally of other runs to these.
func (t *Tally) Add(other Tally) {
	t.Placements += other.Placements
	t.Pairs += other.Pairs
	t.Struck += other.Struck
	t.Violating += other.Violating
	t.Reduced += other.Reduced
	t.Nondeterministic += other.Nondeterministic
	t.Failed += other.Failed
	t.Events += other.Events
	t.Vacuous = search.AddCounts(t.Vacuous, other.Vacuous)
	t.Violations = search.AddCounts(t.Violations, other.Violations)
	if t.Kinds == nil && len(other.Kinds) > 0 {
		t.Kinds = map[string]KindTally{}
	}
	for kind, n := range other.Kinds {
		sum := t.Kinds[kind]
		t.Kinds[kind] = KindTally{sum.Placed + n.Placed, sum.Struck + n.Struck, sum.Violating + n.Violating}
	}
}

// Labels are the labels of the violations, the worst first.
func (t *Tally) Labels() []checker.Label {
	return slices.SortedFunc(maps.Keys(t.Violations), func(a, b checker.Label) int { return b.Severity() - a.Severity() })
}
