package testreports

import (
	"strings"
	"time"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/outcome/tally"
)

// counted are the counts of the labels of some runs within the promise.
func counted(runs int, labels map[checker.Label]int) map[reviews.Ground]reviews.Count {
	return map[reviews.Ground]reviews.Count{reviews.GroundPromised: {Scenarios: 2, Runs: runs, Labels: labels}}
}

// foundBreak is a failure with a label in mode seal, in which the lock is judged.
func foundBreak(shape string, from reviews.From, label checker.Label, effects ...reviews.FenceEffect) reviews.Failure {
	b := reviews.Failure{
		From: from, Of: 540,
		Replay: "go run ./cmd/locksim explore --lock fenced --from-seed 7 --runs 1",
		Failure: failure.Failure{Shape: shape, Runs: 3, Seed: 7, Drawn: 3, Faults: 1,
			Violations: []outcome.Violation{{Mode: fence.Seal, Label: label}},
			Reasons:    []string{"c0's write c0.w2 is lost"},
			Story: []failure.Step{
				{N: 1, Actor: "c0", Text: "asks for the lock"},
				{N: 24, At: 4 * time.Millisecond, Actor: "c0", Text: "PAUSED for 15s"},
				{Skipped: 12},
				{N: 42, At: 15010 * time.Millisecond, Actor: "s0", Text: "takes write c0.w2 (token 1) — a stale write",
					Fatal: true},
			},
			Run: &outcome.RunFile{Source: "name: drawn\nworld: {redis: 1}\n"}},
	}
	b.Classes = append(b.Classes, "pause")
	for i, e := range effects {
		label := map[reviews.FenceEffect]checker.Label{reviews.NoFence: checker.Corrupted,
			reviews.FenceRescues: checker.Rescued,
			reviews.FenceCosts:   checker.FalseReject, reviews.FenceFails: checker.Corrupted,
			reviews.FenceNeedsTokens: checker.NotApplicable}[e]
		b.Fences = append(b.Fences, reviews.Fence{Mode: fence.Modes()[i], Label: label, Effect: e})
	}
	return b
}

