package scenarios_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// leaky makes a client for each Acquire, and closes none.
type leaky struct{ env subject.Env }

func (l leaky) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	of, err := lock.NewSingle(redisclient.New(l.env, subject.Primary), testlocks.Options(l.env))
	if err != nil {
		return nil, err
	}
	return of.Acquire(ctx, resource)
}

// eager asks again 50 µs after each answer.
type eager struct {
	*lock.Single
	clock lock.Clock
}

func (l eager) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	for {
		lease, err := l.TryAcquire(ctx, resource)
		if !errors.Is(err, lock.ErrTaken) {
			return lease, err
		}
		if err := l.clock.Sleep(ctx, 50*time.Microsecond); err != nil {
			return nil, errors.Join(lock.ErrTaken, err)
		}
	}
}

// A pass says how many connections the clients of a lock had, and how often they asked: what breaks no promise may
// still be more than a server bears.
func TestCheckSaysTheLoad(t *testing.T) {
	for name, c := range map[string]struct {
		wrap func(e subject.Env, l lock.Locker) lock.Locker
		want string
	}{
		"theirs": {func(_ subject.Env, l lock.Locker) lock.Locker { return l },
			`^open connections of a client at the end of a run: at most [1-4]; messages that a client sent while it waited: at most \d\d a second$`},
		"leaky": {func(e subject.Env, _ lock.Locker) lock.Locker { return leaky{e} },
			`^open connections of a client at the end of a run: at most \d\d; messages`},
		"eager": {func(e subject.Env, l lock.Locker) lock.Locker { return eager{l.(*lock.Single), e.Clock()} },
			`while it waited: at most [3-9]\d\d a second$`},
	} {
		t.Run(name, func(t *testing.T) {
			l := testlocks.UserLock(name, c.wrap)
			l.Promise = testlocks.Correct(name).Promise
			passes := checked(t, "TestTheirs", l, quick(t))
			wantPass(t, passes)
			wants(t, passes.said(), c.want)
		})
	}
}
