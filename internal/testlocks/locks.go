// Package testlocks has locks as users would bring them, sound ones and others, for
// the tests of the packages that play and check them.
package testlocks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"

	simredis "locksim/sim/redis"
)

// Theirs is a lock as a user would bring it: any type behind a lock.Locker, made
// once and for all, with a TTL of its own.
func Theirs(name string, wrap func(e play.Env, l lock.Locker) lock.Locker) play.Lock {
	return play.Lock{
		Name: name,
		Keys: func(resource string) []string { return []string{"lock:{" + resource + "}"} },
		New: func(e play.Env) (lock.Locker, error) {
			l, err := lock.NewSingle(simredis.Client(e, play.Primary), Options(e))
			if err != nil {
				return nil, err
			}
			return wrap(e, l), nil
		},
	}
}

// TTL is the TTL of these locks.
const TTL = 3 * time.Second

// Options are those of these locks for the world that e is of.
func Options(e play.Env) lock.Options {
	return lock.Options{TTL: TTL, Clock: e.Clock(), Entropy: e.Entropy("lock"), Jitter: e.Source("lock")}
}

// Sound is a lock that keeps the promise of a lock on one node.
func Sound(name string) play.Lock {
	l := Theirs(name, func(_ play.Env, l lock.Locker) lock.Locker { return l })
	l.Promise, _ = lock.PromiseOf("single")
	return l
}

// Careless is the same lock, whose release deletes the key whoever has set it.
func Careless(name string) play.Lock {
	l := Theirs(name, func(e play.Env, l lock.Locker) lock.Locker {
		return carelessLocker{l, simredis.Client(e, play.Primary)}
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

// Begins reports whether a run begins: its first client has its lock made at the
// instant at which every world begins, and not after a restart.
func Begins(e play.Env) bool {
	return e.Name() == "c0" && e.Clock().Now().Equal(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC))
}

// Sometimes is the careless lock in nine runs of ten, and the sound one in the
// tenth: it counts runs, behind the world's back.
func Sometimes(name string) play.Lock {
	runs := 0
	l := Theirs(name, func(e play.Env, l lock.Locker) lock.Locker {
		if Begins(e) {
			runs++
		}
		if runs%10 == 0 {
			return l
		}
		return carelessLocker{l, simredis.Client(e, play.Primary)}
	})
	l.Promise, _ = lock.PromiseOf("single")
	return l
}

// Restless is the sound lock, whose backoff is drawn from the global source: no
// seed decides it.
func Restless(name string) play.Lock {
	l := Sound(name)
	l.New = func(e play.Env) (lock.Locker, error) {
		o := Options(e)
		o.Jitter = globalSource{}
		return lock.NewSingle(simredis.Client(e, play.Primary), o)
	}
	return l
}

// Hesitant is the sound lock but for one run: the second one of that seed, as its
// fingerprint tells.
func Hesitant(t *testing.T, name string, seed uint64) play.Lock {
	t.Helper()
	of := fingerprintOf(t, seed)
	runs := 0
	l := Sound(name)
	l.New = func(e play.Env) (lock.Locker, error) {
		if Begins(e) && fingerprint(e) == of {
			runs++
		}
		o := Options(e)
		if runs == 2 {
			o.Jitter = e.Source("another")
		}
		return lock.NewSingle(simredis.Client(e, play.Primary), o)
	}
	return l
}

// fingerprint is a number that c0 draws in all runs of one seed, whatever they
// play, and in no others.
func fingerprint(e play.Env) uint64 { return e.Source("fingerprint").Uint64() }

// fingerprintOf is the fingerprint of a seed.
func fingerprintOf(t *testing.T, seed uint64) (number uint64) {
	t.Helper()
	sc, err := file.Load("calm")
	if err != nil {
		t.Fatal(err)
	}
	l, err := play.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	inner := l.New
	l.New = func(e play.Env) (lock.Locker, error) {
		if Begins(e) {
			number = fingerprint(e)
		}
		return inner(e)
	}
	if _, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}}); err != nil {
		t.Fatal(err)
	}
	return number
}

// RestlessAndCareless does what the careless lock does, besides.
func RestlessAndCareless(name string) play.Lock {
	l := Restless(name)
	inner := l.New
	l.New = func(e play.Env) (lock.Locker, error) {
		locker, err := inner(e)
		return carelessLocker{locker, simredis.Client(e, play.Primary)}, err
	}
	return l
}

type globalSource struct{}

func (globalSource) Uint64() uint64 { return rand.Uint64() }
