package matrix

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
	"locksim/sim/trace"
)

// An expectation is about the worst of the seeds 1 to 20: no seed may be worse,
// and, if all of them were run, one must be as bad.
func TestMatch(t *testing.T) {
	twenty, few, others := outcome.Seeds{First: 1, Last: 20}, outcome.Seeds{First: 1, Last: 19},
		outcome.Seeds{First: 101, Last: 200}
	for _, tt := range []struct {
		got, want checker.Label
		seeds     outcome.Seeds
		match     matrices.Match
	}{
		{checker.Rescued, checker.Rescued, twenty, matrices.AsExpected},
		{checker.Corrupted, checker.Rescued, twenty, matrices.TooBad},
		{checker.Overlap, checker.Rescued, twenty, matrices.TooGood},
		{checker.Overlap, checker.Rescued, outcome.Seeds{First: 0, Last: 1000}, matrices.TooGood},
		{checker.Overlap, checker.Rescued, few, matrices.AsExpected},
		{checker.Overlap, checker.Rescued, others, matrices.AsExpected},
		{checker.Overlap, checker.Rescued, outcome.Seeds{First: 2, Last: 40}, matrices.AsExpected},
		{checker.Corrupted, checker.Rescued, few, matrices.TooBad},
		{checker.Corrupted, checker.Rescued, others, matrices.TooBad},
		{checker.Corrupted, "", twenty, matrices.NothingExpected},
		{checker.NotApplicable, "", twenty, matrices.NothingExpected},
		{checker.NotApplicable, checker.NotApplicable, twenty, matrices.AsExpected},
		{checker.NotApplicable, checker.Rescued, twenty, matrices.TooGood},
	} {
		if got := match(tt.got, tt.want, tt.seeds); got != tt.match {
			t.Errorf("%s where %s was expected, %s: %s, want %s", tt.got, tt.want, tt.seeds, got, tt.match)
		}
	}
}

// run is a run with the fields that a tally reads.
func run(label checker.Label, contended int, fired ...bool) outcome.ModeRun {
	return outcome.ModeRun{Mode: fence.Seal, Trace: new(trace.Trace), TraceHash: fmt.Sprint(label, contended, fired),
		Events: 10, Virtual: time.Second,
		FaultsFired: fired, FaultsFelt: fired,
		Verdict: checker.Verdict{Label: label, Facts: checker.Facts{Grants: 2, Holders: 2, Contended: contended}}}
}

func partial(m outcome.ModeRun) outcome.ModeRun {
	m.PartialPause = true
	return m
}

// unfeeling is a run whose lock does not feel the faults.
func unfeeling(m outcome.ModeRun) outcome.ModeRun {
	m.FaultsFelt = make([]bool, len(m.FaultsFired))
	return m
}

// tallied counts runs, each of a scenario with the same number of faults.
func tallied(runs ...outcome.ModeRun) Tally {
	var t Tally
	for i := range runs {
		t.count(paused(runs[i]), uint64(i+1), &runs[i])
	}
	return t
}

// paused is a scenario with the same number of faults as a run.
func paused(m outcome.ModeRun) *file.Scenario {
	sc := &file.Scenario{Name: "x"}
	for range m.FaultsFired {
		sc.Faults = append(sc.Faults, faults.Fault{Action: faults.Pause{Process: "c0", For: time.Second}})
	}
	return sc
}

