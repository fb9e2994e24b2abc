package scenarios_test

import (
	"context"
	"strings"
	"testing"

	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/scenarios"
)

// A search says first that a server did not know a command, and is no pass, also if the lock goes on without it.
func TestUnknownCommand(t *testing.T) {
	l := testlocks.UserLock("asks", func(e scenarios.Env, l lock.Locker) lock.Locker {
		return asking{l, func(ctx context.Context) { scenarios.RedisClient(e, "r0").Do(ctx, "DELIFEQ", "k", "me") }}
	})
	l.Promise = lock.Promise{Exclusion: []lock.Fault{lock.FaultPause}}
	j := checked(t, "TestAsks", l, scenarios.Options{Runs: 5, Seed: 1, Dir: t.TempDir()})
	if want := "asks: Redis 7.0.15 does not know the command DELIFEQ"; !j.failed ||
		!strings.HasPrefix(strings.Join(j.errors, "\n"), want) {
		t.Errorf("want %s\n%s", want, j.said())
	}
}

type asking struct {
	lock.Locker
	ask func(ctx context.Context)
}

func (a asking) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	a.ask(ctx)
	return a.Locker.Acquire(ctx, name)
}

// A search in which no extension ever succeeded is no pass, although the lock may refuse each.
func TestNoExtension(t *testing.T) {
	l := testlocks.UserLock("never-extends", func(_ scenarios.Env, l lock.Locker) lock.Locker { return unextended{l} })
	l.Promise = lock.Promise{Exclusion: []lock.Fault{lock.FaultPause}}
	j := checked(t, "TestNeverExtends", l, scenarios.Options{Runs: 60, Seed: 1, Dir: t.TempDir()})
	if want := "never-extends: no Extend succeeded, of "; !j.failed ||
		!strings.HasPrefix(strings.Join(j.errors, "\n"), want) {
		t.Errorf("want %s\n%s", want, j.said())
	}
}

type unextended struct{ lock.Locker }

func (u unextended) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	l, err := u.Locker.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	return refusing{l}, nil
}

type refusing struct{ lock.Lease }

func (refusing) Extend(context.Context) error { return lock.ErrExtensionLimit }

// A plain lock with the promise of one of package lock is told which duty it breaks, and which line of glue that takes.
func TestPlainGlueWithAPromiseOfOurs(t *testing.T) {
	l := testlocks.UserLock("plain", func(e scenarios.Env, l lock.Locker) lock.Locker {
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			inner, err := l.Acquire(ctx, name)
			if err != nil {
				return nil, err
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: inner.Release, Until: inner.Until}), nil
		})
	})
	l.Promise, _ = lock.PromiseOf("single")
	j := checked(t, "TestPlain", l, scenarios.Options{Runs: 100, Seed: 1, Dir: t.TempDir()})
	if said := j.said(); !j.failed || !strings.Contains(said, `This breaks the duty "tells": `) ||
		!strings.Contains(said, "Lost of scenarios.Grant") {
		t.Errorf("want the duty, and the line of glue\n%s", said)
	}
}
