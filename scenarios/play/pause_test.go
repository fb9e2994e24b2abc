package play_test

import (
	"context"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// ownTimer is a lock that gives notice of a loss by its own timer, which no seam of
// the world holds: it fires in the middle of a pause.
type ownTimer struct {
	lock.Locker
	ttl time.Duration
}

type ownTimerLease struct {
	lock.Lease
	lost chan struct{}
	stop func() bool
}

func (l ownTimer) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	inner, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	lost := make(chan struct{})
	timer := time.AfterFunc(l.ttl, func() { close(lost) })
	return ownTimerLease{inner, lost, timer.Stop}, nil
}

func (l ownTimerLease) Lost() <-chan struct{} { return l.lost }

func (l ownTimerLease) Release(ctx context.Context) error {
	l.stop()
	return l.Lease.Release(ctx)
}

const pausedInWork = `
name: paused-in-work
why: The holder is paused while it works; its client reacts to the notice of a loss.
lock: {kind: fenced, ttl: 10s}
workload: {rounds: 1, hold: 2s, stagger: 2s, checks_until: lost}
faults:
  - at: 1s
    pause: {process: c0, for: 14s}
`

// When the process resumes, the relay of the notice and the worker continue in
// either order. In some seeds the client learns of the loss in time, in others its
// stale write is already under way. Both are real, with a timer that no seam holds
// (the notice came at 10 s, inside the pause) and with one that the world delays.
func TestPauseShowsBothOrders(t *testing.T) {
	sc, err := file.Parse("paused.yaml", []byte(pausedInWork))
	if err != nil {
		t.Fatal(err)
	}
	held, err := redislocks.Kind("fenced")
	if err != nil {
		t.Fatal(err)
	}
	own := held
	own.New = func(e subject.Env) (lock.Locker, error) {
		inner, err := held.New(e)
		return ownTimer{inner, sc.Lock.TTL}, err
	}
	for name, c := range map[string]struct {
		lock    subject.Lock
		partial bool
	}{"own timer": {own, true}, "timer of the process's clock": {held, false}} {
		t.Run(name, func(t *testing.T) { countOrders(t, sc, c.lock, c.partial) })
	}
}

func countOrders(t *testing.T, sc *file.Scenario, l subject.Lock, partial bool) {
	stale, noticed := 0, 0
	for seed := uint64(1); seed <= 60; seed++ {
		m := testruns.Play(t, sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None},
			Repeat: outcome.Twice}).Modes[0]
		if m.PartialPause != partial {
			t.Fatalf("seed %d: partial pause is %v, want %v", seed, m.PartialPause, partial)
		}
		if wrote(m.History, "c0") {
			stale++
			if m.Verdict.Facts.Data != checker.DataCorrupted {
				t.Errorf("seed %d: c0 wrote after its lease and the data is %s", seed, m.Verdict.Facts.Data)
			}
		} else {
			noticed++
		}
	}
	if stale < 6 || noticed < 6 {
		t.Errorf("of 60 seeds %d had the stale write and %d the notice first: want both orders often", stale, noticed)
	}
	t.Logf("stale write first %d, notice first %d", stale, noticed)
}

func wrote(h checker.History, client string) bool {
	for _, op := range h.Ops {
		if op.Client == client && op.Kind == checker.Write {
			return true
		}
	}
	return false
}
