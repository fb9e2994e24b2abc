package search_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// untold is a lock whose leases do not tell their end. deaf ones do not tell their loss
// either.
type untold struct {
	lock.Locker
	deaf bool
}

type untoldLease struct {
	lock.Lease
	deaf bool
}

func (untoldLease) Until() time.Time { return time.Time{} }

func (l untoldLease) Lost() <-chan struct{} {
	if l.deaf {
		return nil
	}
	return l.Lease.Lost()
}

func (l untold) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return untoldLease{lease, l.deaf}, nil
}

// The lease of a lock that is held, and says how long it lasts without its holder, is that long.
func TestLengthOfAHeldLease(t *testing.T) {
	l := testlocks.UserLock("theirs", func(_ subject.Env, l lock.Locker) lock.Locker { return untold{l, false} })
	l.Lease, l.Detection, l.LeaseTTL = subject.LeaseHeld, time.Minute, 30*time.Second
	if got := discovered(t, l, spaces.Space{}).TTL; got != (file.Range{Min: 30 * time.Second, Max: 30 * time.Second}) {
		t.Errorf("the TTL is %v", got)
	}
}

// A lock without Until is judged by the form of its leases: counted from the request,
// or held until its holder is told, within the detection bound.
func TestLeaseForms(t *testing.T) {
	wrapped := func(kind string, deaf bool, form subject.LeaseForm, detection time.Duration) subject.Lock {
		l := ours(t, kind)
		inner := l.New
		l.Name, l.Lease, l.Detection = "theirs", form, detection
		l.New = func(e subject.Env) (lock.Locker, error) {
			made, err := inner(e)
			return untold{made, deaf}, err
		}
		return l
	}
	const long = time.Hour // longer than any TTL that is drawn
	for name, c := range map[string]struct {
		l    subject.Lock
		runs uint64
		want checker.Label // of the violations; "" for none
	}{
		"counted":                     {wrapped("single", false, subject.LeaseCounted, 0), 40, ""},
		"held until told":             {wrapped("watchdog", false, subject.LeaseHeld, long), 40, ""},
		"held, and told by its watch": {wrapped("watchdog", false, subject.LeaseHeld, time.Second), 40, ""},
		"held, and never told":        {wrapped("watchdog", true, subject.LeaseHeld, time.Second), 1000, checker.Overlap},
		"counted beyond the TTL": {countedTooLong(wrapped("single", true, subject.LeaseCounted, 0)), 100,
			checker.Overlap},
	} {
		t.Run(name, func(t *testing.T) {
			found := map[checker.Label]int{}
			contended := 0
			for trial := range search.Trials(c.l, search.Drawn(c.l, discovered(t, c.l, spaces.Space{}),
				outcome.Seeds{First: 1, Last: c.runs})) {
				if trial.Err != nil {
					t.Fatal(trial.Err)
				}
				contended += trial.Outcome.Modes[0].Verdict.Facts.Contended
				for _, v := range trial.Violations {
					found[v.Label]++
				}
				if found[c.want] > 0 {
					break
				}
			}
			if c.want == "" && len(found) > 0 || c.want != "" && found[c.want] == 0 || contended == 0 {
				t.Errorf("violations %v, want %q; %d contended", found, c.want, contended)
			}
		})
	}
}

// A lock that says nothing about leases without an end is told what to say.
func TestLeaseWithoutForm(t *testing.T) {
	silent := testlocks.UserLock("theirs", func(_ subject.Env, l lock.Locker) lock.Locker { return silentLocker{l} })
	_, err := search.Discover(silent, spaces.Space{})
	if err == nil || !strings.Contains(err.Error(), "has no end: its Until is the zero time. Set Lease") ||
		!strings.Contains(err.Error(), "LeaseHeld, with Detection") {
		t.Errorf("got %v", err)
	}
}

// countedTooLong says that the leases of a lock last for an hour.
func countedTooLong(l subject.Lock) subject.Lock {
	l.FollowsSpec, l.LeaseTTL = true, time.Hour
	return l
}
