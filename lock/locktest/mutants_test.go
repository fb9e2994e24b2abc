package locktest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// mutant is a lock with a mistake, and the promises whose tests must catch it.
type mutant struct {
	mistake string
	caught  []string
	harness Harness
	build   func(machine) lock.Locker
}

func single(m machine) lock.Locker    { return must(lock.NewSingle(m.node, m.opt)) }
func fenced(m machine) lock.Locker    { return must(lock.NewFenced(m.node, m.opt)) }
func reentrant(m machine) lock.Locker { return must(lock.NewReentrant(m.node, m.opt)) }
func fairLock(m machine) lock.Locker  { return must(lock.NewFair(m.node, m.opt)) }
func watchdogLock(m machine) lock.Locker {
	return must(lock.NewWatchdog(fenced(m), lock.WatchdogOptions{}))
}

func key(resource string) string { return "lock:{" + resource + "}" }

// leaseWith changes the leases of a single lock.
func leaseWith(alter func(m machine, ctx context.Context, resource string, l *faultyLease)) func(machine) lock.Locker {
	return leaseOf(single, alter)
}

func leaseOf(base func(machine) lock.Locker, alter func(machine, context.Context, string,
	*faultyLease)) func(machine) lock.Locker {
	return func(m machine) lock.Locker {
		return faulty{Locker: base(m), lease: func(ctx context.Context, resource string,
			l *faultyLease) {
			alter(m, ctx, resource, l)
		}}
	}
}

// acquireWith changes Acquire and TryAcquire of a single lock.
func acquireWith(acquire func(m machine, inner lock.Locker, ctx context.Context, resource string) (lock.Lease,
	error)) func(machine) lock.Locker {
	return func(m machine) lock.Locker {
		inner := single(m)
		return faulty{
			Locker:  inner,
			acquire: func(ctx context.Context, r string) (lock.Lease, error) { return acquire(m, inner, ctx, r) },
		}
	}
}

// asWith changes As of a reentrant lock.
func asWith(as func(m machine, inner lock.Owned, owner string) lock.Locker) func(machine) lock.Locker {
	return func(m machine) lock.Locker {
		inner := reentrant(m)
		return faulty{Locker: inner, as: func(owner string) lock.Locker { return as(m, inner.(lock.Owned), owner) }}
	}
}

// deleteKey makes Release delete the key without a check of its owner.
func deleteKey(m machine, _ context.Context, resource string, l *faultyLease) {
	l.release = func(ctx context.Context) error { return m.node.Del(ctx, key(resource)).Err() }
}

var lostWaiter = redis.Z{Member: "a lost waiter"}

var errBusy = errors.New("busy")

