package cases_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// tried plays a lock without faults, and then under schedules that seeds draw, up to the first violation.
func tried(t *testing.T, l scenarios.Lock, seeds uint64) (runs int, found *search.Trial, sum tally.Tally) {
	t.Helper()
	space, err := search.Discover(l, spaces.Space{})
	if err != nil {
		t.Fatal(err)
	}
	drawn := search.Trials(l, search.Drawn(l, space, outcome.Seeds{First: 1, Last: seeds}))
	for _, trials := range []iter.Seq[*search.Trial]{search.CalmTrials(l, space), drawn} {
		for one := range trials {
			if one.Err != nil {
				t.Fatal(one.Err)
			}
			runs++
			sum.Add(one.Tally())
			if len(one.Violations) > 0 {
				return runs, one, sum
			}
		}
	}
	return runs, nil, sum
}

// A lock that gives nothing back is found in the runs without faults.
func TestNoRelease(t *testing.T) {
	runs, found, _ := tried(t, find(t, "no-release"), 20)
	if found == nil || found.Violations[0].Label != checker.Stuck || found.Outcome.Modes[0].Verdict.Facts.Withheld == 0 {
		t.Fatalf("%d runs: %+v", runs, found)
	}
	t.Logf("run %d: %v: %s", runs, found.Violations, found.Outcome.Modes[0].Verdict.Reasons[0].Text)
}

// A lock whose Acquire fails for no reason of its caller has its error on the pass line, and is found if it says how it
// says that it is taken.
func TestHolderGone(t *testing.T) {
	l := find(t, "r06-holder-gone")
	_, found, tally := tried(t, l, 60)
	const says = "read the holder of order: redis: nil"
	if found != nil || !slices.ContainsFunc(tally.Errors, func(e checker.CallError) bool {
		return e.Call == "Acquire" &&
			e.Error == says
	}) {
		t.Errorf("found %v, and counted %v", found, tally.Errors)
	}
	l.Taken = []error{lock.ErrTaken}
	if runs, found, _ := tried(t, l, 200); found == nil || found.Violations[0].Label != checker.Misconduct {
		t.Errorf("%d runs of the lock that names its errors: %v", runs, found)
	} else {
		t.Logf("run %d of the lock that names its errors", runs)
	}
}

// Every release of a lock fails since its server does not have the command.
func TestDelifeq(t *testing.T) {
	runs, found, tally := tried(t, find(t, "r22b-delifeq"), 20)
	if runs != 1 || found == nil ||
		!slices.ContainsFunc(found.Violations, func(v outcome.Violation) bool { return v.Label == checker.Misconduct }) {
		t.Errorf("%d runs: %v", runs, found)
	}
	if found != nil && !slices.Contains(found.Outcome.Modes[0].Unknown, "Redis 7.0.15 does not know the command DELIFEQ") {
		t.Errorf("unknown: %q", found.Outcome.Modes[0].Unknown)
	}
	if c := tally.Calls; c.Released > 0 || c.FailedReleases == 0 {
		t.Errorf("calls %v, errors %v", c.Texts(), tally.Errors)
	}
}

// A lock that is meant to stay taken for a while after its release says so in its promise.
func TestAtLeast(t *testing.T) {
	l := find(t, "r08-at-least-for")
	if runs, found, _ := tried(t, l, 1); runs != 1 || found == nil || found.Violations[0].Label != checker.Stuck {
		t.Errorf("without the promise: %d runs, %v", runs, found)
	}
	l.Promise.FreeAfter = map[promise.Cause]lock.Term{promise.CauseOther: lock.TermTTL}
	if runs, found, _ := tried(t, l, 15); found != nil {
		t.Errorf("with the promise, run %d: %v: %v", runs, found.Violations, found.Outcome.Modes[0].Verdict.Reasons)
	}
}

// A lock of which one method is replaced.
type changed struct {
	lock.Locker
	extend, release func(ctx context.Context, l lock.Lease) error
}

type changedLease struct {
	lock.Lease
	of      *changed
	request context.Context
}

func (c *changed) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	l, err := c.Locker.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	return changedLease{l, c, ctx}, nil
}

func (l changedLease) Extend(ctx context.Context) error {
	if l.of.extend != nil {
		return l.of.extend(ctx, l.Lease)
	}
	return l.Lease.(lock.Extender).Extend(ctx)
}

func (l changedLease) Release(ctx context.Context) error {
	if l.of.release != nil {
		return l.of.release(l.request, l.Lease)
	}
	return l.Lease.Release(ctx)
}

// A single lock passes; one whose every Extend fails does not, nor one that says each time that it is not held, nor one
// whose release ends with the context of its Acquire, nor one that releases nothing.
func TestChangedCalls(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(l lock.Locker) lock.Locker
		want checker.Label
	}{
		{"right", func(l lock.Locker) lock.Locker { return &changed{Locker: l} }, ""},
		{"no-extend", func(l lock.Locker) lock.Locker {
			return &changed{Locker: l, extend: func(context.Context, lock.Lease) error { return errors.New("unknown command") }}
		}, checker.Misconduct},
		{"never-held", func(l lock.Locker) lock.Locker {
			return &changed{Locker: l, extend: func(context.Context, lock.Lease) error { return lock.ErrNotHeld }}
		}, checker.Misconduct},
		{"release-of-the-request", func(l lock.Locker) lock.Locker {
			return &changed{Locker: l, release: func(request context.Context, l lock.Lease) error {
				if request.Err() != nil {
					return request.Err()
				}
				return l.Release(request)
			}}
		}, checker.Stuck},
		{"released-in-words", func(l lock.Locker) lock.Locker {
			return &changed{Locker: l, release: func(context.Context, lock.Lease) error { return nil }}
		}, checker.Stuck},
	} {
		t.Run(c.name, func(t *testing.T) {
			single, err := scenarios.Kind("single")
			if err != nil {
				t.Fatal(err)
			}
			l := scenarios.Lock{Name: c.name, Traits: scenarios.Traits{FollowsSpec: true,
				Promise: find(t, "no-release").Promise},
				New: func(e scenarios.Env) (lock.Locker, error) {
					inner, err := single.New(e)
					return c.make(inner), err
				}}
			most := uint64(60)
			if c.want == "" {
				most = 20
			}
			runs, found, tally := tried(t, l, most)
			switch {
			case c.want == "" && found != nil:
				t.Errorf("run %d: %v: %v", runs, found.Violations, found.Outcome.Modes[0].Verdict.Reasons)
			case c.want != "" && (found == nil || found.Violations[0].Label != c.want):
				t.Errorf("%d runs, %s: %v", runs, tally.ByCall(), found)
			}
		})
	}
}
