package etcdlocks_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The lock keeps its promise. With LOCKSIM_SOAK=1 it is 3,000 runs: seed 3260 is not repeatable, since a slice takes a
// piece of gRPC apart (docs/explanation/determinism.md).
func TestLock(t *testing.T) {
	scenarios.Check(t, etcdlocks.Lock(), scenarios.Options{Runs: testruns.Soak(t, 3000, 0.008), Seed: 1, Dir: t.TempDir()})
}

// wrong is the lock with a mistake in its leases.
func wrong(mistake func(lock.Lease) lock.Lease) scenarios.Lock {
	l := etcdlocks.Lock()
	right := l.New
	l.Name, l.Promise.Duties = "etcd-wrong", nil
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		inner, err := right(e)
		return mistaken{inner, mistake}, err
	}
	return l
}

type mistaken struct {
	lock.Locker
	mistake func(lock.Lease) lock.Lease
}

func (m mistaken) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := m.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return m.mistake(l), nil
}

// longer claims the lock for a minute after its lease has ended in etcd.
type longer struct{ lock.Lease }

func (l longer) Until() time.Time    { return l.Lease.Until().Add(time.Minute) }
func (longer) Lost() <-chan struct{} { return nil }

// falling has tokens that become smaller.
type falling struct{ lock.Lease }

func (f falling) Token() uint64 { return 1<<40 - f.Lease.Token() }

// kept is not given back, and says that it was.
type kept struct{ lock.Lease }

func (kept) Release(context.Context) error { return nil }

// A lock on etcd that breaks its promise is found. The right one, searched in the same way, is not.
func TestMistakesAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		l    scenarios.Lock
		want checker.Label // of a violation; "" for none
	}{
		"right":                      {wrong(func(l lock.Lease) lock.Lease { return l }), ""},
		"claims beyond its lease":    {wrong(func(l lock.Lease) lock.Lease { return longer{l} }), checker.Overlap},
		"tokens that become smaller": {wrong(func(l lock.Lease) lock.Lease { return falling{l} }), checker.FalseReject},
		"kept after its release":     {wrong(func(l lock.Lease) lock.Lease { return kept{l} }), checker.Stuck},
	} {
		t.Run(name, func(t *testing.T) {
			space, err := search.Discover(c.l, spaces.Space{})
			if err != nil {
				t.Fatal(err)
			}
			found := map[checker.Label]int{}
			for trial := range search.Trials(c.l, search.Drawn(c.l, space, outcome.Seeds{First: 1, Last: 60})) {
				if c.want == "" && trial.Seed > 20 {
					break
				}
				if trial.Err != nil {
					t.Fatal(trial.Err)
				}
				for _, v := range trial.Violations {
					found[v.Label]++
				}
				if found[c.want] > 0 {
					break
				}
			}
			if c.want == "" && len(found) > 0 || c.want != "" && found[c.want] == 0 {
				t.Errorf("violations %v, want %q", found, c.want)
			}
		})
	}
}

// A candidate whose session has ended while it waited is told that it is elected (F56): the grant is void, although the
// client of etcd has the last answer a little later than it comes.
func TestElectedWithoutSession(t *testing.T) {
	l := etcdlocks.Election()
	sc, err := scenarios.Load("etcd-place-lost", l)
	if err != nil {
		t.Fatal(err)
	}
	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.Seal}})
	if err != nil {
		t.Fatal(err)
	}
	if got := o.Modes[0].Verdict.Facts.VoidGrants; got != 1 {
		t.Errorf("%d void grants, want that of c1: %v", got, o.Modes[0].Verdict.Reasons)
	}
}