var mutants = []mutant{
	{"Until lies beyond the TTL", []string{"a lease as promised"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			l.until = func() time.Time { return l.Lease.Until().Add(time.Minute) }
		})},
	{"no token", []string{"a lease as promised", "tokens"}, Harness{Tokens: true}, single},
	{"the context does not end with the release", []string{"a lease as promised"}, Harness{},
		leaseWith(func(_ machine, ctx context.Context, _ string, l *faultyLease) {
			l.context = func() context.Context { return context.WithoutCancel(ctx) }
		})},
	{"every client has its own lock", []string{"one holder at a time among clients", "release after the end leaves the " +
		"successor"}, Harness{},
		acquireWith(func(m machine, inner lock.Locker, ctx context.Context, r string) (lock.Lease, error) {
			return inner.Acquire(ctx, fmt.Sprintf("%s:%d", r, m.client))
		})},
	{"the client is the owner (F32)", []string{"one holder at a time among goroutines of a client"}, Harness{},
		func(m machine) lock.Locker {
			return reentrant(m).(lock.Owned).As(fmt.Sprint("client ", m.client))
		}},
	{"one lock for all resources", []string{"resources are independent"}, Harness{},
		acquireWith(func(_ machine, inner lock.Locker, ctx context.Context, _ string) (lock.Lease, error) {
			return inner.Acquire(ctx, "everything")
		})},
	{"release does nothing", []string{"release frees at once", "release wakes a waiter", "release many times at once",
		"try", "cancelled while waiting"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			l.release = func(context.Context) error { return nil }
		})},
	{"a second release fails", []string{"release again says the same", "release many times at once"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			var done atomic.Bool
			l.release = func(ctx context.Context) error {
				if done.Swap(true) {
					return errBusy
				}
				return l.Lease.Release(ctx)
			}
		})},
	{"release fails under an ended context (F29)", []string{"release with a dead context"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			l.release = func(ctx context.Context) error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return l.Lease.Release(ctx)
			}
		})},
	{"release is reported as a loss", []string{"release is no loss"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			l.lost = func() <-chan struct{} { return l.Lease.Context().Done() }
		})},
	{"release deletes the key of another owner (F02)",
		[]string{"release after the end leaves the successor", "release of what the servers forgot",
			"release again says the same"}, Harness{}, leaseWith(deleteKey)},
	{"the key has no TTL (F01)", []string{"expiry frees"}, Harness{},
		leaseWith(func(m machine, ctx context.Context, resource string, _ *faultyLease) {
			m.node.Persist(ctx, key(resource))
		})},
	{"the key ends early", []string{"expiry frees", "deadline while waiting"}, Harness{},
		leaseWith(func(m machine, ctx context.Context, resource string, _ *faultyLease) {
			m.node.PExpire(ctx, key(resource), ttl/20)
		})},
	{"the loss is not reported", []string{"loss is told", "expiry frees"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			l.lost = func() <-chan struct{} { return nil }
		})},
	{"the loss does not end the context", []string{"loss is told"}, Harness{},
		leaseWith(func(_ machine, ctx context.Context, _ string, l *faultyLease) {
			l.context = func() context.Context { return context.WithoutCancel(ctx) }
		})},
	{"validity counts from the answer", []string{"validity counts from the sending"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			l.until = func() time.Time { return l.returned.Add(ttl) }
		})},
	{"an ended context is ignored", []string{"context dead before"}, Harness{},
		acquireWith(func(_ machine, inner lock.Locker, ctx context.Context, r string) (lock.Lease, error) {
			return inner.Acquire(context.WithoutCancel(ctx), r)
		})},
	{"the end of a wait is not the error of the context", []string{"deadline while waiting", "cancelled while waiting",
		"waiters leave nothing behind"}, Harness{},
		acquireWith(func(_ machine, inner lock.Locker, ctx context.Context, r string) (lock.Lease, error) {
			l, err := inner.Acquire(ctx, r)
			if err != nil {
				return nil, errBusy
			}
			return l, nil
		})},
	{"a cancelled request goes on (F28)", []string{"cancelled in flight"}, Harness{},
		acquireWith(func(_ machine, inner lock.Locker, ctx context.Context, r string) (lock.Lease, error) {
			granted := make(chan struct{})
			go func() {
				defer close(granted)
				_, _ = inner.Acquire(context.WithoutCancel(ctx), r)
			}()
			select {
			case <-granted:
				return inner.Acquire(lock.WithHolder(ctx, ctx), r+":other")
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})},
	{"the lease ends with the context of Acquire", []string{"lease outlives the context"}, Harness{},
		leaseWith(func(_ machine, ctx context.Context, _ string, l *faultyLease) {
			l.context = func() context.Context { return ctx }
		})},
	{"the context of the lease lacks the values", []string{"lease outlives the context"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			l.context = context.Background
		})},
	{"a waiter that gives up stays in the queue (F54)", []string{"waiters leave nothing behind", "deadline while waiting",
		"try leaves nothing behind"}, Harness{},
		func(m machine) lock.Locker {
			inner := fairLock(m)
			waiting := func(ctx context.Context, r string) (lock.Lease, error) {
				l, err := inner.(lock.Trier).TryAcquire(ctx, r)
				if err != nil {
					m.node.ZAdd(context.Background(), key(r)+":queue", lostWaiter)
				}
				return l, err
			}
			return faulty{Locker: inner, try: waiting, acquire: func(ctx context.Context, r string) (lock.Lease, error) {
				l, err := inner.Acquire(ctx, r)
				if err != nil {
					m.node.ZAdd(context.Background(), key(r)+":queue", lostWaiter)
				}
				return l, err
			}}
		}},
	{"an unknown outcome is not reported", []string{"acquire whose reply is lost", "acquire whose request is lost"},
		Harness{},
		acquireWith(func(_ machine, inner lock.Locker, ctx context.Context, r string) (lock.Lease, error) {
			l, err := inner.Acquire(ctx, r)
			if errors.Is(err, lock.ErrOutcomeUnknown) {
				return nil, errBusy
			}
			return l, err
		})},
	{"a release without a reply returns ErrNotHeld", []string{"release whose reply is lost",
		"release whose request is lost"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			l.release = func(ctx context.Context) error {
				err := l.Lease.Release(ctx)
				if errors.Is(err, lock.ErrOutcomeUnknown) {
					return lock.ErrNotHeld
				}
				return err
			}
		})},
	{"the same token for all", []string{"tokens"}, Harness{Tokens: true},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			l.token = func() uint64 { return 7 }
		})},
	{"tokens without Harness.Tokens", []string{"tokens", "a lease as promised"}, Harness{}, fenced},
	{"a try waits", []string{"try", "try leaves nothing behind"}, Harness{}, func(m machine) lock.Locker {
		inner := single(m)
		return faulty{Locker: inner, try: inner.Acquire}
	}},
	{"a try that fails does not say why", []string{"try", "try leaves nothing behind"}, Harness{},
		func(m machine) lock.Locker {
			inner := single(m)
			return faulty{Locker: inner, try: func(ctx context.Context, r string) (lock.Lease, error) {
				if l, err := inner.(lock.Trier).TryAcquire(ctx, r); err == nil {
					return l, nil
				}
				return nil, errBusy
			}}
		}},
	{"a try without an answer says that the lock is taken",
		[]string{"try whose reply is lost", "try whose request is lost"}, Harness{}, func(m machine) lock.Locker {
			inner := single(m)
			return faulty{Locker: inner, try: func(ctx context.Context, r string) (lock.Lease, error) {
				l, err := inner.(lock.Trier).TryAcquire(ctx, r)
				if errors.Is(err, lock.ErrOutcomeUnknown) {
					return nil, lock.ErrTaken
				}
				return l, err
			}}
		}},
	{"extend does nothing", []string{"extend moves the end", "extend of what the servers forgot"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			l.extend = func(context.Context) error { return nil }
		})},
	{"extend sends no request", []string{"extend keeps others out", "extend after the end"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			var until atomic.Pointer[time.Time]
			first := l.Lease.Until()
			until.Store(&first)
			l.until = func() time.Time { return *until.Load() }
			l.extend = func(context.Context) error {
				next := time.Now().Add(ttl)
				until.Store(&next)
				return nil
			}
		})},
	{"extend creates the key again (F05)", []string{"extend of what the servers forgot"}, Harness{},
		leaseWith(func(m machine, _ context.Context, resource string, l *faultyLease) {
			l.extend = func(ctx context.Context) error { return m.node.Set(ctx, key(resource), "again", ttl).Err() }
		})},
	{"extend hides an unknown outcome", []string{"extend whose reply is lost"}, Harness{},
		leaseWith(func(_ machine, _ context.Context, _ string, l *faultyLease) {
			l.extend = func(ctx context.Context) error {
				err := l.Lease.(lock.Extender).Extend(ctx)
				if errors.Is(err, lock.ErrOutcomeUnknown) {
					return nil
				}
				return err
			}
		})},
	{"no renewals", []string{"renewed while held"}, Harness{Renews: true}, single},
	{"an owner cannot enter again", []string{"re-entry", "re-entry by another client"}, Harness{},
		asWith(func(_ machine, inner lock.Owned, _ string) lock.Locker {
			return inner.(lock.Locker)
		})},
	{"an owner belongs to one client", []string{"re-entry by another client"}, Harness{},
		asWith(func(m machine, inner lock.Owned, owner string) lock.Locker {
			return inner.As(fmt.Sprint(owner, m.client))
		})},
	{"all owners are one", []string{"owners exclude each other", "re-entry"}, Harness{},
		asWith(func(_ machine, inner lock.Owned, _ string) lock.Locker {
			return inner.As("the same")
		})},
	{"the first release ends all entries", []string{"re-entry", "re-entry by another client",
		"release again of an inner entry", "re-entry after expiry"}, Harness{},
		func(m machine) lock.Locker {
			inner := reentrant(m)
			return faulty{Locker: inner, as: inner.(lock.Owned).As,
				lease: func(ctx context.Context, r string, l *faultyLease) { deleteKey(m, ctx, r, l) }}
		}},
	{"waiters are granted in random order", []string{"fair"}, Harness{Fair: true}, single},
}

// TestMutantsAreCaught checks that each test of the suite can fail.
func TestMutantsAreCaught(t *testing.T) {
	unproven := map[string]bool{}
	for _, p := range promises {
		unproven[p.name] = true
	}
	for _, m := range mutants {
		t.Run(m.mistake, func(t *testing.T) {
			for _, name := range m.caught {
				w := play(t, name, onSimNode(m.harness, m.build))
				if len(w.failures) == 0 {
					t.Errorf("not caught by %q (skipped: %v)", name, w.skipped)
				}
				t.Logf("%s:\n%s", name, strings.Join(w.failures, "\n"))
				delete(unproven, name)
			}
		})
	}
	for name := range unproven {
		t.Errorf("no mutant shows that the test of %q can fail", name)
	}
}

// play runs the test of one promise with a recorder.
func play(t *testing.T, name string, h Harness) *recorder {
	t.Helper()
	for _, p := range promises {
		if p.name == name {
			w := &recorder{}
			h.testPromise(w, p)
			return w
		}
	}
	t.Fatalf("there is no promise %q", name)
	return nil
}
