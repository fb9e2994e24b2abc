package play_test

import (
	"context"
	"errors"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/play"
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
