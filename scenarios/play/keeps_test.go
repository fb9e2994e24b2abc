package play_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// unfaithful is a lock whose leases or errors are others.
type unfaithful struct {
	lock.Locker
	lease func(lock.Lease) lock.Lease
	err   func(error) error
}

func (a unfaithful) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := a.Locker.Acquire(ctx, resource)
	switch {
	case err != nil && a.err != nil:
		return nil, a.err(err)
	case err != nil || a.lease == nil:
		return l, err
	}
	return a.lease(l), nil
}

// patient is a lock whose TryAcquire waits.
type patient struct{ lock.Locker }

func (p patient) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	return p.Acquire(ctx, resource)
}

// unfaithfulLease is a lease with other methods where they are set.
type unfaithfulLease struct {
	lock.Lease
	token   func() uint64
	ctx     func() context.Context
	release func(context.Context) error
	extend  func(context.Context) error
}

func (l unfaithfulLease) Token() uint64 {
	if l.token != nil {
		return l.token()
	}
	return l.Lease.Token()
}

func (l unfaithfulLease) Context() context.Context {
	if l.ctx != nil {
		return l.ctx()
	}
	return l.Lease.Context()
}

func (l unfaithfulLease) Release(ctx context.Context) error {
	if l.release != nil {
		return l.release(ctx)
	}
	return l.Lease.Release(ctx)
}

func (l unfaithfulLease) Extend(ctx context.Context) error {
	if l.extend != nil {
		return l.extend(ctx)
	}
	return l.Lease.(lock.Extender).Extend(ctx)
}

// eager is a lease whose Lost has a value, or more, in place of being closed, a second after the grant.
type eager struct {
	lock.Lease
	lost chan struct{}
}

func newEager(l lock.Lease, values int) lock.Lease {
	e := eager{Lease: l, lost: make(chan struct{}, values)}
	time.AfterFunc(time.Second, func() {
		for range values {
			e.lost <- struct{}{}
		}
	})
	return e
}

func (e eager) Lost() <-chan struct{} { return e.lost }

// elected is a lease of an election that has called back so often.
type elected struct {
	lock.Lease
	started, stopped int
}

func (e elected) CalledBack() (started, stopped int) { return e.started, e.stopped }

// What a lease or an error is against the promise of a lock is misconduct, and the verdict says what it is. The same
// lock without it does what it promises.
func TestKeepsAndExplains(t *testing.T) {
	const short, long = "workload: {rounds: 1, hold: 1s}\n", "workload: {rounds: 1, hold: 3s}\n"
	for _, c := range []struct {
		name, kind, workload string
		alter                func(lock.Locker) lock.Locker
		want                 string
	}{
		{"a token of a lock without tokens", "single", short, func(l lock.Locker) lock.Locker {
			return unfaithful{Locker: l, lease: func(l lock.Lease) lock.Lease {
				return unfaithfulLease{Lease: l, token: func() uint64 { return 7 }}
			}}
		}, "the lease has the token 7, although the lock mints none"},
		{"a context without values", "single", short, func(l lock.Locker) lock.Locker {
			return unfaithful{Locker: l, lease: func(l lock.Lease) lock.Lease {
				ctx, cancel := context.WithCancel(context.Background())
				context.AfterFunc(l.Context(), cancel)
				return unfaithfulLease{Lease: l, ctx: func() context.Context { return ctx }}
			}}
		}, "the context of the lease lacks the values of the context of Acquire"},
		{"a second release that fails", "single", short, func(l lock.Locker) lock.Locker {
			return unfaithful{Locker: l, lease: func(l lock.Lease) lock.Lease {
				released := false
				return unfaithfulLease{Lease: l, release: func(ctx context.Context) error {
					if released {
						return lock.ErrNotHeld
					}
					released = true
					return l.Release(ctx)
				}}
			}}
		}, "a Release that was called again failed, although the first had succeeded: lock not held"},
		{"a second release that succeeds", "single", long, func(l lock.Locker) lock.Locker {
			return unfaithful{Locker: l, lease: func(l lock.Lease) lock.Lease {
				released := false
				return unfaithfulLease{Lease: l, release: func(ctx context.Context) error {
					if released {
						return nil
					}
					released = true
					return l.Release(ctx)
				}}
			}}
		}, "a Release that was called again returned <nil>, although the first had found that the lock was not held"},
		{"an extension that does nothing", "single", "workload: {rounds: 1, hold: 1800ms, extend: 2}\n",
			func(l lock.Locker) lock.Locker {
				return unfaithful{Locker: l, lease: func(l lock.Lease) lock.Lease {
					return unfaithfulLease{Lease: l, extend: func(context.Context) error { return nil }}
				}}
			}, "an Extend returned no error, and its lease ended"},
		{"a loss in one value", "single", long, func(l lock.Locker) lock.Locker {
			return unfaithful{Locker: l, lease: func(l lock.Lease) lock.Lease { return newEager(l, 1) }}
		}, "Lost of the lease was not closed: it had 1 value,"},
		{"a loss that is told twice", "single", long, func(l lock.Locker) lock.Locker {
			return unfaithful{Locker: l, lease: func(l lock.Lease) lock.Lease { return newEager(l, 2) }}
		}, "Lost of the lease was not closed: it had 2 values,"},
		{"a leader that begins twice", "single", short, func(l lock.Locker) lock.Locker {
			return unfaithful{Locker: l, lease: func(l lock.Lease) lock.Lease { return elected{l, 2, 1} }}
		}, "the election told it 2 times that it leads, in one term"},
		{"a leader that stops three times", "single", short, func(l lock.Locker) lock.Locker {
			return unfaithful{Locker: l, lease: func(l lock.Lease) lock.Lease { return elected{l, 1, 3} }}
		}, "the election told it 3 times that it does not lead any more, in one term"},
		{"an error without that of the context", "single", "workload: {rounds: 1, hold: 1s, acquire_within: 300ms}\n",
			func(l lock.Locker) lock.Locker {
				return unfaithful{Locker: l, err: func(err error) error { return errors.New(err.Error()) }}
			}, "does not wrap that of the context"},
		{"a try that waits", "single", "workload: {rounds: 1, hold: 1s, tries: true}\n",
			func(l lock.Locker) lock.Locker { return patient{l} },
			"tried to get order without waiting, and the answer took"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := testruns.Parse(t, "name: keeps\nworld: {clients: 3, latency: 1ms}\nlock: {ttl: 2s, backoff: 100ms..200ms}\n"+
				c.workload)
			misconducts(t, sc, c.kind, func(_ subject.Env, l lock.Locker) (lock.Locker, error) { return c.alter(l), nil },
				c.want)
		})
	}
}

