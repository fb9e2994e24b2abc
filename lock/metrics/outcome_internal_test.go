package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"locksim/lock"
)

// errWrapping is an error that wraps several sentinels, as those of package lock do.
func errWrapping(targets ...error) error {
	return fmt.Errorf("acquire order:42: %w", errors.Join(targets...))
}

func TestOutcomesOfAttempts(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, granted},
		{errWrapping(lock.ErrTaken), taken},
		{errWrapping(context.DeadlineExceeded), timeout},
		{errWrapping(context.DeadlineExceeded, lock.ErrTaken), timeout}, // a Redlock's wait
		{errWrapping(context.Canceled), cancelled},
		{errWrapping(lock.ErrOutcomeUnknown, context.DeadlineExceeded), unknown},
		{errWrapping(lock.ErrOutcomeUnknown), unknown},
		{errWrapping(lock.ErrNoQuorum, lock.ErrOutcomeUnknown, context.DeadlineExceeded), noQuorum},
		{errors.New("other"), failed},
	} {
		if got := ofAttempt(c.err); got != c.want || !slices.Contains(attemptOutcomes(), got) {
			t.Errorf("%v: outcome %q, want %q, one of %q", c.err, got, c.want, attemptOutcomes())
		}
	}
}

func TestOutcomesOfRenewals(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, renewed},
		{errWrapping(lock.ErrNotHeld), notHeld},
		{errWrapping(lock.ErrExtensionLimit), limit},
		{errWrapping(lock.ErrOutcomeUnknown), unknown},
		{errors.New("other"), failed},
	} {
		if got := ofRenewal(c.err); got != c.want || !slices.Contains(renewalOutcomes(), got) {
			t.Errorf("%v: outcome %q, want %q, one of %q", c.err, got, c.want, renewalOutcomes())
		}
	}
}

func TestOutcomesOfReleases(t *testing.T) {
	for _, c := range []struct {
		err         error
		valid, over string
	}{
		{nil, released, released},
		{errWrapping(lock.ErrNotHeld), notOwner, lost},
		{errWrapping(lock.ErrOutcomeUnknown), unknown, unknown},
		{errors.New("other"), failed, failed},
	} {
		valid, over := ofRelease(c.err, false), ofRelease(c.err, true)
		if valid != c.valid || over != c.over {
			t.Errorf("%v: outcomes %q and after the end %q, want %q and %q", c.err, valid, over, c.valid, c.over)
		}
		for _, got := range []string{valid, over} {
			if !slices.Contains(releaseOutcomes(), got) {
				t.Errorf("%v: outcome %q is not one of %q", c.err, got, releaseOutcomes())
			}
		}
	}
}
