package reviews_test

import (
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/outcome/tally"
)

// reviewLabels counts runs by label, from pairs.
type reviewLabels = map[checker.Label]int

// measured is one ground of one mode.
func measured(runs, corrupted, refused int, where ...string) reviews.Count {
	return reviews.Count{Scenarios: 2, Runs: runs, Corrupted: where,
		Labels: reviewLabels{checker.Corrupted: corrupted, checker.FalseReject: refused, checker.Rescued: 3}}
}

// soundFigures are the figures of a lock that keeps its promise, which loses data
// without a fence and none within its promise with one.
func soundFigures() *reviews.Figures {
	grounds := func(within, outside reviews.Count) map[reviews.Ground]reviews.Count {
		return map[reviews.Ground]reviews.Count{reviews.GroundPromised: within, reviews.GroundOutside: outside}
	}
	return &reviews.Figures{
		Promises: true, Data: fence.Seal, Nodes: 1, Described: true,
		Modes: []reviews.Mode{
			{Mode: fence.None, Grounds: grounds(measured(400, 180, 0, "gc-pause"), measured(200, 150, 0, "flushall"))},
			{Mode: fence.Check, Grounds: grounds(measured(400, 60, 0, "late-read"), measured(200, 150, 0, "flushall"))},
			{Mode: fence.Seal, Grounds: grounds(measured(400, 0, 0), measured(200, 90, 20, "flushall"))},
			{Mode: fence.Claim, Grounds: grounds(measured(400, 0, 25), measured(200, 0, 0))},
			{Mode: fence.CAS, Grounds: grounds(measured(400, 0, 0), measured(200, 0, 0))},
		},
		Within: tally.Tally{Runs: 3000, Evidence: 2700},
		All: tally.Tally{Runs: 600, Evidence: 540, Violating: 41,
			Violations: reviewLabels{checker.Overlap: 30, checker.Stuck: 11}},
		Swept: tally.Tally{Runs: 1108, Evidence: 1000},
	}
}

// adviceCase is a measurement, and the advice that must follow from it.
type adviceCase struct {
	change  func(f *reviews.Figures)
	use     reviews.Use
	rule    string
	verdict reviews.Verdict
	fence   fence.Mode
	says    []string
}

