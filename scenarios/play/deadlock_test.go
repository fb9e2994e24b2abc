package play_test

import (
	"context"
	"strings"
	"sync"
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

// stopping is a lock with a loop for each lease, whose Release keeps the mutex that the loop wants, and waits for its
// end.
type stopping struct {
	lock.Locker
	mu sync.Mutex
}

type stoppingLease struct {
	lock.Lease
	of   *stopping
	done chan struct{}
}

func (l *stopping) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	inner, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	s := &stoppingLease{inner, l, make(chan struct{})}
	go func() {
		defer close(s.done)
		time.Sleep(time.Second)
		l.mu.Lock()
		defer l.mu.Unlock()
	}()
	return s, nil
}

func (l *stoppingLease) Release(ctx context.Context) error {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	<-l.done
	return l.Lease.Release(ctx)
}

// A lock that waits for itself for ever is stuck, up to the event after which virtual time stood still, and the same
// each time.
func TestDeadlockOfTheLocksOwn(t *testing.T) {
	l := testruns.Kind(t, "single")
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		locker, err := inner(e)
		return &stopping{Locker: locker}, err
	}
	sc := testruns.Parse(t, "name: stopping\nlock: {ttl: 10s}\nworkload: {hold: 100ms}\n")
	o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Repeat: outcome.Twice})
	if err != nil {
		t.Fatal(err)
	}
	const says = "is in a deadlock of the lock's own: a goroutine waits for ever for a mutex in " +
		"locksim/scenarios/play_test.(*stopping)."
	v := o.Modes[0].Verdict
	if v.Label != checker.Stuck || !strings.Contains(v.Reasons[0].Text, says) {
		t.Errorf("%s: %+v", v.Label, v.Reasons)
	}
}
