package testreports

import (
	"fmt"
	"strings"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

const ms = time.Millisecond

// Scenario is a scenario with two clients, a pause, and the labels to expect.
func Scenario() *file.Scenario {
	return &file.Scenario{
		Name: "gc-pause", Title: "A stop-the-world pause outlives the lease",
		World: file.World{Redis: 1, Clients: 2},
		Faults: []faults.Fault{{When: &faults.Event{Client: "c0", Name: "read", Nth: 1},
			Action: faults.Pause{Process: "c0", For: 15 * time.Second}}},
		Expect: map[string]map[fence.Mode]checker.Label{"fenced": {fence.None: checker.Corrupted,
			fence.Check: checker.Rescued, fence.Seal: checker.Rescued}},
	}
}

// Servers are r0 with a replica, r1, two servers of another kind whose names begin like theirs, a member of each of
// three clusters, and the store.
func Servers() trace.Servers {
	return trace.Servers{
		{Name: "r0", Kind: "redis", Family: "r0", Role: trace.RolePrimary},
		{Name: "r1", Kind: "redis", Role: trace.RoleSingle},
		{Name: "r0a", Kind: "redis", Family: "r0", Role: trace.RoleReplica},
		{Name: "reg0", Kind: "register", Role: trace.RoleSingle}, {Name: "r9", Kind: "register", Role: trace.RoleSingle},
		{Name: "e0", Kind: "etcd", Role: trace.RoleMember}, {Name: "n0", Kind: "nats", Role: trace.RoleMember},
		{Name: "z0", Kind: "zookeeper", Role: trace.RoleMember},
		{Name: trace.Store, Kind: "store", Role: trace.RoleStore},
	}
}

// Outcome is the outcome of the scenario with lock fenced, with the given runs.
func Outcome(runs ...outcome.ModeRun) *outcome.Outcome {
	return &outcome.Outcome{Scenario: Scenario(), Lock: "fenced", Seed: 1, Modes: runs}
}

// Run is a run with a label and the sentences of its reasons.
func Run(mode fence.Mode, label checker.Label, sentences ...string) outcome.ModeRun {
	m := outcome.ModeRun{Mode: mode, Trace: &trace.Trace{Servers: Servers()}, TraceHash: strings.Repeat("0123abcd", 8),
		Events: 369, Virtual: 23318858406, FaultsFired: []bool{true}, LongestWait: 9673990191}
	m.Verdict = checker.Verdict{Label: label, Facts: checker.Facts{Data: checker.DataRight, Liveness: checker.LivenessOK,
		Grants: 5, Attempts: 1, Contended: 4, Operations: 12}}
	for _, s := range sentences {
		m.Verdict.Reasons = append(m.Verdict.Reasons, checker.Reason{Text: s})
	}
	return m
}

// Saved is the first reason of a run in which a fence saved the data.
const Saved = "The store refused what was stale, and that saved the data: without a fence the run ended corrupted."

const (
	lost = "c1's write c1.w2 (step 126) to order/balance was acknowledged. c0's write c0.w2 (step 137), based on the " +
		"initial value, overwrote c1.w2: c1.w2 is lost."
	stale   = "c0's stale write c0.w2 with token 1 was accepted at step 137."
	overlap = "c1 was granted order with token 2 at step 116, while c0 outlived its claim."
)

// Corrupted is a run without a fence in which a stale write was taken.
func Corrupted() outcome.ModeRun {
	m := Run(fence.None, checker.Corrupted, lost, overlap, stale)
	f := &m.Verdict.Facts
	f.Data, f.BeliefOverlaps, f.StaleAccepted, f.LostUpdates = checker.DataCorrupted, 3, 1, 1
	m.Story = Story("takes write c0.w2 (token 1) — a stale write, mode none lets it through")
	return m
}

// Rescued is the same run with a fence that refused the stale write.
func Rescued(mode fence.Mode) outcome.ModeRun {
	m := Run(mode, checker.Rescued, Saved, overlap)
	m.Verdict.Facts.BeliefOverlaps, m.Verdict.Facts.StaleRejected = 3, 1
	m.Story = Story("REFUSES write c0.w2 (token 1) — stale: the fencing token saves the data")
	return m
}

// NotApplicable is a mode that was not run.
func NotApplicable(mode fence.Mode) outcome.ModeRun {
	return outcome.ModeRun{Mode: mode, Verdict: checker.Verdict{Label: checker.NotApplicable}}
}

// Line is a step of a story. The text after a dash is the remark.
func Line(n int, at time.Duration, actor, text string) outcome.Line {
	what, remark, _ := strings.Cut(text, " — ")
	return outcome.Line{N: n, At: at, Actor: actor, What: what, Remark: remark, Text: text}
}

// Fatal marks a step as the decisive one.
func Fatal(l outcome.Line) outcome.Line {
	l.Fatal = true
	return l
}

// Story is a story with a decisive step and many steps after it.
func Story(decision string) []outcome.Line {
	lines := []outcome.Line{
		Line(1, 2, "c0", "asks for the lock"),
		Line(15, 18*ms+761934, "c0", "is granted order token=1"),
		Line(22, 31*ms+500000, "c0", "read c0.r1 found nothing"),
		Line(23, 31*ms+500000, "c0", "PAUSED for 15s"),
		Line(116, 10316*ms, "c1", "is granted order token=2"),
		Line(130, 10400*ms, "world", "CUT OFF c0,c1"),
		Fatal(Line(137, 17322316449, "s0", decision)),
		Line(140, 17327*ms, "c0", "fails to release: lock not held: its key was gone or another's"),
	}
	return append(lines, Steps(150, 9)...)
}

// Steps are uneventful steps of c1.
func Steps(from, count int) []outcome.Line {
	var lines []outcome.Line
	for i := range count {
		lines = append(lines, Line(from+i, time.Duration(18000+i)*ms, "c1", fmt.Sprintf("passes point-%d", i)))
	}
	return lines
}

// Safe is an outcome in which nothing went wrong.
func Safe() *outcome.Outcome {
	calm := Run(fence.None, checker.Safe, "Nothing went wrong in this run.")
	calm.Story = Steps(1, 3)
	fenced := Run(fence.Seal, checker.Safe, "Nothing went wrong in this run.")
	fenced.Story = Steps(1, 3)
	return Outcome(calm, fenced)
}