// Review is a review with every kind of content.
func Review() *reviews.Review {
	m := Matrix([]string{"fenced"}, map[string][]string{"calm": {"......"}, "gc-pause": {"XXrrrF"}})
	r := &reviews.Review{
		Plan: reviews.Plan{Lock: "fenced", Seeds: outcome.Seeds{First: 1, Last: 20}, Runs: 3000, AllRuns: 600,
			Swept: "gc-pause"},
		Lock: reviews.Lock{Name: "fenced", About: "A key that counts a token up.", Nodes: 1, Tokens: true, Promises: true,
			Judged: fence.Seal},
		Answer: "For efficiency: suitable. None of this is a proof.",
		Failures: []reviews.Failure{
			foundBreak("corrupted in mode seal: pause", reviews.FromPromise, checker.Corrupted,
				reviews.NoFence, reviews.FenceFails, reviews.FenceFails, reviews.FenceCosts, reviews.FenceRescues,
				reviews.FenceRescues),
			foundBreak("stuck in mode none: crash", reviews.FromSweep, checker.Stuck, reviews.NoFence, reviews.FenceNeedsTokens),
			foundBreak("overlap in mode seal: flush", reviews.FromAll, checker.Overlap, reviews.NoFence),
		},
		Scenarios: []reviews.Scenario{
			{Name: "calm", Title: "Nothing happens", Ground: reviews.GroundPromised, Cells: m.Cells[:6],
				Replay: "go run ./cmd/locksim run calm"},
			{Name: "gc-pause", Title: "A pause", Catalogue: []string{"F11"}, Ground: reviews.GroundOutside,
				Cells: m.Cells[6:], Replay: "go run ./cmd/locksim run gc-pause"},
		},
		NotRun:     []reviews.Gap{{What: "split-vote", Why: "the scenario is not about this lock"}},
		Catalogue:  []reviews.Gap{{What: "F47 Lua", Why: "it is gone"}},
		NeverDrawn: neverDrawn,
		Go:         "go1.26.8", Modules: map[string]string{"github.com/redis/go-redis/v9": "v9.23.0"},
	}
	p := &r.Lock.Promise
	p.Exclusion, p.Data, p.FreeWithin = append(p.Exclusion, "pause", "crash"), "seal", "ttl + backoff + round trip"
	p.Duties, p.ReturnsWithin = append(p.Duties, "ends", "returns"), "release timeout"
	r.Lock.Unpromised = append(r.Lock.Unpromised, "flush")
	r.Scenarios[1].Classes = append(r.Scenarios[1].Classes, "pause")
	r.Matrix, r.Within, r.All = m, explorationFor(explorations.JudgePromise, 0),
		explorationFor(explorations.JudgeEverything, 41)
	r.Missing = []reviews.Gap{{What: "a sweep of gc-pause", Why: "3,807 placements would take longer than all the rest"}}
	r.Figures = reviews.Figures{
		Promises: true, Data: fence.Seal, Nodes: 1, Described: true, Partial: 2,
		Modes: []reviews.Mode{
			{Mode: fence.None, Grounds: counted(40, map[checker.Label]int{checker.Corrupted: 20, checker.Safe: 20})},
			{Mode: fence.Seal, Grounds: counted(40, map[checker.Label]int{checker.Rescued: 20, checker.Safe: 20})},
		},
		Within: tally.Tally{Runs: 3000, Evidence: 2700},
		All:    tally.Tally{Runs: 600, Evidence: 540, Violating: 41, Violations: map[checker.Label]int{checker.Overlap: 41}},
	}
	count(&r.Figures.Seen, "pause", 2)
	r.Advice, r.Questions = r.Figures.Advice(), r.Figures.Questions()
	return r
}

// neverDrawn are the kinds of fault that no schedule of the review has.
var neverDrawn = strings.Fields("restart slow kill_worker exhaust_pool clock_jump clock_drift clock_freeze latency " +
	"bandwidth slice slow_close lose_reply delay_message partition reset refuse stall failover evict flush read_only")

// explorationFor is an exploration with a number of violating runs.
func explorationFor(judge explorations.Judge, violating int) *explorations.Exploration {
	e := &explorations.Exploration{Complete: true}
	e.Plan.Judge, e.Plan.Space.Faults = judge, append(e.Plan.Space.Faults, "pause", "crash")
	e.Summary.Runs, e.Summary.Evidence, e.Summary.Violating = 600, 540, violating
	e.Summary.Vacuous = map[string]int{"nobody contended": 60}
	e.Summary.Classes = map[lock.Fault]tally.ClassTally{"pause": {Struck: 240, Evidence: 210}}
	e.Summary.Faults = map[string]tally.FaultTally{"pause": {Planned: 300, Struck: 210}, "crash": {Planned: 4}}
	e.Summary.RateBound, e.Summary.VirtualSeconds = tally.RateBound(violating, 540), 7300
	if violating == 0 {
		e.Summary.Novelty = &tally.Novelty{Courses: 60, Once: 27, Rate: 0.05}
	}
	return e
}

// HostileReview is [Review] with markup in every text that comes from a user.
func HostileReview() *reviews.Review {
	const bad = "<script>alert(1)</script>|`*x*"
	r := Review()
	r.Lock.Name, r.Lock.About, r.Answer = bad, bad, bad
	b := &r.Failures[0]
	b.Shape, b.Replay, b.Reasons, b.Story, b.Run.Source = bad, bad, []string{bad},
		[]failure.Step{{N: 1, Actor: bad, Text: bad, Fatal: true}}, bad
	r.Scenarios[1].Title, r.Scenarios[1].Replay = bad, bad
	r.NotRun[0].What, r.NotRun[0].Why, r.Missing[0].Why = bad, bad, bad
	return r
}
