package search_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// renewer is a lock that renews its leases. It announces a loss when the lease ends and, unless it is silent, as soon
// as a renewal finds the key gone.
type renewer struct {
	lock.Locker
	env    subject.Env
	silent bool
}

type renewedLease struct {
	lock.Lease
	lost chan struct{}
	stop context.CancelFunc
}

func (r renewer) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := r.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	held, stop := context.WithCancel(r.env.Context())
	lease := &renewedLease{l, make(chan struct{}), stop}
	over := sync.OnceFunc(func() { close(lease.lost) })
	go func() {
		for r.env.Clock().Sleep(held, testlocks.TTL/3) == nil {
			_ = l.(lock.Extender).Extend(held)
		}
	}()
	go func() {
		for left := l.Until().Sub(r.env.Clock().Now()); left > 0; left = l.Until().Sub(r.env.Clock().Now()) {
			if r.env.Clock().Sleep(held, left) != nil {
				return
			}
		}
		over()
	}()
	if !r.silent {
		context.AfterFunc(l.Context(), over)
	}
	return lease, nil
}

func (l *renewedLease) Lost() <-chan struct{} { return l.lost }

func (l *renewedLease) Release(ctx context.Context) error {
	l.stop()
	return l.Lease.Release(ctx)
}

// A lock that is told by the answer to a renewal that its key is gone, and tells its holder only when the lease ends,
// is found; one that tells it at once is not.
func TestALossThatIsKnownIsTold(t *testing.T) {
	for _, silent := range []bool{true, false} {
		l := testlocks.UserLock("renewer",
			func(e subject.Env, inner lock.Locker) lock.Locker { return renewer{inner, e, silent} })
		l.Promise.Duties = []promise.Duty{promise.DutyTells}
		space := discovered(t, l, spaces.Space{Faults: []lock.Fault{lock.FaultEviction, lock.FaultFlush}})
		found, runs := 0, uint64(testruns.Soak(t, 200, 0.3))
		for run := range search.Trials(l, search.Drawn(l, space, outcome.Seeds{First: 1, Last: runs})) {
			if run.Err != nil {
				t.Fatal(run.Err)
			}
			if slices.ContainsFunc(run.Violations, func(v outcome.Violation) bool { return v.Label == checker.Misconduct }) {
				found++
			}
		}
		if silent != (found > 0) {
			t.Errorf("silent: %t, misconduct in %d of %d runs", silent, found, runs)
		}
		t.Logf("silent: %t, misconduct in %d of %d runs", silent, found, runs)
	}
}