var adviceCases = []adviceCase{
	{func(f *reviews.Figures) { f.Doubtful = 2 }, reviews.ForEfficiency, "doubtful", reviews.Undecided, "",
		[]string{"2 runs differed"}},
	{func(f *reviews.Figures) { f.Doubtful = 1 }, reviews.ForCorrectness, "doubtful", reviews.Undecided, "",
		[]string{"1 run differed"}},
	{func(f *reviews.Figures) { f.Faultless = []string{"overlap in mode none: no faults"} }, reviews.ForCorrectness,
		"faultless", reviews.NotSuitable, "", []string{"without any fault (overlap in mode none: no faults)"}},
	{func(f *reviews.Figures) { f.Within.Violating = 7 }, reviews.ForEfficiency, "promise-broken", reviews.NotSuitable, "",
		[]string{"breaks its own promise, in 7 of 2,700 explored runs"}},
	{func(f *reviews.Figures) { f.Swept.Violating = 3 }, reviews.ForCorrectness, "promise-broken", reviews.NotSuitable, "",
		[]string{"3 of 1,108 placements"}},
	{func(f *reviews.Figures) { f.Within.Calls.NotHeld = 70 }, reviews.ForEfficiency, "unproven", reviews.NotSuitable, "",
		[]string{"no Release succeeded, of 70"}},
	{func(f *reviews.Figures) {
		f.All.Unknown = map[string]int{"Redis 7.0.15 does not know the command X": 1}
	}, reviews.ForCorrectness, "unproven", reviews.NotSuitable, "", []string{"does not know the command X"}},
	{func(f *reviews.Figures) { f.Within.Evidence = 299 }, reviews.ForEfficiency, "thin", reviews.Undecided, "",
		[]string{"Only 299 runs tested the lock", "up to 1 %", "At this rate 11 runs more are enough"}},
	{func(f *reviews.Figures) { f.Within.Evidence = 300 }, reviews.ForEfficiency, "kept", reviews.Suitable, "",
		[]string{"300 explored runs"}},
	{func(f *reviews.Figures) { f.Within.Evidence = 0 }, reviews.ForCorrectness, "thin", reviews.Undecided, "",
		[]string{"Only 0 runs tested the lock", "up to 100 %", "More runs alone do not change that"}},
	{func(f *reviews.Figures) { f.Promises, f.All.Evidence, f.Swept.Evidence = false, 200, 99 }, reviews.ForCorrectness,
		"thin", reviews.Undecided, "", []string{"Only 299 runs"}},
	{func(f *reviews.Figures) { f.Promises = false }, reviews.ForEfficiency, "unpromised", reviews.WithCare, "",
		[]string{"promises nothing", "41 of 540", "stuck 11, overlap 30"}},
	{func(f *reviews.Figures) {
		f.Promises, f.All.Violating, f.All.Violations = false, 0, nil
		f.Swept.Violating, f.Swept.Violations = 5, reviewLabels{checker.Overlap: 5}
	}, reviews.ForEfficiency, "unpromised", reviews.WithCare, "", []string{"so did 5 of 1,108 placements of a single " +
		"fault (overlap 5)"}},
	{func(*reviews.Figures) {}, reviews.ForEfficiency, "kept", reviews.Suitable, "",
		[]string{"2,700 explored runs", "fewer than 0.11 %", "no proof", "41 of 540", "work that waits"}},
	{func(f *reviews.Figures) { f.All.Violations = reviewLabels{checker.FalseReject: 4} }, reviews.ForEfficiency, "kept",
		reviews.Suitable, "", []string{"a fence refuses"}},
	{func(f *reviews.Figures) { f.All.Violating = 0 }, reviews.ForEfficiency, "unbroken", reviews.Suitable, "",
		[]string{"3,240 explored runs", "That is no proof"}},
	{func(f *reviews.Figures) { f.Modes = nil }, reviews.ForCorrectness, "unmeasured", reviews.Undecided, "",
		[]string{"No recommendation"}},
	{func(f *reviews.Figures) {
		for i := range f.Modes {
			f.Modes[i].Grounds = map[reviews.Ground]reviews.Count{reviews.GroundPromised: measured(400, 0, 0)}
		}
	}, reviews.ForCorrectness, "not-refuted", reviews.WithCare, "", []string{"no data was lost without a fence in 400 " +
		"runs of 2 scenarios", "no proof"}},
	{func(*reviews.Figures) {}, reviews.ForCorrectness, "fence", reviews.BehindFence, fence.Seal, []string{
		"the rule seal", "Without a fence data was lost in 180 of 400 runs within the promise and in 150 of 200 runs " +
			"outside it", "with it data was lost in 0 of 400 runs"}},
	{func(f *reviews.Figures) { f.Data = "" }, reviews.ForCorrectness, "fence", reviews.BehindFence, fence.Seal,
		[]string{"seal"}},
	{func(f *reviews.Figures) { // now the fence that the promise names lost data once
		f.Modes[2].Grounds[reviews.GroundPromised] = measured(400, 1, 0, "gc-pause")
	}, reviews.ForCorrectness, "fence", reviews.BehindFence, fence.Claim, []string{"the rule claim"}},
	{func(f *reviews.Figures) { // and so did the other
		f.Modes[2].Grounds[reviews.GroundPromised] = measured(400, 1, 0, "gc-pause")
		f.Modes[3].Grounds[reviews.GroundPromised] = measured(400, 2, 0, "gc-pause")
	}, reviews.ForCorrectness, "no-fence-helps", reviews.NotSuitable, "",
		[]string{"no fence that was measured", "with the best, seal, data was lost in 1 of 400"}},
	{func(f *reviews.Figures) { // no scenario lost data, a break did
		f.Promises = false
		f.Modes[2].Grounds[reviews.GroundOutside] = measured(200, 0, 0)
		f.Modes[2].Failures = reviews.Count{Runs: 4, Labels: reviewLabels{checker.Corrupted: 1}}
		f.Modes[3].Failures = reviews.Count{Runs: 4}
	}, reviews.ForCorrectness, "fence", reviews.BehindFence, fence.Claim, []string{"0 of 4 breaks found here"}},
}

// The text of a recommendation follows from the figures: other figures, other text.
func TestAdviceFollowsFromTheFigures(t *testing.T) {
	seen := map[string]bool{}
	for _, tc := range adviceCases {
		f := soundFigures()
		tc.change(f)
		a := f.Advice()[slices.Index([]reviews.Use{reviews.ForEfficiency, reviews.ForCorrectness}, tc.use)]
		seen[tc.rule] = true
		if a.Use != tc.use || a.Rule != tc.rule || a.Verdict != tc.verdict || a.Fence != tc.fence {
			t.Errorf("%s, %s: got %s, %s, %q for %s: %s", tc.use, tc.rule, a.Rule, a.Verdict, a.Fence, a.Use, a.Text)
		}
		for _, part := range tc.says {
			if !strings.Contains(a.Text, part) {
				t.Errorf("%s, %s does not say %q: %s", tc.use, tc.rule, part, a.Text)
			}
		}
		if text := a.Text + strings.Join(a.Reasons, " ") + string(a.Verdict); strings.Contains(strings.ToLower(text),
			"safe") {
			t.Errorf("%s, %s calls something safe: %s", tc.use, tc.rule, text)
		}
	}
	for _, use := range []reviews.Use{reviews.ForEfficiency, reviews.ForCorrectness} {
		for _, r := range reviews.Rules(use) {
			if !seen[r.ID] {
				t.Errorf("no case for the rule %s", r.ID)
			}
		}
	}
}

