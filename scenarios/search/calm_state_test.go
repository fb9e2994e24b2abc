package search_test

import (
	"context"
	"testing"
	"time"

	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// asksNobody grants each twentieth Acquire without asking a server.
type asksNobody struct {
	lock.Locker
	clock lock.Clock
	n     int
}

func (l *asksNobody) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	if l.n++; l.n%20 == 0 {
		return unasked{l.clock.Now().Add(testlocks.TTL)}, nil
	}
	return l.Locker.Acquire(ctx, name)
}

// unasked is a lease of which no server knows.
type unasked struct{ until time.Time }

func (unasked) Token() uint64                 { return 0 }
func (l unasked) Until() time.Time            { return l.until }
func (unasked) Lost() <-chan struct{}         { return nil }
func (unasked) Context() context.Context      { return context.Background() }
func (unasked) Release(context.Context) error { return nil }

// cutsNames looks at the first twenty bytes of a name.
type cutsNames struct{ lock.Locker }

func (l cutsNames) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return l.Locker.Acquire(ctx, name[:min(20, len(name))])
}

// oneLease remembers its last lease alone, and releases that one.
type oneLease struct {
	lock.Locker
	last lock.Lease
}

func (l *oneLease) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, name)
	if err == nil {
		l.last = lease
		lease = lastLease{lease, l}
	}
	return lease, err
}

type lastLease struct {
	lock.Lease
	of *oneLease
}

func (l lastLease) Release(ctx context.Context) error { return l.of.last.Release(ctx) }

// Locks that fail after many calls, with names that are nearly the same, or with two leases at once, fail without a
// fault, and in drawn runs.
func TestLocksThatMixUpTheirCalls(t *testing.T) {
	for name, c := range map[string]struct {
		wrap  func(e subject.Env, l lock.Locker) lock.Locker
		calm  uint64 // the seed of the calm run that fails
		drawn uint64 // the seeds within which one fails
	}{
		"asks-nobody": {func(e subject.Env, l lock.Locker) lock.Locker { return &asksNobody{Locker: l, clock: e.Clock()} },
			10,
			1500},
		"cuts-names": {func(_ subject.Env, l lock.Locker) lock.Locker { return cutsNames{l} }, 11, 1500},
		"one-lease":  {func(_ subject.Env, l lock.Locker) lock.Locker { return &oneLease{Locker: l} }, 11, 1500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testlocks.UserLock(name, c.wrap)
			l.Promise = testlocks.Correct(name).Promise
			space := discovered(t, l, spaces.Space{})
			calm := uint64(0)
			for trial := range search.CalmTrials(l, space) {
				if len(trial.Violations) > 0 {
					calm = trial.Seed
					t.Logf("calm run %d: %s", calm, trial.Violations)
					break
				}
			}
			if calm != c.calm {
				t.Errorf("the calm run %d fails, want %d", calm, c.calm)
			}
			for trial := range search.PlayEach(l, search.Drawn(l, space, outcome.Seeds{First: 1, Last: c.drawn})) {
				if len(trial.Violations) > 0 {
					t.Logf("seed %d: %s", trial.Seed, trial.Violations)
					return
				}
			}
			t.Errorf("no run of %d fails", c.drawn)
		})
	}
}
