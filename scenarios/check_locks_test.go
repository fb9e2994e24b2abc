package scenarios_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	simredis "locksim/sim/redis"
)

// theirs is a lock as a user would bring it: any type behind a lock.Locker, made
// once and for all, with a TTL of its own.
func theirs(name string, wrap func(e scenarios.Env, l lock.Locker) lock.Locker) scenarios.Lock {
	return scenarios.Lock{
		Name: name,
		Keys: func(resource string) []string { return []string{"lock:{" + resource + "}"} },
		New: func(e scenarios.Env) (lock.Locker, error) {
			l, err := lock.NewSingle(simredis.Client(e, scenarios.Primary), ownOptions(e))
			if err != nil {
				return nil, err
			}
			return wrap(e, l), nil
		},
	}
}

// ownTTL is the TTL of these locks.
const ownTTL = 3 * time.Second

func ownOptions(e scenarios.Env) lock.Options {
	return lock.Options{TTL: ownTTL, Clock: e.Clock(), Entropy: e.Entropy("lock"), Jitter: e.Source("lock")}
}

// sound is a lock that keeps the promise of a lock on one node.
func sound(name string) scenarios.Lock {
	l := theirs(name, func(_ scenarios.Env, l lock.Locker) lock.Locker { return l })
	l.Promise, _ = lock.PromiseOf("single")
	return l
}

// careless is the same lock, whose release deletes the key whoever has set it.
func careless(name string) scenarios.Lock {
	l := theirs(name, func(e scenarios.Env, l lock.Locker) lock.Locker {
		return carelessLocker{l, simredis.Client(e, scenarios.Primary)}
	})
	l.Promise, _ = lock.PromiseOf("single")
	return l
}

type carelessLocker struct {
	lock.Locker
	node *redis.Client
}

type carelessLease struct {
	lock.Lease
	release func(ctx context.Context) error
}

func (l carelessLease) Release(ctx context.Context) error { return l.release(ctx) }

func (l carelessLocker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return carelessLease{lease, func(ctx context.Context) error {
		if err := l.node.Del(ctx, "lock:{"+resource+"}").Err(); err != nil {
			return fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
		}
		return nil
	}}, nil
}

// begins reports whether a run begins: its first client has its lock made at the
// instant at which every world begins, and not after a restart.
func begins(e scenarios.Env) bool {
	return e.Name() == "c0" && e.Clock().Now().Equal(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC))
}

// sometimes is the careless lock in nine runs of ten, and the sound one in the
// tenth: it counts runs, behind the world's back.
func sometimes(name string) scenarios.Lock {
	runs := 0
	l := theirs(name, func(e scenarios.Env, l lock.Locker) lock.Locker {
		if begins(e) {
			runs++
		}
		if runs%10 == 0 {
			return l
		}
		return carelessLocker{l, simredis.Client(e, scenarios.Primary)}
	})
	l.Promise, _ = lock.PromiseOf("single")
	return l
}

// restless is the sound lock, whose backoff is drawn from the global source: no
// seed decides it.
func restless(name string) scenarios.Lock {
	l := sound(name)
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		o := ownOptions(e)
		o.Jitter = globalSource{}
		return lock.NewSingle(simredis.Client(e, scenarios.Primary), o)
	}
	return l
}

// hesitant is the sound lock but for one run: the second one of that seed, as its
// fingerprint tells.
func hesitant(t *testing.T, name string, seed uint64) scenarios.Lock {
	t.Helper()
	of := fingerprintOf(t, seed)
	runs := 0
	l := sound(name)
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		if begins(e) && fingerprint(e) == of {
			runs++
		}
		o := ownOptions(e)
		if runs == 2 {
			o.Jitter = e.Source("another")
		}
		return lock.NewSingle(simredis.Client(e, scenarios.Primary), o)
	}
	return l
}

// fingerprint is a number that c0 draws in all runs of one seed, whatever they
// play, and in no others.
func fingerprint(e scenarios.Env) uint64 { return e.Source("fingerprint").Uint64() }

// fingerprintOf is the fingerprint of a seed.
func fingerprintOf(t *testing.T, seed uint64) (number uint64) {
	t.Helper()
	sc, l := load(t, "calm")
	inner := l.New
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		if begins(e) {
			number = fingerprint(e)
		}
		return inner(e)
	}
	play(t, sc, l, scenarios.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}})
	return number
}

// restlessAndCareless does what the careless lock does, besides.
func restlessAndCareless(name string) scenarios.Lock {
	l := restless(name)
	inner := l.New
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		locker, err := inner(e)
		return carelessLocker{locker, simredis.Client(e, scenarios.Primary)}, err
	}
	return l
}

type globalSource struct{}

func (globalSource) Uint64() uint64 { return rand.Uint64() }

// witness is a testing.TB that takes down what a check says.
type witness struct {
	testing.TB
	name         string
	failed       bool
	logs, errors []string
}

// checked is what a Check says in a test of that name.
func checked(t *testing.T, name string, l scenarios.Lock, opts scenarios.Options) *witness {
	t.Helper()
	j := &witness{TB: t, name: name}
	done := make(chan struct{})
	go func() {
		defer close(done)
		scenarios.Check(j, l, opts)
	}()
	<-done
	return j
}

func (j *witness) Name() string { return j.name }
func (j *witness) Helper()      {}
func (j *witness) Log(args ...any) {
	j.logs = append(j.logs, strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
}
func (j *witness) Logf(format string, args ...any) { j.Log(fmt.Sprintf(format, args...)) }
func (j *witness) Error(args ...any) {
	j.failed = true
	j.errors = append(j.errors, strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
}
func (j *witness) Errorf(format string, args ...any) { j.Error(fmt.Sprintf(format, args...)) }
func (j *witness) Fatal(args ...any)                 { j.Error(args...); j.FailNow() }
func (j *witness) Fatalf(format string, args ...any) { j.Errorf(format, args...); j.FailNow() }
func (j *witness) Fail()                             { j.failed = true }
func (j *witness) Failed() bool                      { return j.failed }
func (j *witness) FailNow() {
	j.failed = true
	runtime.Goexit()
}

// said is everything, in order.
func (j *witness) said() string {
	return "errors:\n" + strings.Join(j.errors, "\n") + "\nlogs:\n" + strings.Join(j.logs, "\n")
}
