package review_test

import (
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/review"
)

// reviewLabels counts runs by label, from pairs.
type reviewLabels = map[checker.Label]int

// measured is one ground of one mode.
func measured(runs, corrupted, refused int, where ...string) review.Count {
	return review.Count{Scenarios: 2, Runs: runs, Corrupted: where,
		Labels: reviewLabels{checker.Corrupted: corrupted, checker.FalseReject: refused, checker.Rescued: 3}}
}

// soundFigures are the figures of a lock that keeps its promise, which loses data
// without a fence and none within its promise with one.
func soundFigures() *review.Figures {
	grounds := func(within, outside review.Count) map[review.Ground]review.Count {
		return map[review.Ground]review.Count{review.GroundPromised: within, review.GroundOutside: outside}
	}
	return &review.Figures{
		Promises: true, Data: fence.Seal, Nodes: 1, Described: true,
		Modes: []review.Mode{
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
	change  func(f *review.Figures)
	use     review.Use
	rule    string
	verdict review.Verdict
	fence   fence.Mode
	says    []string
}

var adviceCases = []adviceCase{
	{func(f *review.Figures) { f.Doubtful = 2 }, review.ForEfficiency, "doubtful", review.Undecided, "", []string{"2 runs differed"}},
	{func(f *review.Figures) { f.Doubtful = 1 }, review.ForCorrectness, "doubtful", review.Undecided, "", []string{"1 run differed"}},
	{func(f *review.Figures) { f.Faultless = []string{"overlap in mode none: no faults"} }, review.ForCorrectness, "faultless", review.NotSuitable, "", []string{"without any fault (overlap in mode none: no faults)"}},
	{func(f *review.Figures) { f.Within.Violating = 7 }, review.ForEfficiency, "promise-broken", review.NotSuitable, "", []string{"breaks its own promise, in 7 of 2,700 explored runs"}},
	{func(f *review.Figures) { f.Swept.Violating = 3 }, review.ForCorrectness, "promise-broken", review.NotSuitable, "", []string{"3 of 1,108 placements"}},
	{func(f *review.Figures) { f.Within.Calls.NotHeld = 70 }, review.ForEfficiency, "unproven", review.NotSuitable, "", []string{"no Release succeeded, of 70"}},
	{func(f *review.Figures) { f.All.Unknown = map[string]int{"Redis 7.0.15 does not know the command X": 1} }, review.ForCorrectness, "unproven", review.NotSuitable, "", []string{"does not know the command X"}},
	{func(f *review.Figures) { f.Within.Evidence = 299 }, review.ForEfficiency, "thin", review.Undecided, "", []string{"Only 299 runs are evidence", "up to 1 %"}},
	{func(f *review.Figures) { f.Within.Evidence = 300 }, review.ForEfficiency, "kept", review.Suitable, "", []string{"300 explored runs"}},
	{func(f *review.Figures) { f.Within.Evidence = 0 }, review.ForCorrectness, "thin", review.Undecided, "", []string{"Only 0 runs are evidence", "up to 100 %"}},
	{func(f *review.Figures) { f.Promises, f.All.Evidence, f.Swept.Evidence = false, 200, 99 }, review.ForCorrectness, "thin", review.Undecided, "", []string{"Only 299 runs"}},
	{func(f *review.Figures) { f.Promises = false }, review.ForEfficiency, "unpromised", review.WithCare, "", []string{"promises nothing", "41 of 540", "stuck 11, overlap 30"}},
	{func(f *review.Figures) {
		f.Promises, f.All.Violating, f.All.Violations = false, 0, nil
		f.Swept.Violating, f.Swept.Violations = 5, reviewLabels{checker.Overlap: 5}
	}, review.ForEfficiency, "unpromised", review.WithCare, "", []string{"so did 5 of 1,108 placements of a single fault (overlap 5)"}},
	{func(*review.Figures) {}, review.ForEfficiency, "kept", review.Suitable, "", []string{"2,700 explored runs", "below 0.11 %", "no proof", "41 of 540", "work that waits"}},
	{func(f *review.Figures) { f.All.Violations = reviewLabels{checker.FalseReject: 4} }, review.ForEfficiency, "kept", review.Suitable, "", []string{"a fence refuses"}},
	{func(f *review.Figures) { f.All.Violating = 0 }, review.ForEfficiency, "unbroken", review.Suitable, "", []string{"3,240 explored runs", "That is no proof"}},
	{func(f *review.Figures) { f.Modes = nil }, review.ForCorrectness, "unmeasured", review.Undecided, "", []string{"No recommendation"}},
	{func(f *review.Figures) {
		for i := range f.Modes {
			f.Modes[i].Grounds = map[review.Ground]review.Count{review.GroundPromised: measured(400, 0, 0)}
		}
	}, review.ForCorrectness, "not-refuted", review.WithCare, "", []string{"no data was lost without a fence in 400 runs of 2 scenarios", "no proof"}},
	{func(*review.Figures) {}, review.ForCorrectness, "fence", review.BehindFence, fence.Seal, []string{
		"the rule seal", "Without a fence data was lost in 180 of 400 runs within the promise and in 150 of 200 runs outside it", "with it data was lost in 0 of 400 runs"}},
	{func(f *review.Figures) { f.Data = "" }, review.ForCorrectness, "fence", review.BehindFence, fence.Seal, []string{"seal"}},
	{func(f *review.Figures) { // now the fence that the promise names lost data once
		f.Modes[2].Grounds[review.GroundPromised] = measured(400, 1, 0, "gc-pause")
	}, review.ForCorrectness, "fence", review.BehindFence, fence.Claim, []string{"the rule claim"}},
	{func(f *review.Figures) { // and so did the other
		f.Modes[2].Grounds[review.GroundPromised] = measured(400, 1, 0, "gc-pause")
		f.Modes[3].Grounds[review.GroundPromised] = measured(400, 2, 0, "gc-pause")
	}, review.ForCorrectness, "no-fence-helps", review.NotSuitable, "", []string{"no fence that was measured", "with the best, seal, data was lost in 1 of 400"}},
	{func(f *review.Figures) { // no scenario lost data, a break did
		f.Promises = false
		f.Modes[2].Grounds[review.GroundOutside] = measured(200, 0, 0)
		f.Modes[2].Failures = review.Count{Runs: 4, Labels: reviewLabels{checker.Corrupted: 1}}
		f.Modes[3].Failures = review.Count{Runs: 4}
	}, review.ForCorrectness, "fence", review.BehindFence, fence.Claim, []string{"0 of 4 breaks found here"}},
}

// The text of a recommendation follows from the figures: other figures, other text.
func TestAdviceFollowsFromTheFigures(t *testing.T) {
	seen := map[string]bool{}
	for _, tc := range adviceCases {
		f := soundFigures()
		tc.change(f)
		a := f.Advice()[slices.Index([]review.Use{review.ForEfficiency, review.ForCorrectness}, tc.use)]
		seen[tc.rule] = true
		if a.Use != tc.use || a.Rule != tc.rule || a.Verdict != tc.verdict || a.Fence != tc.fence {
			t.Errorf("%s, %s: got %s, %s, %q for %s: %s", tc.use, tc.rule, a.Rule, a.Verdict, a.Fence, a.Use, a.Text)
		}
		for _, part := range tc.says {
			if !strings.Contains(a.Text, part) {
				t.Errorf("%s, %s does not say %q: %s", tc.use, tc.rule, part, a.Text)
			}
		}
		if text := a.Text + strings.Join(a.Reasons, " ") + string(a.Verdict); strings.Contains(strings.ToLower(text), "safe") {
			t.Errorf("%s, %s calls something safe: %s", tc.use, tc.rule, text)
		}
	}
	for _, use := range []review.Use{review.ForEfficiency, review.ForCorrectness} {
		for _, r := range review.Rules(use) {
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
		remove func(f *review.Figures)
	}{
		{"1,108 placements, 0 with a violation", 0, func(f *review.Figures) { f.Swept.Runs = 0 }},
		{"two clients had the lock at once in 30 explored runs", 0, func(f *review.Figures) { f.All.Violations[checker.Overlap] = 0 }},
		{"the lock did not become free by itself in 11 explored runs", 0, func(f *review.Figures) { f.All.Violations[checker.Stuck] = 0 }},
		{"Outside its promise seal does not always help: data was lost in flushall.", 1, func(f *review.Figures) {
			f.Modes[2].Grounds[review.GroundOutside] = measured(200, 0, 20)
		}},
		{"the rule claim does better: data was lost in 0 of 200 runs; at the price of 25 of 400 runs within it", 1, func(f *review.Figures) {
			f.Modes[3].Grounds[review.GroundOutside] = measured(200, 90, 0, "flushall")
		}},
		{"needs no lock at all: data was lost in 0 of 400 runs", 1, func(f *review.Figures) { f.Modes = f.Modes[:4] }},
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
	change func(f *review.Figures)
	says   string
}{
	"describe": {func(f *review.Figures) { f.Described = false }, "How does the lock work?"},
	"promise":  {func(f *review.Figures) { f.Promises = false }, "What does the lock promise"},
	"fence":    {func(*review.Figures) {}, "the rule seal to every operation? It rescued the data in 6 runs"},
	"ttl": {func(f *review.Figures) { f.Seen = map[lock.Fault]int{lock.FaultPause: 4, lock.FaultStall: 1} },
		"Harm was done with pause in 4, with stall in 1 of the breaks and scenarios here"},
	"hold": {func(f *review.Figures) { f.Outlived = []string{"corrupted in mode none: no faults"} }, "longer than the lease? Without a fence data was lost here although nothing had gone wrong (corrupted"},
	"several-writes": {func(f *review.Figures) {
		f.Modes[0].Grounds[review.GroundSeveralWrites] = measured(20, 20, 0, "torn")
	}, "more than once"},
	"independent": {func(f *review.Figures) { f.Nodes = 5 }, "Are the 5 nodes independent"},
	"stuck":       {func(*review.Figures) {}, "in 11 explored runs"},
	"partial":     {func(f *review.Figures) { f.Partial = 3 }, "In 3 runs it acted while its process was paused"},
}

// Each question is asked if its figure calls for it, and not otherwise.
func TestQuestionsFollowFromTheFigures(t *testing.T) {
	for _, class := range lock.Faults() {
		questionCases[string(class)] = struct {
			change func(f *review.Figures)
			says   string
		}{func(f *review.Figures) {
			f.Unpromised, f.Seen = []lock.Fault{class}, map[lock.Fault]int{class: 2}
		}, "Harm was done with " + string(class) + " in 2 of the breaks and scenarios here, and the lock promises nothing about it."}
	}
	for _, q := range review.Questions() {
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
func quietFigures() *review.Figures {
	return &review.Figures{Promises: true, Described: true, Nodes: 1}
}

func asked(f *review.Figures, id string) (string, bool) {
	for _, q := range f.Questions() {
		if q.ID == id {
			return q.Text, true
		}
	}
	return "", false
}
