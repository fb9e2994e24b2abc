package play_test

import (
	"fmt"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
)

const leading = `name: leading
world: {clients: 3}
lock: {ttl: 5s}
workload: {kind: leader, rounds: 2, hold: 500ms, checks_until: steps%s}
faults: [%s]
`

// lead plays a workload of leaders, with more of the workload and with faults, and returns the run in a mode.
func lead(t *testing.T, lock, more, faults string, mode fence.Mode) outcome.ModeRun {
	t.Helper()
	sc := testruns.Parse(t, fmt.Sprintf(leading, more, faults))
	return testruns.Play(t, sc, testruns.Kind(t, lock), play.RunOptions{Seed: 1, Modes: []fence.Mode{mode},
		Alone: true}).Modes[0]
}

// ticksOf counts the writes of each grant, in the order of granting.
func ticksOf(h checker.History) []int {
	ticks := make([]int, len(h.Grants))
	for _, o := range h.Ops {
		if o.Kind == checker.Write {
			ticks[o.Grant-1]++
		}
	}
	return ticks
}

// Each client leads for as many terms as it has rounds. It makes all its ticks and resigns, and nothing is lost.
func TestLeadersTakeTurns(t *testing.T) {
	m := lead(t, "watchdog", ", ticks: 4, think: 100ms", "", fence.None)
	ticks := ticksOf(m.History)
	if m.Verdict.Label != checker.Safe || len(ticks) != 6 || m.Verdict.Facts.Contended == 0 {
		t.Fatalf("%s, ticks %v", m.Verdict.Label, ticks)
	}
	for _, n := range ticks {
		if n != 4 {
			t.Errorf("ticks %v, want 4 in each term", ticks)
		}
	}
}

// A leader whose lease is not renewed stops when it ends, unless it extends it in its ticks, and campaigns again.
func TestLeaderStopsWithItsLease(t *testing.T) {
	sc := testruns.Parse(t, fmt.Sprintf(leading, ", ticks: 6", ""))
	sc.Lock.TTL = 1200 * time.Millisecond
	m := testruns.Play(t, sc, testruns.Kind(t, "fenced"),
		play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
	for i, n := range ticksOf(m.History) {
		if n > 2 {
			t.Errorf("grant %d made %d ticks of half a second in a lease of 1.2 s", i+1, n)
		}
	}
	if got := len(m.History.Grants); got != 6 {
		t.Errorf("%d terms, want 6: a leader that has stopped campaigns again", got)
	}
	for i, n := range ticksOf(lead(t, "fenced", ", ticks: 4, extend: 1", "", fence.None).History) {
		if n != 4 {
			t.Errorf("grant %d made %d ticks, although it extends its lease in each", i+1, n)
		}
	}
}

// One that is cut off from the lock alone stops at once, in its own time, or not at all.
func TestLeaderStopsInItsOwnTime(t *testing.T) {
	const cut = "{when: {client: c0, event: granted}, partition: {between: [c0], and: [r0], for: 60s}}"
	first := func(more string) int {
		m := lead(t, "watchdog", ", stagger: 1s, ticks: 60"+more, cut, fence.None)
		return ticksOf(m.History)[0]
	}
	long := first("")
	later := first(", stop: 3s")
	if long < 8 || long > 10 || later < long+5 || later > long+6 {
		t.Errorf("%d ticks in a lease of 5 s, and %d by a leader that takes 3 s to stop", long, later)
	}
}

// A leader that the fence refuses stops, and one that resigns early is refused its last write if another one has read.
func TestLeaderIsRefused(t *testing.T) {
	const pause = "{when: {client: c0, event: write, nth: 2}, pause: {process: c0, for: 8s}}"
	m := lead(t, "fenced", ", ticks: 4, stagger: 1s", pause, fence.Seal)
	if got := ticksOf(m.History)[0]; got != 2 || m.Verdict.Facts.StaleRejected != 1 ||
		m.Verdict.Facts.Data != checker.DataRight {
		t.Errorf("%d writes: %+v", got, m.Verdict.Facts)
	}
	early := lead(t, "fenced", ", release: early, ticks: 4, think: 0s, stagger: 1s",
		"{when: {client: c0, event: released}, pause: {process: c0, for: 3s}}", fence.None)
	if early.Verdict.Label != checker.Corrupted {
		t.Errorf("a leader that resigns before its last write: %s", early.Verdict.Label)
	}
}

// Faults can strike when a leader is told to stop.
func TestLeaderIsToldAtAPoint(t *testing.T) {
	m := lead(t, "watchdog", ", stagger: 1s, ticks: 60, stop: 1s", "{when: {client: c0, event: granted}, partition: "+
		"{between: [c0], and: [r0], for: 60s}}, {when: {client: c0, event: stopping}, crash: {process: c0}}", fence.None)
	if m.History.Grants[0].Crashed == 0 {
		t.Error("the leader did not crash when it was told to stop")
	}
}
