package search_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// refusing is a lock that refuses a client which has it.
type refusing struct {
	lock.Locker
	has *bool
}

func (r refusing) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	if *r.has {
		return nil, errors.New("deadlock: this client has the lock")
	}
	l, err := r.Locker.Acquire(ctx, resource)
	*r.has = err == nil
	if err != nil {
		return nil, err
	}
	return freeing{l, r.has}, nil
}

type freeing struct {
	lock.Lease
	has *bool
}

func (f freeing) Release(ctx context.Context) error {
	*f.has = false
	return f.Lease.Release(ctx)
}

func TestNoted(t *testing.T) {
	single := testruns.Kind(t, "single")
	refuses := single
	refuses.Name = "refuses"
	refuses.New = func(e subject.Env) (lock.Locker, error) {
		l, err := single.New(e)
		return refusing{l, new(bool)}, err
	}
	for _, c := range []struct {
		lock subject.Lock
		want string
	}{
		{single, "waits for itself"},
		{testruns.Kind(t, "watchdog"), "waits for itself"},
		{testruns.Kind(t, "reentrant"), ""},
		{refuses, "gets an error"},
	} {
		t.Run(c.lock.Name, func(t *testing.T) {
			got := strings.Join(search.Noted(c.lock, discovered(t, c.lock, spaces.Space{})), "; ")
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("noted %q, want %q", got, c.want)
			}
		})
	}
}
