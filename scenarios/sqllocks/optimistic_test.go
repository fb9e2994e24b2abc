package sqllocks_test

import (
	"slices"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/sqllocks"
	"locksim/sim/trace"
)

// Without a lock a paused client overwrites what others have written, unless its write compares the version that it has
// read. Nobody is kept out, and nothing counts as an overlap.
func TestOptimistic(t *testing.T) {
	testruns.NeedsPostgres(t)
	sc, _ := testruns.Load(t, "gc-pause")
	o := testruns.Play(t, sc, sqllocks.Optimistic(), scenarios.RunOptions{Seed: 1})
	for i, want := range []struct {
		mode  fence.Mode
		label checker.Label
	}{{fence.None, checker.Corrupted}, {fence.CAS, checker.Rescued}} {
		m := o.Modes[i]
		if f := m.Verdict.Facts; m.Mode != want.mode || m.Verdict.Label != want.label ||
			f.ClaimOverlaps+f.BeliefOverlaps+f.FalseRejects > 0 || f.Contended == 0 {
			t.Errorf("mode %s: %s, %+v", m.Mode, m.Verdict.Label, f)
		}
	}
}

// A client whose write is refused reads and works again, and gives up after the third time.
func TestOptimisticGivesUp(t *testing.T) {
	testruns.NeedsPostgres(t)
	sc, err := scenarios.Parse("crowd.yaml", []byte(`
name: crowd
world: {postgres: 1, clients: 6, latency: 1ms..5ms}
lock: {kind: sql-optimistic, ttl: 10s, backoff: 10ms..20ms}
workload: {rounds: 2, hold: 500ms, think: 0s}
`))
	if err != nil {
		t.Fatal(err)
	}
	m := testruns.Play(t, sc, sqllocks.Optimistic(),
		scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.CAS}}).Modes[0]
	refused, again, gaveUp := map[string]int{}, 0, 0 // refused by client, in a row
	for _, e := range m.Trace.Events {
		mark, ok := e.What.(trace.Mark)
		switch {
		case !ok:
		case mark.Step == trace.Granted && refused[e.Actor] > 0:
			again++
		case mark.Step == trace.Written && mark.Outcome == string(checker.OutcomeRefused):
			refused[e.Actor]++
		case mark.Step == trace.Written:
			refused[e.Actor] = 0
		case mark.Label == trace.PointGaveUp:
			if gaveUp++; refused[e.Actor] != 3 {
				t.Errorf("%s gave up after %d refusals", e.Actor, refused[e.Actor])
			}
			refused[e.Actor] = 0
		}
	}
	if again == 0 || gaveUp == 0 || m.Verdict.Facts.Data != checker.DataRight {
		t.Errorf("%d sections were done again, %d given up; the data is %s", again, gaveUp, m.Verdict.Facts.Data)
	}
}

// The promise is about the data alone, and only the comparison keeps it: another mode is refused.
func TestUnlockedPromise(t *testing.T) {
	l := sqllocks.Optimistic()
	if err := l.Validate(); err != nil || !slices.Contains(l.Promise.Exclusion, lock.FaultPause) {
		t.Errorf("%+v, error %v", l.Promise, err)
	}
	if l.Promise.Data = string(fence.Claim); l.Validate() == nil {
		t.Error("no lock and the mode claim is no error")
	}
}

// Nothing breaks the promise. With LOCKSIM_SOAK=1 it is 3,000 runs.
func TestOptimisticKeepsItsPromise(t *testing.T) {
	testruns.NeedsPostgres(t)
	scenarios.Check(t, sqllocks.Optimistic(), scenarios.Options{Runs: testruns.Soak(t, 3000, 0.01), Seed: 1,
		Dir: t.TempDir()})
}
