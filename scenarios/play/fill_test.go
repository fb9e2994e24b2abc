package play_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

const filling = `name: filling
world: {clients: 3}
lock: {ttl: 5s}
workload: {kind: fill, rounds: 2, hold: 1s, stagger: 10ms, think: 100ms}
`

// fills plays a scenario with a seed, and returns the run in mode none and the number of writes that were sent to each
// register.
func fills(t *testing.T, text string, l subject.Lock) (outcome.ModeRun, map[string]int) {
	t.Helper()
	m := testruns.Play(t, testruns.Parse(t, text), l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
	writes := map[string]int{}
	for _, o := range m.History.Ops {
		if o.Kind == checker.Write {
			writes[o.Register]++
		}
	}
	return m, writes
}

// Each round has a value of its own, which one client computes and all others find.
func TestFill(t *testing.T) {
	m, writes := fills(t, filling, testruns.Kind(t, "fenced"))
	if diff := cmp.Diff(map[string]int{"v1": 1, "v2": 1}, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	f := m.Verdict.Facts
	if m.Verdict.Label != checker.Safe || f.Recomputed != 0 || f.Grants != 6 || f.Operations != 8 || !m.History.Calm {
		t.Errorf("%s, calm %v: %+v", m.Verdict.Label, m.History.Calm, f)
	}
	for _, v := range []string{"v1", "v2"} {
		if m.History.Final[checker.Cell{Resource: "order", Register: v}] == "" {
			t.Errorf("%s is empty in the end", v)
		}
	}
}

// A job is a fill that does not look again, under the name that its user looks for.
func TestJob(t *testing.T) {
	once, _ := fills(t, filling[:len(filling)-2]+", look: once}\n", testruns.Kind(t, "fenced"))
	job, writes := fills(t, strings.Replace(filling, "kind: fill", "kind: job", 1), testruns.Kind(t, "fenced"))
	if diff := cmp.Diff(map[string]int{"v1": 3, "v2": 3}, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if job.Verdict.Label != checker.Repeated || job.TraceHash != once.TraceHash {
		t.Errorf("%s, hash %s: want the run of a fill that looks once, %s", job.Verdict.Label, job.TraceHash, once.TraceHash)
	}
}

// A client that does not look again computes what is there. The lock is not to blame.
func TestFillWithoutSecondLook(t *testing.T) {
	m, writes := fills(t, filling[:len(filling)-2]+", look: once}\n", testruns.Kind(t, "fenced"))
	if diff := cmp.Diff(map[string]int{"v1": 3, "v2": 3}, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if f := m.Verdict.Facts; m.Verdict.Label != checker.Repeated || f.Recomputed != 4 || f.WorkTwice != 0 ||
		f.Data != checker.DataRight {
		t.Errorf("%s: %+v", m.Verdict.Label, f)
	}
}

// perClient is a lock of each client alone: it excludes no other.
type perClient struct {
	lock.Locker
	client string
}

func (l perClient) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return l.Locker.Acquire(ctx, resource+l.client)
}

// A lock that excludes no client has each client compute each value, which breaks its promise in every mode: a fence
// does not prevent work.
func TestFillWithALockThatExcludesNobody(t *testing.T) {
	l := testlocks.UserLock("selfish", func(e subject.Env, l lock.Locker) lock.Locker { return perClient{l, e.Name()} })
	sc := testruns.Parse(t, filling)
	o := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None, fence.Claim, fence.CAS}})
	for _, m := range o.Modes {
		if f := m.Verdict.Facts; f.Recomputed != 4 || f.WorkTwice != 4 || f.Data != checker.DataRight {
			t.Errorf("mode %s: %s, %+v", m.Mode, m.Verdict.Label, f)
		}
		if !slices.Contains(outcome.Violations(o, lock.Promise{}), outcome.Violation{Mode: m.Mode, Label: checker.Repeated}) {
			t.Errorf("mode %s: no violation", m.Mode)
		}
	}
}

// Work that is done again after a pause or a crash of the first worker is none that the lock should have prevented.
func TestFillAfterAFault(t *testing.T) {
	for _, c := range []struct {
		name, fault       string
		label             checker.Label
		v1, again, broken int
	}{
		{"paused beyond the lease", "{when: {client: c0, event: read}, pause: {process: c0, for: 8s}}", checker.Repeated, 2,
			1, 0},
		{"crashed at work", "{when: {client: c0, event: read}, after: 500ms, crash: {process: c0}}", checker.Safe, 1, 0, 0},
		{"crashed with its write sent", "{when: {client: c0, event: write}, after: 1us, crash: {process: c0}}", checker.Safe,
			1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, writes := fills(t, filling+"faults: ["+c.fault+"]\n", testruns.Kind(t, "fenced"))
			f := m.Verdict.Facts
			if m.Verdict.Label != c.label || writes["v1"] != c.v1 || f.Recomputed != c.again || f.WorkTwice != c.broken {
				t.Errorf("%s, %d writes: %+v\n%v", m.Verdict.Label, writes["v1"], f, m.Verdict.Reasons)
			}
			if v := outcome.Violations(&outcome.Outcome{Modes: []outcome.ModeRun{m}},
				testruns.Kind(t, "fenced").Promise); len(v) > 0 {
				t.Errorf("violations: %v", v)
			}
		})
	}
}