// misconducts fails the test unless a kind of lock, altered, breaks a duty in a scenario for a reason that contains
// want. The lock as it is breaks none, nor does an altered one that promises none.
func misconducts(t *testing.T, sc *file.Scenario, kind string, alter func(subject.Env, lock.Locker) (lock.Locker,
	error),
	want string) {
	t.Helper()
	l := testruns.Kind(t, kind)
	if v := verdictOf(t, l, sc); v.Facts.Misconduct != 0 {
		t.Errorf("the lock as it is: %v", v.Reasons)
	}
	right := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		locker, err := right(e)
		if err != nil {
			return nil, err
		}
		return alter(e, locker)
	}
	v := verdictOf(t, l, sc)
	var texts []string
	for _, r := range v.Reasons {
		texts = append(texts, r.Text)
	}
	if v.Facts.Misconduct == 0 || !strings.Contains(strings.Join(texts, "\n"), want) {
		t.Errorf("misconduct %d, the reasons are\n%s\nwant one with %q", v.Facts.Misconduct, strings.Join(texts, "\n"), want)
	}
	advised := map[promise.Duty]int{}
	for i, r := range v.Reasons {
		if advice := r.Duty.Advice(); r.Duty != "" && r.Text == advice {
			advised[r.Duty]++
			if v.Reasons[i-1].Duty != r.Duty {
				t.Errorf("the advice on %s follows %q", r.Duty, v.Reasons[i-1].Text)
			}
		} else if r.Duty != "" && advised[r.Duty] == 0 && v.Reasons[i+1].Text != advice {
			t.Errorf("no advice on %s follows %q", r.Duty, r.Text)
		}
	}
	for d, n := range advised {
		if n != 1 {
			t.Errorf("%d times the advice on %s", n, d)
		}
	}
	if len(advised) == 0 {
		t.Errorf("no advice in\n%s", strings.Join(texts, "\n"))
	}
	l.Promise.Duties = nil
	if v := verdictOf(t, l, sc); v.Facts.Misconduct != 0 {
		t.Errorf("a lock that does not promise it: %v", v.Reasons)
	}
}

// verdictOf is the verdict of a run without a fence.
func verdictOf(t *testing.T, l subject.Lock, sc *file.Scenario) checker.Verdict {
	t.Helper()
	o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	if err != nil {
		t.Fatal(err)
	}
	return o.Modes[0].Verdict
}
