// Package testlocks has locks as in a user's code, correct and wrong ones, for
// the tests of the packages that run and check them.
package testlocks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// UserLock is a lock as in a user's code: any type behind a lock.Locker, with the
// fixed TTL [TTL].
func UserLock(name string, wrap func(e subject.Env, l lock.Locker) lock.Locker) subject.Lock {
	return subject.Lock{
		Name: name,
		Traits: subject.Traits{
			Keys: func(resource string) []string { return []string{"lock:{" + resource + "}"} },
		},
		New: func(e subject.Env) (lock.Locker, error) {
			opt := redisclient.Quiet()
			opt.Addr, opt.ContextTimeoutEnabled = e.Address(subject.Primary), true
			l, err := lock.NewSingle(redisclient.With(e, opt), Options(e))
			if err != nil {
				return nil, err
			}
			return wrap(e, l), nil
		},
	}
}

// TTL is the TTL of these locks.
const TTL = 3 * time.Second

// Options are the options of these locks in the world of e.
func Options(e subject.Env) lock.Options {
	return lock.Options{TTL: TTL, Clock: e.Clock(), Entropy: e.Entropy("lock"), Jitter: e.Source("lock")}
}

// Correct is a correct lock, with the promise of a lock on one node.
func Correct(name string) subject.Lock {
	l := UserLock(name, func(_ subject.Env, l lock.Locker) lock.Locker { return l })
	l.Promise = promised()
	return l
}

// Patient is [Correct], except that each pause of its Acquire is so many times as long as the one before, without an
// end to that. It promises that the lock is free again as soon as its key is gone.
func Patient(name string, times time.Duration) subject.Lock {
	l := UserLock(name, func(e subject.Env, l lock.Locker) lock.Locker {
		return patient{l.(*lock.Single), e.Clock(),
			times}
	})
	l.Promise = promised()
	l.Promise.FreeAfter = map[promise.Cause]lock.Term{promise.CauseOther: lock.TermDrift}
	return l
}

type patient struct {
	*lock.Single
	clock lock.Clock
	times time.Duration
}

func (p patient) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	for pause := 100 * time.Millisecond; ; pause *= p.times {
		l, err := p.TryAcquire(ctx, resource)
		if !errors.Is(err, lock.ErrTaken) {
			return l, err
		}
		if err := p.clock.Sleep(ctx, pause); err != nil {
			return nil, errors.Join(lock.ErrTaken, err)
		}
	}
}

// NoOwnerCheck is [Correct], except that its release deletes the key without a check
// of the owner.
func NoOwnerCheck(name string) subject.Lock {
	l := UserLock(name, func(e subject.Env, l lock.Locker) lock.Locker {
		return noOwnerCheckLocker{l, redisclient.New(e, subject.Primary)}
	})
	l.Promise = promised()
	return l
}

type noOwnerCheckLocker struct {
	lock.Locker
	node *redis.Client
}

type noOwnerCheckLease struct {
	lock.Lease
	release func(ctx context.Context) error
}

func (l noOwnerCheckLease) Release(ctx context.Context) error { return l.release(ctx) }

func (l noOwnerCheckLocker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return noOwnerCheckLease{lease, func(ctx context.Context) error {
		if err := l.node.Del(ctx, "lock:{"+resource+"}").Err(); err != nil {
			return fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
		}
		return nil
	}}, nil
}

// IsRunStart reports whether a run starts: its first client creates its lock at
// the first instant of the world, and not after a restart.
func IsRunStart(e subject.Env) bool {
	return e.Name() == "c0" && e.Clock().Now().Equal(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC))
}

// NoOwnerCheckUsually is [NoOwnerCheck] in nine runs of ten, and [Correct] in the
// tenth: it counts runs in a variable outside of the world.
func NoOwnerCheckUsually(name string) subject.Lock {
	runs := 0
	l := UserLock(name, func(e subject.Env, l lock.Locker) lock.Locker {
		if IsRunStart(e) {
			runs++
		}
		if runs%10 == 0 {
			return l
		}
		return noOwnerCheckLocker{l, redisclient.New(e, subject.Primary)}
	})
	l.Promise = promised()
	return l
}

// UnseededBackoff is [Correct], except that it draws its backoff from the global
// source, which has no seed.
func UnseededBackoff(name string) subject.Lock {
	l := Correct(name)
	l.New = func(e subject.Env) (lock.Locker, error) {
		o := Options(e)
		o.Jitter = globalSource{}
		return lock.NewSingle(redisclient.New(e, subject.Primary), o)
	}
	return l
}

// BreaksInPlay is [DiffersInSecondRun], except that it excludes nobody in one later run of the seed.
func BreaksInPlay(t *testing.T, name string, seed uint64, number int) subject.Lock {
	t.Helper()
	want := fingerprintOf(t, seed)
	runs := 0
	l := Correct(name)
	differing := differsInSecondRun()
	l.New = func(e subject.Env) (lock.Locker, error) {
		same := fingerprint(e) == want
		right, err := differing(e, same)
		if IsRunStart(e) && same {
			runs++
		}
		if !same || runs != number {
			return right, err
		}
		return locker(func(context.Context, string) (lock.Lease, error) {
			return fakeLease{until: e.Clock().Now().Add(TTL)}, nil
		}), nil
	}
	return l
}

