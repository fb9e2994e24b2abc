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
	"locksim/scenarios"
	"locksim/sim"
)

// theirs is a lock as a user would bring it: any type behind a lock.Locker, made
// once and for all, with a TTL of its own.
func theirs(name string, wrap func(p *sim.Process, l lock.Locker) lock.Locker) scenarios.Lock {
	return scenarios.Lock{
		Name: name,
		Keys: func(resource string) []string { return []string{"lock:{" + resource + "}"} },
		New: func(p *sim.Process) (lock.Locker, error) {
			l, err := lock.NewSingle(p.Redis(sim.Primary), ownOptions(p))
			if err != nil {
				return nil, err
			}
			return wrap(p, l), nil
		},
	}
}

// ownTTL is the TTL of these locks.
const ownTTL = 3 * time.Second

func ownOptions(p *sim.Process) lock.Options {
	return lock.Options{TTL: ownTTL, Clock: p.Clock(), Entropy: p.Entropy("lock"), Jitter: p.Source("lock")}
}

// sound is a lock that keeps the promise of a lock on one node.
func sound(name string) scenarios.Lock {
	l := theirs(name, func(_ *sim.Process, l lock.Locker) lock.Locker { return l })
	l.Promise, _ = lock.PromiseOf("single")
	return l
}

// careless is the same lock, whose release deletes the key whoever has set it.
func careless(name string) scenarios.Lock {
	l := theirs(name, func(p *sim.Process, l lock.Locker) lock.Locker { return carelessLocker{l, p.Redis(sim.Primary)} })
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

// sometimes is the careless lock in nine runs of ten, and the sound one in the
// tenth: it counts runs, behind the world's back.
func sometimes(name string) scenarios.Lock {
	runs := 0
	l := theirs(name, func(p *sim.Process, l lock.Locker) lock.Locker {
		if p.Name() == "c0" && p.Incarnation() == 1 {
			runs++
		}
		if runs%10 == 0 {
			return l
		}
		return carelessLocker{l, p.Redis(sim.Primary)}
	})
	l.Promise, _ = lock.PromiseOf("single")
	return l
}

// restless is the sound lock, whose backoff is drawn from the global source: no
// seed decides it.
func restless(name string) scenarios.Lock {
	l := sound(name)
	l.New = func(p *sim.Process) (lock.Locker, error) {
		o := ownOptions(p)
		o.Jitter = globalSource{}
		return lock.NewSingle(p.Redis(sim.Primary), o)
	}
	return l
}

// hesitant is the sound lock but for one run: the second one of that seed.
func hesitant(name string, seed uint64) scenarios.Lock {
	runs := 0
	l := sound(name)
	l.New = func(p *sim.Process) (lock.Locker, error) {
		if p.Seed() == seed && p.Name() == "c0" && p.Incarnation() == 1 {
			runs++
		}
		o := ownOptions(p)
		if runs == 2 {
			o.Jitter = p.Source("another")
		}
		return lock.NewSingle(p.Redis(sim.Primary), o)
	}
	return l
}

// restlessAndCareless does what the careless lock does, besides.
func restlessAndCareless(name string) scenarios.Lock {
	l := restless(name)
	inner := l.New
	l.New = func(p *sim.Process) (lock.Locker, error) {
		locker, err := inner(p)
		return carelessLocker{locker, p.Redis(sim.Primary)}, err
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
