package matrix

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// Cell is the result of one scenario with one lock under one fencing mode.
type Cell struct {
	// Scenario is the name of the scenario.
	Scenario string `json:"scenario"`
	// Lock is the name of the lock.
	Lock string     `json:"lock"`
	Mode fence.Mode `json:"mode"`
	// Label is the worst label of all seeds.
	Label checker.Label `json:"label"`
	// Expected is the worst label that the scenario expects of seeds 1 to 20. It is
	// absent if the scenario expects none.
	Expected checker.Label `json:"expected,omitempty"`
	Match    Match         `json:"match"`
	// Vacuous says why the label proves nothing. It is absent if the label proves
	// something.
	Vacuous string `json:"vacuous,omitempty"`
	// NotFelt says why the lock did not feel the faults of a safe cell: "no client read
	// its wall clock". Its runs are as without the faults: neither a pass nor vacuous.
	// It is absent if the lock felt them.
	NotFelt string `json:"not_felt,omitempty"`
	// CellRuns are the figures. They are nil if the mode needs tokens and the
	// lock mints none.
	*CellRuns
}

// CellRuns are the figures behind a cell.
type CellRuns struct {
	// SeedsWithLabel counts the seeds with the label; in a safe cell of which the
	// lock felt the faults, only those that are not vacuous.
	SeedsWithLabel int `json:"seeds_with_label"`
	// Seeds counts the seeds that were run.
	Seeds int `json:"seeds" jsonschema:"minimum=1"`
	// Seed is the first seed with the label.
	Seed uint64 `json:"seed"`
	// TraceHash is the hash of the trace of that seed.
	TraceHash string `json:"trace_hash" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Replay is the command that repeats that run.
	Replay string `json:"replay"`
	// Labels counts the seeds by label.
	Labels map[checker.Label]int `json:"labels" jsonschema:"minProperties=1"`
	// NonVacuous counts the runs that are evidence ([outcome.Vacuous]) and in which
	// every fault fired.
	NonVacuous int `json:"non_vacuous"`
	// Contended counts the runs in which clients contended.
	Contended int `json:"contended"`
	// AllFired counts the runs in which every fault of the schedule fired.
	AllFired int `json:"all_faults_fired"`
	// PartialPause counts the runs in which the lock acted during a pause.
	PartialPause int `json:"pause_partial"`
	// NeverFired are the numbers, from 1, of the faults that fired with no seed.
	NeverFired []int `json:"faults_never_fired,omitempty" jsonschema:"minimum=1"`
	// Events counts the events of all seeds.
	Events int `json:"events"`
	// VirtualSeconds is the virtual time of all seeds.
	VirtualSeconds float64 `json:"virtual_seconds"`
	// Digest is a hash of all traces: two matrices with the same digest have the
	// same events.
	Digest string `json:"digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
}

// Match says how the worst label of a cell relates to what the scenario expects.
type Match string

// The matches.
const (
	// AsExpected means that no seed was worse, and, if seeds 1 to 20 are among
	// them, that one was as bad.
	AsExpected Match = "as-expected"
	// TooBad means that a seed was worse.
	TooBad Match = "worse"
	// TooGood means that with all of the seeds 1 to 20 none was as bad.
	TooGood Match = "milder"
	// NothingExpected means that the scenario has no expectation of this cell.
	NothingExpected Match = "nothing-expected"
)

// expectedOver are the seeds to which the expectations of a scenario apply.
var expectedOver = outcome.Seeds{First: 1, Last: 20}

// match compares the worst label of some seeds with the label expected of seeds 1
// to 20. Fewer seeds may all be better.
func match(got, want checker.Label, seeds outcome.Seeds) Match {
	switch {
	case want == "":
		return NothingExpected
	case got.Severity() > want.Severity():
		return TooBad
	case got != want && seeds.Cover(expectedOver):
		return TooGood
	}
	return AsExpected
}

// newCell judges a tally.
func newCell(sc *file.Scenario, lock string, mode fence.Mode, t Tally, seeds outcome.Seeds) Cell {
	c := Cell{Scenario: sc.Name, Lock: lock, Mode: mode, Label: checker.NotApplicable, Expected: sc.Expect[lock][mode]}
	if t.Runs > 0 {
		c.Label = t.Seen[0].Label
		c.CellRuns = newCellRuns(t)
		if n := t.Vacuous[outcome.NotFelt]; c.Label == checker.Safe && c.NonVacuous == 0 && n > 0 {
			c.NotFelt, c.SeedsWithLabel = unfelt(sc), n
		}
		c.Vacuous = vacuity(sc, c, t)
	}
	c.Match = match(c.Label, c.Expected, seeds)
	return c
}

func newCellRuns(t Tally) *CellRuns {
	worst := t.Seen[0]
	r := &CellRuns{SeedsWithLabel: worst.Seeds, Seeds: t.Runs, Seed: worst.Seed, TraceHash: worst.TraceHash,
		Labels: map[checker.Label]int{}, NonVacuous: t.Evidence, Contended: t.Contended, AllFired: t.AllFired,
		PartialPause: t.Partial, Events: t.Events, VirtualSeconds: t.Virtual.Seconds(), Digest: t.Digest}
	if worst.Label == checker.Safe {
		r.SeedsWithLabel = worst.NonVacuous
	}
	for _, l := range t.Seen {
		r.Labels[l.Label] = l.Seeds
	}
	for i, n := range t.Fired {
		if n == 0 {
			r.NeverFired = append(r.NeverFired, i+1)
		}
	}
	return r
}

// unfelt says of each class of fault in a scenario what it takes to feel it.
func unfelt(sc *file.Scenario) string {
	var why []string
	for _, f := range sc.Faults {
		why = append(why, outcome.Unfelt(faults.ClassIn(sc.Faults, f.Action)))
	}
	slices.Sort(why)
	return strings.Join(slices.Compact(why), "; ")
}

// vacuity is why a label proves nothing. A violation proves itself: a lock that
// stays stuck needs no contention, and no fault has to fire. Every other label also
// says that nothing worse was seen, which counts only if every fault of the
// schedule fired. A safe cell counts only if there is one run that is evidence, or
// if the lock cannot feel the faults.
func vacuity(sc *file.Scenario, c Cell, t Tally) string {
	switch c.Label {
	case checker.Corrupted, checker.Panicked, checker.Stuck, checker.FalseReject, checker.Void, checker.Revived, checker.Misconduct, checker.Overtaken:
		return ""
	}
	var why []string
	for _, n := range c.NeverFired {
		why = append(why, fmt.Sprintf("fault %d never fired (%v)", n, sc.Faults[n-1]))
	}
	if c.Label == checker.Safe && c.NonVacuous == 0 && c.NotFelt == "" && len(why) == 0 {
		why = slices.Sorted(maps.Keys(t.Vacuous))
	}
	return strings.Join(why, "; ")
}

// Problem describes what is wrong with a cell; "" if nothing is.
func (c Cell) Problem() string {
	var parts []string
	if c.Match == TooBad || c.Match == TooGood {
		parts = append(parts, fmt.Sprintf("%s, and %s was expected", c.Label, c.Expected))
	}
	if c.Vacuous != "" {
		parts = append(parts, "vacuous: "+c.Vacuous)
	}
	return strings.Join(parts, "; ")
}

// sortedModes are modes in the order of fence.Modes, each once.
func sortedModes(modes []fence.Mode) []fence.Mode {
	var out []fence.Mode
	for _, m := range fence.Modes() {
		if slices.Contains(modes, m) {
			out = append(out, m)
		}
	}
	return out
}