// DiffersInSecondRun is [Correct], except that its backoff differs in the second run
// of one seed. It recognizes the seed by its fingerprint.
func DiffersInSecondRun(t *testing.T, name string, seed uint64) subject.Lock {
	t.Helper()
	want := fingerprintOf(t, seed)
	l := Correct(name)
	differing := differsInSecondRun()
	l.New = func(e subject.Env) (lock.Locker, error) { return differing(e, fingerprint(e) == want) }
	return l
}

// differsInSecondRun makes locks whose backoff differs in the second run of the same seed.
func differsInSecondRun() func(e subject.Env, same bool) (lock.Locker, error) {
	runs := 0
	return func(e subject.Env, same bool) (lock.Locker, error) {
		if IsRunStart(e) && same {
			runs++
		}
		o := Options(e)
		if runs == 2 {
			o.Jitter = e.Source("another")
		}
		return lock.NewSingle(redisclient.New(e, subject.Primary), o)
	}
}

// LeavesGoroutines is [Correct], except that a goroutine remains after the runs of these seeds, which have no verdict
// therefore. It recognizes the seeds by their fingerprints.
func LeavesGoroutines(t *testing.T, name string, seeds ...uint64) subject.Lock {
	t.Helper()
	leaves := map[uint64]bool{}
	for _, seed := range seeds {
		leaves[fingerprintOf(t, seed)] = true
	}
	l := Correct(name)
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		if IsRunStart(e) && leaves[fingerprint(e)] {
			go func() { <-make(chan struct{}) }()
		}
		return inner(e)
	}
	return l
}

// Freezes is [Correct], except that the run of a seed is frozen: its first client holds a mutex while it sleeps, for
// which another goroutine of it waits.
func Freezes(t *testing.T, name string, seed uint64) subject.Lock {
	t.Helper()
	want := fingerprintOf(t, seed)
	l := Correct(name)
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		if IsRunStart(e) && fingerprint(e) == want {
			mu := new(sync.Mutex)
			mu.Lock()
			go func() {
				defer mu.Unlock()
				_ = e.Clock().Sleep(e.Context(), time.Second)
			}()
			go func() {
				mu.Lock()
				defer mu.Unlock()
			}()
		}
		return inner(e)
	}
	return l
}

// fingerprint is a number that c0 draws in all runs of one seed, for any
// scenario, and in no others.
func fingerprint(e subject.Env) uint64 { return e.Source("fingerprint").Uint64() }

func fingerprintOf(t *testing.T, seed uint64) (number uint64) {
	t.Helper()
	sc, err := file.Load("calm")
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		if IsRunStart(e) {
			number = fingerprint(e)
		}
		return inner(e)
	}
	if _, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}}); err != nil {
		t.Fatal(err)
	}
	return number
}

// UnseededNoOwnerCheck is [UnseededBackoff] with the release of [NoOwnerCheck].
func UnseededNoOwnerCheck(name string) subject.Lock {
	l := UnseededBackoff(name)
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		locker, err := inner(e)
		return noOwnerCheckLocker{locker, redisclient.New(e, subject.Primary)}, err
	}
	return l
}

type globalSource struct{}

func (globalSource) Uint64() uint64 { return rand.Uint64() }

// UnseededDelay is a lock that waits before each Acquire, for a time that it draws
// from a source without a seed.
func UnseededDelay(l lock.Locker, clock lock.Clock) lock.Locker { return unseededDelay{l, clock} }

type unseededDelay struct {
	lock.Locker
	clock lock.Clock
}

func (h unseededDelay) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	if err := h.clock.Sleep(ctx, time.Duration(rand.Int64N(int64(time.Millisecond)))); err != nil {
		return nil, err
	}
	return h.Locker.Acquire(ctx, resource)
}

// WithSpec is a lock as in a user's code: it has this spec, not that of the scenario.
func WithSpec(l subject.Lock, spec file.LockSpec) subject.Lock {
	return subject.Lock{Name: "mine", New: func(e subject.Env) (lock.Locker, error) { return l.New(fixedSpec{e, spec}) }}
}

// fixedSpec is an environment with a fixed spec.
type fixedSpec struct {
	subject.Env
	spec file.LockSpec
}

func (e fixedSpec) Spec() file.LockSpec { return e.spec }

// AddPool implements the method that the clients of package redis require of an
// environment.
func (e fixedSpec) AddPool(p faults.Pool) { e.Env.(interface{ AddPool(faults.Pool) }).AddPool(p) }

// promised is what a single lock promises, but for its duties: the leases of these locks
// have no context that ends.
func promised() lock.Promise {
	p, _ := lock.PromiseOf("single")
	p.Duties = nil
	return p
}