func TestVacuity(t *testing.T) {
	sc := &file.Scenario{Name: "x", Faults: []faults.Fault{
		{At: time.Second, Action: faults.Pause{Process: "c0", For: time.Second}},
		{At: 2 * time.Second, Action: faults.Pause{Process: "c1", For: time.Second}},
	}}
	for name, tt := range map[string]struct {
		runs []outcome.ModeRun
		want string // a part of why; empty: not vacuous
	}{
		"safe with everything": {[]outcome.ModeRun{run(checker.Safe, 1, true, true)}, ""},
		"safe, one run of two counts": {[]outcome.ModeRun{run(checker.Safe, 0, true, true),
			run(checker.Safe, 1, true, true)}, ""},
		"safe, no contention": {[]outcome.ModeRun{run(checker.Safe, 0, true, true),
			run(checker.Safe, 0, true, true)}, "no client was kept out"},
		"safe, a fault never fired": {[]outcome.ModeRun{run(checker.Safe, 1, true, false),
			run(checker.Safe, 1, true, false)}, "fault 2 never fired (pause c1 for 1s"},
		"safe, never both faults": {[]outcome.ModeRun{run(checker.Safe, 1, true, false),
			run(checker.Safe, 1, false, true)}, "not every fault struck"},
		"safe, never both conditions": {[]outcome.ModeRun{run(checker.Safe, 0, true, true),
			run(checker.Safe, 1, false, true)}, "no client was kept out; not every fault struck"},
		"safe, pauses partial": {[]outcome.ModeRun{partial(run(checker.Safe, 1, true, true))},
			outcome.ActedDuringPause},
		"safe, one pause whole": {[]outcome.ModeRun{partial(run(checker.Safe, 1, true, true)),
			run(checker.Safe, 1, true, true)}, ""},
		"safe, no fault felt": {[]outcome.ModeRun{unfeeling(run(checker.Safe, 1, true, true)),
			run(checker.Safe, 0, true, true)}, ""},
		"safe, one fault felt": {[]outcome.ModeRun{unfeeling(run(checker.Safe, 1, true, true)),
			run(checker.Safe, 1, true, true)}, ""},
		"rescued without contention":   {[]outcome.ModeRun{run(checker.Rescued, 0, true, true)}, ""},
		"rescued, a fault never fired": {[]outcome.ModeRun{run(checker.Rescued, 1, false, true)}, "fault 1 never fired"},
		"overlap, a fault never fired": {[]outcome.ModeRun{run(checker.Overlap, 1, false, true)}, "fault 1 never fired"},
		"rescued, each fired once": {[]outcome.ModeRun{run(checker.Rescued, 1, false, true),
			run(checker.Safe, 1, true, false)}, ""},
		"corrupted, a fault less":    {[]outcome.ModeRun{run(checker.Corrupted, 0, false, true)}, ""},
		"stuck needs no contention":  {[]outcome.ModeRun{run(checker.Stuck, 0, true, true)}, ""},
		"overtaken proves itself":    {[]outcome.ModeRun{run(checker.Overtaken, 0, true, false)}, ""},
		"void proves itself":         {[]outcome.ModeRun{run(checker.Void, 0, true, false)}, ""},
		"false-reject proves itself": {[]outcome.ModeRun{run(checker.FalseReject, 0, true, false)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCell(sc, "fenced", fence.Seal, tallied(tt.runs...), outcome.Seeds{First: 1, Last: 20})
			if (c.Vacuous == "") != (tt.want == "") || !strings.Contains(c.Vacuous, tt.want) {
				t.Errorf("vacuous: %q, want %q", c.Vacuous, tt.want)
			}
			if tt.want != "" && !strings.Contains(c.Problem(), "vacuous: ") {
				t.Errorf("no problem: %q", c.Problem())
			}
		})
	}
}

// A safe cell says why the lock does not feel the faults, and counts those runs; a lock
// that feels them once does.
func TestNotFelt(t *testing.T) {
	sc := &file.Scenario{Name: "x", Faults: []faults.Fault{
		{At: time.Second, Action: faults.ClockJump{Clock: "c0", By: time.Second}},
		{At: 2 * time.Second, Action: faults.ClockJump{Clock: "c1", By: time.Second}},
	}}
	deaf, felt := unfeeling(run(checker.Safe, 1, true, true)), run(checker.Safe, 1, true, true)
	for _, tt := range []struct {
		name string
		runs []outcome.ModeRun
		why  string
		k    int
	}{
		{"never", []outcome.ModeRun{deaf, deaf}, "no client read its wall clock", 2},
		{"never, once without contention", []outcome.ModeRun{deaf, run(checker.Safe, 0, true, true)},
			"no client read its wall clock", 1},
		{"once", []outcome.ModeRun{deaf, felt}, "", 1},
		{"a violation", []outcome.ModeRun{deaf, unfeeling(run(checker.Stuck, 1, true, true))}, "", 1},
		{"no contention", []outcome.ModeRun{unfeeling(run(checker.Safe, 0, true, true))}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCell(sc, "single", fence.Seal, tallied(tt.runs...), outcome.Seeds{First: 1, Last: 20})
			if c.NotFelt != tt.why || c.SeedsWithLabel != tt.k {
				t.Errorf("%q, %d of %d runs; want %q and %d", c.NotFelt, c.SeedsWithLabel, c.Seeds, tt.why, tt.k)
			}
		})
	}
}

// A cell has the number of seeds with its label, and the seed to replay.
func TestCell(t *testing.T) {
	sc := &file.Scenario{Name: "x",
		Expect: map[string]map[fence.Mode]checker.Label{"fenced": {fence.Seal: checker.Overlap}}}
	for name, tt := range map[string]struct {
		runs []outcome.ModeRun
		k    int
		seed uint64
		want checker.Label
	}{
		"the worst counts": {[]outcome.ModeRun{run(checker.Safe, 1), run(checker.Rescued, 1),
			run(checker.Corrupted, 1), run(checker.Rescued, 1), run(checker.Corrupted, 1)}, 2, 3, checker.Corrupted},
		"safe runs that are vacuous": {[]outcome.ModeRun{run(checker.Safe, 0), run(checker.Safe, 1), run(checker.Safe, 0),
			run(checker.Safe, 2)}, 2, 2, checker.Safe},
		"safe, and nothing else": {[]outcome.ModeRun{run(checker.Safe, 0), run(checker.Safe, 0)}, 0, 1, checker.Safe},
		"others count in any case": {[]outcome.ModeRun{run(checker.Safe, 1), run(checker.Stuck, 0), run(checker.Stuck, 1)},
			2, 2, checker.Stuck},
		"unknown is worse than stuck": {[]outcome.ModeRun{run(checker.Stuck, 1), run(checker.Unknown, 1)}, 1, 2,
			checker.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCell(sc, "fenced", fence.Seal, tallied(tt.runs...), outcome.Seeds{First: 1, Last: 20})
			if c.Label != tt.want || c.SeedsWithLabel != tt.k || c.Seeds != len(tt.runs) || c.Seed != tt.seed {
				t.Errorf("%s %d/%d, seed %d", c.Label, c.SeedsWithLabel, c.Seeds, c.Seed)
			}
			if want := tt.runs[tt.seed-1].TraceHash; c.TraceHash != want {
				t.Errorf("the hash is of another run: %s, want %s", c.TraceHash, want)
			}
			if c.Expected != checker.Overlap || c.Match == matrices.NothingExpected {
				t.Errorf("expected %q, %s", c.Expected, c.Match)
			}
		})
	}
}

