package play_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// slow asks for a lock once in three seconds.
type slow struct {
	lock.Locker
	sleep func(context.Context, time.Duration) error
}

func (s slow) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	for {
		l, err := s.Locker.(lock.Trier).TryAcquire(ctx, resource)
		if !errors.Is(err, lock.ErrTaken) {
			return l, err
		}
		if err := s.sleep(ctx, 3*time.Second); err != nil {
			return nil, err
		}
	}
}

// A client that asks seldom starves among others that ask often, which breaks the promise of an order.
func TestStarved(t *testing.T) {
	sc := testruns.Parse(t, "name: crowd\nworld: {clients: 5, latency: 1ms..2ms}\nlock: {ttl: 10s, backoff: 2ms..10ms}\n"+
		"workload: {rounds: 60, hold: 20ms, think: 1ms}\n")
	starving := testruns.Kind(t, "single")
	newLocker := starving.New
	starving.Name = "starving"
	starving.New = func(e subject.Env) (lock.Locker, error) {
		l, err := newLocker(e)
		if e.Name() == "c0" {
			return slow{l, e.Clock().Sleep}, err
		}
		return l, err
	}
	ordered := starving
	ordered.Name = "ordered"
	ordered.Promise.Order = lock.FIFO
	for _, c := range []struct {
		lock           subject.Lock
		starved, broke bool
	}{
		{testruns.Kind(t, "fair"), false, false}, {starving, true, false}, {ordered, true, true},
	} {
		o := testruns.Play(t, sc, c.lock, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
		m := o.Modes[0]
		if (m.Verdict.Facts.Starved > 0) != c.starved {
			t.Errorf("%s: %d starved: %+v", c.lock.Name, m.Verdict.Facts.Starved, checker.WaitsOf(m.History))
		}
		broken := outcome.Violations(o, c.lock.JudgedBy())
		if slices.ContainsFunc(broken, func(v outcome.Violation) bool { return v.Label == checker.Overtaken }) != c.broke {
			t.Errorf("%s: violations %v, want overtaken: %t", c.lock.Name, broken, c.broke)
		}
	}
}
