package play_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	simredis "locksim/sim/redis"
)

// altered is a lock with another Acquire.
type altered struct {
	lock.Locker
	acquire func(ctx context.Context, resource string) (lock.Lease, error)
}

func (o altered) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return o.acquire(ctx, resource)
}

// keeping is a lease whose release does nothing.
type keeping struct{ lock.Lease }

func (keeping) Release(context.Context) error { return nil }

var errNotNow = errors.New("not now")

// The probe distinguishes a lock that no client can get from one that needs several
// attempts, and from one that leaves its key behind.
func TestProbe(t *testing.T) {
	sc := testruns.Parse(t, "name: quiet\nworkload: {stagger: 5s}\n")
	sound := testruns.Kind(t, "single")
	for _, c := range []struct {
		name string
		bend func(e play.Env, inner lock.Locker) altered
		want checker.Liveness
	}{
		{"sound", func(_ play.Env, l lock.Locker) altered { return altered{l, l.Acquire} }, checker.LivenessOK},
		{"asked again", func(e play.Env, l lock.Locker) altered {
			tries := 0
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				if tries++; e.Name() == "probe" && tries < 5 {
					return nil, errNotNow
				}
				return l.Acquire(ctx, resource)
			}}
		}, checker.LivenessOK},
		{"never granted", func(e play.Env, l lock.Locker) altered {
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				if e.Name() == "probe" {
					return nil, errNotNow
				}
				return l.Acquire(ctx, resource)
			}}
		}, checker.LivenessStuck},
		{"left behind", func(_ play.Env, l lock.Locker) altered {
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				lease, err := l.Acquire(ctx, resource)
				return keeping{lease}, err
			}}
		}, checker.LivenessLeaked},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := sound
			l.New = func(e play.Env) (lock.Locker, error) {
				inner, err := sound.New(e)
				return c.bend(e, inner), err
			}
			v := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0].Verdict
			if v.Facts.Liveness != c.want {
				t.Errorf("liveness %s, want %s: %v", v.Facts.Liveness, c.want, v.Reasons)
			}
		})
	}
}

// variable is a lock in a variable that the clients of a run share. A client has it
// until it releases it.
type variable struct {
	env    play.Env
	holder *string
	denied error // an Acquire ends with it; nil means that it waits
}

func (v variable) Acquire(ctx context.Context, _ string) (lock.Lease, error) {
	for *v.holder != "" {
		if v.denied != nil {
			return nil, v.denied
		}
		if err := v.env.Clock().Sleep(ctx, 10*time.Millisecond); err != nil {
			return nil, fmt.Errorf("wait for the lock: %w", err)
		}
	}
	*v.holder = v.env.Name()
	return variableLease{v}, nil
}

type variableLease struct{ of variable }

func (variableLease) Token() uint64            { return 0 }
func (variableLease) Until() time.Time         { return time.Time{} }
func (variableLease) Lost() <-chan struct{}    { return nil }
func (variableLease) Context() context.Context { return context.Background() }
func (l variableLease) Release(context.Context) error {
	if *l.of.holder == l.of.env.Name() {
		*l.of.holder = ""
	}
	return nil
}

// A lock that is taken in the end while no server has a key is kept outside the
// servers, and gets no verdict. It gets one if something else may keep the probe out:
// a lock that one client alone can have, an error of another kind, a key.
func TestKeptOutside(t *testing.T) {
	crash := testruns.Parse(t, "name: crash\nworkload: {stagger: 5s}\nfaults: [{when: {client: c1, event: granted}, crash: {process: c1}}]\n")
	quiet := testruns.Parse(t, "name: quiet\nworkload: {stagger: 5s}\n")
	for _, c := range []struct {
		name string
		sc   *file.Scenario
		bend func(e play.Env, l variable) lock.Locker
		want bool
	}{
		{"its holder crashed", crash, func(_ play.Env, l variable) lock.Locker { return l }, true},
		{"taken", crash, func(_ play.Env, l variable) lock.Locker {
			l.denied = fmt.Errorf("acquire: %w", lock.ErrTaken)
			return l
		}, true},
		{"another error", crash, func(_ play.Env, l variable) lock.Locker {
			l.denied = fmt.Errorf("%w: %w", lock.ErrTaken, errNotNow)
			return l
		}, false},
		{"released", quiet, func(_ play.Env, l variable) lock.Locker { return l }, false},
		{"one client alone", quiet, func(e play.Env, l variable) lock.Locker {
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				if e.Name() == "c0" {
					return l.Acquire(ctx, resource)
				}
				<-ctx.Done()
				return nil, ctx.Err()
			}}
		}, false},
		{"a key", crash, func(e play.Env, l variable) lock.Locker {
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				if err := simredis.Client(e, "r0").Set(ctx, "anything", 1, 0).Err(); err != nil {
					return nil, err
				}
				return l.Acquire(ctx, resource)
			}}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			holder := ""
			l := play.Lock{Name: "variable", New: func(e play.Env) (lock.Locker, error) {
				return c.bend(e, variable{env: e, holder: &holder}), nil
			}}
			_, err := play.Run(c.sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
			if errors.Is(err, play.ErrKeptOutside) != c.want || err != nil && !c.want {
				t.Errorf("kept outside: want %v, got the error %v", c.want, err)
			}
		})
	}
}
