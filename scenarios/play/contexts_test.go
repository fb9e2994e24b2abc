package play_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// observed is what a lock has seen of the contexts of its calls.
type observed struct {
	deadlines int // Acquires whose context has a deadline
	acquires  int
	alive     int // contexts of an Acquire that had not ended when the lease was released
	releases  int
}

type observing struct {
	lock.Locker
	seen *observed
}

type observingLease struct {
	lock.Lease
	acquire context.Context
	seen    *observed
}

func (l observing) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l.seen.acquires++
	if _, ok := ctx.Deadline(); ok {
		l.seen.deadlines++
	}
	inner, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return observingLease{inner, ctx, l.seen}, nil
}

func (l observingLease) Release(ctx context.Context) error {
	l.seen.releases++
	if l.acquire.Err() == nil {
		l.seen.alive++
	}
	return l.Lease.Release(ctx)
}

// withoutContext is a lease whose Context is nil.
type withoutContext struct{ lock.Lease }

func (withoutContext) Context() context.Context { return nil }

type contextless struct{ lock.Locker }

func (l contextless) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	inner, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return withoutContext{inner}, nil
}

// A lease without a context does not end with its release.
func TestLeaseWithoutContext(t *testing.T) {
	l := testruns.Kind(t, "single")
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		locker, err := inner(e)
		return contextless{locker}, err
	}
	sc := testruns.Parse(t, "name: contextless\n")
	o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	if err != nil {
		t.Fatal(err)
	}
	if v := o.Modes[0].Verdict; v.Label != checker.Misconduct {
		t.Errorf("label %s: %v", v.Label, v.Reasons)
	}
}

// The history says when the context of an Acquire ended and whether a release succeeded,
// and the lock sees contexts as the scenario has them.
func TestContextsThatEnd(t *testing.T) {
	const ms = time.Millisecond
	run := func(t *testing.T, yaml string) (checker.History, observed) {
		t.Helper()
		sc, err := file.Parse("contexts.yaml", []byte("name: contexts\nlock: {kind: single, ttl: 10s}\n"+yaml))
		if err != nil {
			t.Fatal(err)
		}
		l, seen := testruns.Kind(t, "single"), &observed{}
		l.Promise.Duties = slices.DeleteFunc(slices.Clone(l.Promise.Duties), func(d promise.Duty) bool {
			return d == promise.DutyKeeps // it is judged by another release
		})
		inner := l.New
		l.New = func(e subject.Env) (lock.Locker, error) {
			locker, err := inner(e)
			if e.Name() == trace.Probe {
				return locker, err
			}
			return observing{locker, seen}, err
		}
		o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
		if err != nil {
			t.Fatal(err)
		}
		if label := o.Modes[0].Verdict.Label; label != checker.Safe {
			t.Errorf("label %s: %v", label, o.Modes[0].Verdict.Reasons)
		}
		return o.Modes[0].History, *seen
	}
	t.Run("a wait that ends", func(t *testing.T) {
		h, seen := run(t, "world: {latency: 1ms}\nworkload: {hold: 2s, stagger: 1s, acquire_within: 300ms}\n")
		if len(h.Grants) != 1 || h.Grants[0].ContextEnded != 0 || !h.Grants[0].ReleaseSucceeded || h.Grants[0].ReleaseFailed {
			t.Errorf("the grants are %+v", h.Grants)
		}
		if want := 1300 * ms; len(h.Attempts) != 1 || h.Attempts[0].ContextEnded.Round(ms) != want {
			t.Errorf("the attempts are %+v, want one whose context ended at %v", h.Attempts, want)
		}
		if want := (observed{acquires: 2, releases: 1}); seen != want {
			t.Errorf("seen %+v, want %+v", seen, want)
		}
	})
	t.Run("a deadline", func(t *testing.T) {
		h, seen := run(t, "world: {latency: 1ms}\nworkload: {hold: 2s, stagger: 1s, acquire_within: 300ms, deadline: true}\n")
		if want := 1300 * ms; len(h.Attempts) != 1 || h.Attempts[0].ContextEnded.Round(ms) != want {
			t.Errorf("the attempts are %+v, want one whose context ended at %v", h.Attempts, want)
		}
		if want := (observed{acquires: 2, deadlines: 2, releases: 1}); seen != want {
			t.Errorf("seen %+v, want %+v", seen, want)
		}
	})
	t.Run("no limit", func(t *testing.T) {
		_, seen := run(t, "world: {latency: 1ms}\nworkload: {hold: 2s, stagger: 1s}\n")
		if want := (observed{acquires: 2, alive: 2, releases: 2}); seen != want {
			t.Errorf("seen %+v, want %+v", seen, want)
		}
	})
	const cut = `
faults:
  - when: {client: c0, event: release}
    partition: {between: [c0], and: [r0], for: 3s}
`
	t.Run("a release that fails", func(t *testing.T) {
		h, seen := run(t, "world: {clients: 1, latency: 1ms}\nworkload: {hold: 2s}"+cut)
		if g := h.Grants[0]; g.ReleaseSucceeded || !g.ReleaseFailed || seen.releases != 1 {
			t.Errorf("%+v after %d calls", g, seen.releases)
		}
	})
	t.Run("a release that is called again", func(t *testing.T) {
		h, seen := run(t, "world: {clients: 1, latency: 1ms}\nworkload: {hold: 2s, release: retried}"+cut)
		// The first call fails after the 2s that a release has; its copy is lost with its
		// connection. The second is answered when the link is whole.
		if g := h.Grants[0]; !g.ReleaseSucceeded || g.ReleaseFailed || seen.releases != 2 {
			t.Errorf("%+v after %d calls", g, seen.releases)
		}
	})
}

// timed is a lock whose Acquire gives itself as long as its caller does, and says which of the two limits it came to.
type timed struct{ lock.Locker }

func (l timed) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), 300*time.Millisecond)
	defer cancel()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-own.Done():
		return l.Locker.Acquire(context.WithoutCancel(ctx), resource)
	}
}

// A context of the driver does not end in the instant of a timer that the lock began with the call: which of the two
// its select takes would be open.
func TestDeadlineBesideATimer(t *testing.T) {
	l := testruns.Kind(t, "single")
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		locker, err := inner(e)
		return timed{locker}, err
	}
	sc := testruns.Parse(t, "name: beside\nlock: {ttl: 10s}\nworkload: {rounds: 6, acquire_within: 300ms, deadline: "+
		"true}\n")
	for seed := range uint64(10) {
		opts := play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Repeat: outcome.Twice}
		if _, err := play.Run(sc, l, opts); err != nil {
			t.Fatal(err)
		}
	}
}