// Each reason appears with its figure, and disappears without it.
func TestReasonsFollowFromTheFigures(t *testing.T) {
	for _, tc := range []struct {
		says   string
		use    int
		remove func(f *reviews.Figures)
	}{
		{"1,108 placements, 0 with a violation", 0, func(f *reviews.Figures) { f.Swept.Runs = 0 }},
		{"two clients had the lock at once in 30 explored runs", 0,
			func(f *reviews.Figures) { f.All.Violations[checker.Overlap] = 0 }},
		{"the lock did not become free by itself in 11 explored runs", 0,
			func(f *reviews.Figures) { f.All.Violations[checker.Stuck] = 0 }},
		{"Outside its promise seal does not always help: data was lost in flushall.", 1, func(f *reviews.Figures) {
			f.Modes[2].Grounds[reviews.GroundOutside] = measured(200, 0, 20)
		}},
		{"the rule claim does better: data was lost in 0 of 200 runs; at the price of 25 of 400 runs within it", 1,
			func(f *reviews.Figures) {
				f.Modes[3].Grounds[reviews.GroundOutside] = measured(200, 90, 0, "flushall")
			}},
		{"needs no lock at all: data was lost in 0 of 400 runs", 1, func(f *reviews.Figures) { f.Modes = f.Modes[:4] }},
	} {
		f := soundFigures()
		if got := strings.Join(f.Advice()[tc.use].Reasons, "\n"); !strings.Contains(got, tc.says) {
			t.Errorf("no reason says %q:\n%s", tc.says, got)
		}
		tc.remove(f)
		if got := strings.Join(f.Advice()[tc.use].Reasons, "\n"); strings.Contains(got, tc.says) {
			t.Errorf("without its figure the reason %q remains:\n%s", tc.says, got)
		}
	}
}

// questionCases have a condition for each question. The sound lock has the first
// two questions.
var questionCases = map[string]struct {
	change func(f *reviews.Figures)
	says   string
}{
	"describe": {func(f *reviews.Figures) { f.Described = false }, "How does the lock work?"},
	"promise":  {func(f *reviews.Figures) { f.Promises = false }, "What does the lock promise"},
	"fence":    {func(*reviews.Figures) {}, "the rule seal to every operation? It rescued the data in 6 runs"},
	"ttl": {func(f *reviews.Figures) { f.Seen = map[lock.Fault]int{lock.FaultPause: 4, lock.FaultStall: 1} },
		"Harm was done with pause in 4, with stall in 1 of the breaks and scenarios here"},
	"hold": {func(f *reviews.Figures) { f.Outlived = []string{"corrupted in mode none: no faults"} },
		"longer than the lease? Without a fence data was lost here although nothing had gone wrong (corrupted"},
	"several-writes": {func(f *reviews.Figures) {
		f.Modes[0].Grounds[reviews.GroundSeveralWrites] = measured(20, 20, 0, "torn")
	}, "more than once"},
	"independent": {func(f *reviews.Figures) { f.Nodes = 5 }, "Are the 5 nodes independent"},
	"stuck":       {func(*reviews.Figures) {}, "in 11 explored runs"},
	"partial":     {func(f *reviews.Figures) { f.Partial = 3 }, "In 3 runs it acted while its process was paused"},
}

// Each question is asked if its figure calls for it, and not otherwise.
func TestQuestionsFollowFromTheFigures(t *testing.T) {
	for _, class := range lock.Faults() {
		questionCases[string(class)] = struct {
			change func(f *reviews.Figures)
			says   string
		}{func(f *reviews.Figures) {
			f.Unpromised, f.Seen = []lock.Fault{class}, map[lock.Fault]int{class: 2}
		}, "Harm was done with " + string(class) + " in 2 of the breaks and scenarios here, and the lock promises nothing " +
			"about it."}
	}
	for _, q := range reviews.Questions() {
		tc, ok := questionCases[q.ID]
		if !ok {
			t.Errorf("no case for the question %s", q.ID)
			continue
		}
		f := soundFigures()
		tc.change(f)
		if got, _ := asked(f, q.ID); !strings.Contains(got, tc.says) {
			t.Errorf("%s does not ask %q: %s", q.ID, tc.says, got)
		}
		if text, ok := asked(quietFigures(), q.ID); ok {
			t.Errorf("%s is asked without a reason: %s", q.ID, text)
		}
	}
}

// quietFigures raise no question.
func quietFigures() *reviews.Figures {
	return &reviews.Figures{Promises: true, Described: true, Nodes: 1}
}

func asked(f *reviews.Figures, id string) (string, bool) {
	for _, q := range f.Questions() {
		if q.ID == id {
			return q.Text, true
		}
	}
	return "", false
}
