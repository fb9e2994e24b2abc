package locktest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locksim/lock"
)

// TestCorrectLocks: a correct lock passes the test of every promise that it makes, so that a mutant fails only for its
// mistake.
func TestCorrectLocks(t *testing.T) {
	kept := map[string]bool{}
	for name, h := range map[string]Harness{
		"single":    onSimNode(Harness{}, single),
		"fenced":    onSimNode(Harness{Tokens: true}, fenced),
		"reentrant": onSimNode(Harness{}, reentrant),
		"fair":      onSimNode(Harness{Fair: true}, fairLock),
		"watchdog":  onSimNode(Harness{Tokens: true, Renews: true}, watchdogLock),
	} {
		for _, p := range promises {
			w := &recorder{}
			h.testPromise(w, p)
			kept[p.name] = kept[p.name] || !w.skipped
			if len(w.failures) > 0 {
				t.Errorf("%s, %s:\n%s", name, p.name, strings.Join(w.failures, "\n"))
			}
		}
	}
	for _, p := range promises {
		if !kept[p.name] {
			t.Errorf("%q was skipped for every lock", p.name)
		}
	}
}

// TestRequestGivenUp: a lock is right whose server answers a request that was given up late, and so grants the lock to
// a client that is gone, for a moment. A PostgreSQL that is busy does so with FOR UPDATE SKIP LOCKED.
func TestRequestGivenUp(t *testing.T) {
	h := onSimNode(Harness{}, func(m machine) lock.Locker {
		inner := single(m)
		return faulty{Locker: inner, acquire: func(ctx context.Context, r string) (lock.Lease, error) {
			l, err := inner.Acquire(ctx, r)
			if err != nil {
				go func() {
					ctx := context.WithoutCancel(ctx)
					l, err := inner.(lock.Trier).TryAcquire(ctx, r)
					for ; errors.Is(err, lock.ErrTaken); l, err = inner.(lock.Trier).TryAcquire(ctx, r) {
						time.Sleep(10 * time.Microsecond)
					}
					if err == nil {
						time.Sleep(ttl / 25)
						_ = l.Release(ctx)
					}
				}()
			}
			return l, err
		}}
	})
	if w := play(t, "try", h); w.skipped || len(w.failures) > 0 {
		t.Errorf("skipped %v, failures %q", w.skipped, w.failures)
	}
}

func TestInvalidHarness(t *testing.T) {
	world := World{New: func(testing.TB, int) Client { return Client{} }}
	for want, h := range map[string]Harness{
		"neither New nor Fresh": {TTL: time.Second},
		"has no TTL":            {World: world},
		"Slack -1s":             {World: world, TTL: time.Second, Slack: -time.Second},
		"Together -1":           {World: world, TTL: time.Second, Together: -1},
	} {
		if err := h.validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := (Harness{World: world, TTL: time.Second}).validate(); err != nil {
		t.Error(err)
	}
}

// TestTooSlow: an inconclusive test is repeated, and fails after the last try.
func TestTooSlow(t *testing.T) {
	h := Harness{TTL: time.Second, World: World{New: func(testing.TB, int) Client { return Client{} }}}
	for conclusive, failures := range map[int]int{1: 0, tries: 0, tries + 1: 1} {
		runs := 0
		w := &recorder{}
		h.testPromise(w, promise{"it", func(s *trial) {
			if runs++; runs < conclusive {
				s.slow("inconclusive")
			}
		}})
		if len(w.failures) != failures || runs != min(conclusive, tries) {
			t.Errorf("conclusive at try %d: %d tries, failures %q", conclusive, runs, w.failures)
		}
	}
}