// A mode that was not run has no figures, and nothing is wrong with it.
func TestCellNotApplicable(t *testing.T) {
	c := newCell(&file.Scenario{Name: "x"}, "single", fence.Seal, Tally{}, outcome.Seeds{First: 1, Last: 20})
	want := matrices.Cell{Scenario: "x", Lock: "single", Mode: fence.Seal, Label: checker.NotApplicable,
		Match: matrices.NothingExpected}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	b, err := json.Marshal(c)
	if err != nil || strings.Contains(string(b), "null") || strings.Contains(string(b), "seeds") {
		t.Errorf("%v: %s", err, b)
	}
}

// Tallies of parts add up to the tally of the whole, wherever it is cut, except the
// digest, which depends on the cut.
func TestTallyAdd(t *testing.T) {
	runs := []outcome.ModeRun{
		run(checker.Safe, 0, true, false), partial(run(checker.Rescued, 1, true, true)), run(checker.Safe, 2, true, true),
		run(checker.Corrupted, 1, true, true), run(checker.Safe, 3, true, true), run(checker.Corrupted, 0, false, false),
	}
	whole := tallied(runs...)
	if whole.Runs != 6 || whole.Contended != 4 || whole.AllFired != 4 || whole.Partial != 1 || whole.Evidence != 3 ||
		whole.Events != 60 || whole.Virtual != 6*time.Second {
		t.Errorf("%+v", whole)
	}
	if diff := cmp.Diff([]int{5, 4}, whole.Fired); diff != "" {
		t.Error(diff)
	}
	for cut := range len(runs) + 1 {
		var first, second, both Tally
		for i := range runs {
			part := &first
			if i >= cut {
				part = &second
			}
			part.count(paused(runs[i]), uint64(i+1), &runs[i])
		}
		both.Add(first)
		if second.Runs > 0 {
			both.Add(second)
		}
		both.Digest = whole.Digest
		if diff := cmp.Diff(whole, both); diff != "" {
			t.Errorf("cut at %d: %s", cut, diff)
		}
	}
}

// Different sequences of runs have different digests.
func TestTallyDigest(t *testing.T) {
	a, b := run(checker.Safe, 1), run(checker.Corrupted, 1)
	seen := map[string]string{}
	for name, runs := range map[string][]outcome.ModeRun{"": {}, "a": {a}, "b": {b}, "ab": {a, b}, "ba": {b, a},
		"aa": {a, a}} {
		d := tallied(runs...).Digest
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %q have the digest %q", name, other, d)
		}
		seen[d] = name
	}
}

func TestSeedsParts(t *testing.T) {
	for _, tt := range []struct {
		seeds outcome.Seeds
		n     int
		want  []outcome.Seeds
	}{
		{outcome.Seeds{First: 1, Last: 20}, 20, []outcome.Seeds{{First: 1, Last: 20}}},
		{outcome.Seeds{First: 1, Last: 21}, 20, []outcome.Seeds{{First: 1, Last: 20}, {First: 21, Last: 21}}},
		{outcome.Seeds{First: 5, Last: 5}, 20, []outcome.Seeds{{First: 5, Last: 5}}},
		{outcome.Seeds{First: 1<<64 - 3, Last: 1<<64 - 1}, 2, []outcome.Seeds{{First: 1<<64 - 3, Last: 1<<64 - 2},
			{First: 1<<64 - 1, Last: 1<<64 - 1}}},
	} {
		if diff := cmp.Diff(tt.want, tt.seeds.Parts(tt.n)); diff != "" {
			t.Errorf("%s: %s", tt.seeds, diff)
		}
	}
}

// A name is no pattern: it matches itself alone.
func TestLiterally(t *testing.T) {
	for _, name := range []string{"single", "a*b", "a[0]", `back\slash`, "what?"} {
		if !fits(Literally(name), name) || fits(Literally(name), name+"x") || fits(Literally("a*b"), "aXb") {
			t.Errorf("the pattern %q is not %q alone", Literally(name), name)
		}
	}
}
