package play_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// lossScenario has one holder that a fault separates from its lock for longer than
// the TTL, and one successor.
func lossScenario(t testing.TB, hold time.Duration, fault string) *file.Scenario {
	t.Helper()
	sc, err := file.Parse("loss.yaml", fmt.Appendf(nil, `
name: loss
lock: {ttl: 10s}
workload: {rounds: 1, hold: %v, stagger: 1s, checks_until: lost}
faults:
  - %s
`, hold, fault))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// tally counts the results of many seeds.
type tally struct{ seeds, corrupted, rescued, beliefs int }

func (c *tally) add(m outcome.ModeRun) {
	c.seeds++
	if m.Verdict.Facts.Data == checker.DataCorrupted {
		c.corrupted++
	}
	if m.Verdict.Label == checker.Rescued {
		c.rescued++
	}
	if m.Verdict.Facts.BeliefOverlaps > 0 {
		c.beliefs++
	}
}

// Under a partition of the holder alone, with no pause and no clock fault, the
// holder gets the notice of the loss before its successor is granted the lock, so
// that claims never overlap. A write that was already in flight may still corrupt
// the data (F13): the log has how often it did.
func TestNoticeComesBeforeTheSuccessor(t *testing.T) {
	for _, kind := range []string{"watchdog", "watchdog-fenced", "redlock", "redlock-watchdog"} {
		t.Run(kind, func(t *testing.T) {
			var inFlight tally
			for seed := uint64(1); seed <= uint64(max(testruns.Soak(t, 500, 0.06), 20)); seed++ {
				// The hold is drawn, so that the write is in flight in some seeds and not yet sent in others.
				hold := time.Duration(1+rand.New(rand.NewPCG(seed, 1)).IntN(14)) * time.Second
				sc := lossScenario(t, hold, "when: {client: c0, event: read, nth: 1}\n    partition: {between: [c0], for: 20s}")
				m := testruns.Play(t, sc, testruns.Kind(t, kind),
					play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}}).Modes[0]
				if m.Verdict.Facts.ClaimOverlaps > 0 {
					t.Errorf("seed %d, hold %v: claims overlap: %v", seed, hold, m.Verdict.Reasons)
				}
				checkNotice(t, seed, m.History)
				inFlight.add(m)
			}
			t.Logf("%d seeds, a successor in each, claims never overlap; a write in flight corrupted %d", inFlight.seeds,
				inFlight.corrupted)
			if inFlight.corrupted == 0 || inFlight.corrupted == inFlight.seeds {
				t.Error("want some seeds in which the write was in flight, and some in which it was not")
			}
		})
	}
}

// checkNotice checks that c1 was granted the lock, and that c0 had the notice of
// its loss before.
func checkNotice(t *testing.T, seed uint64, h checker.History) {
	t.Helper()
	var notice, successor checker.Pos
	for _, g := range h.Grants {
		switch g.Client {
		case "c0":
			notice = g.Lost
		case "c1":
			successor = g.Granted
		}
	}
	if successor == 0 || notice == 0 || notice > successor {
		t.Errorf("seed %d: c0 had its notice at step %d, c1 was granted the lock at step %d", seed, notice, successor)
	}
}

// Under pauses around the length of the TTL claims still exclude each other, while
// beliefs overlap. The data is right in every seed under the mode that the lock
// promises. Under check, the stale write that comes before the successor's first
// one is let through (F14): the log has how often.
func TestPauseAboutTheTTL(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	for kind, promised := range map[string]fence.Mode{"watchdog": fence.Claim, "watchdog-fenced": fence.Seal,
		"redlock": fence.Claim} {
		t.Run(kind, func(t *testing.T) {
			counts := map[fence.Mode]*tally{}
			for _, mode := range []fence.Mode{fence.None, fence.Check, promised} {
				counts[mode] = new(tally)
			}
			for seed := uint64(1); seed <= uint64(max(testruns.Soak(t, 500, 0.06), 20)); seed++ {
				pauseRun(t, kind, seed, counts)
			}
			for _, mode := range fence.Modes() {
				if c := counts[mode]; c != nil && c.seeds > 0 {
					t.Logf("mode %s: %d seeds, beliefs overlapped in %d, corrupted %d, rescued %d", mode, c.seeds, c.beliefs,
						c.corrupted, c.rescued)
				}
			}
			if c := counts[promised]; c.corrupted > 0 || c.rescued == 0 {
				t.Errorf("mode %s: %d seeds corrupted, %d rescued: the promise is none and some", promised, c.corrupted, c.rescued)
			}
			if counts[fence.None].corrupted == 0 || counts[fence.None].beliefs == 0 {
				t.Error("no pause did harm: the test shows nothing")
			}
			if c := counts[fence.Check]; c.seeds > 0 && c.corrupted == 0 {
				t.Error("mode check: F14 was never seen")
			}
		})
	}
}

func pauseRun(t *testing.T, kind string, seed uint64, counts map[fence.Mode]*tally) {
	sc := lossScenario(t, 4*time.Second, "when: {client: c0, event: write, nth: 1}\n    pause: {process: c0, for: 15s}")
	pause := 6*time.Second + time.Duration(rand.New(rand.NewPCG(seed, 2)).Int64N(int64(14*time.Second)))
	sc.Faults[0].Action = faults.Pause{Process: "c0", For: pause}
	modes := []fence.Mode{}
	for _, mode := range fence.Modes() {
		if counts[mode] != nil {
			modes = append(modes, mode)
		}
	}
	for _, m := range testruns.Play(t, sc, testruns.Kind(t, kind), play.RunOptions{Seed: seed, Modes: modes}).Modes {
		if m.Trace == nil {
			continue // the mode needs tokens, and the lock mints none
		}
		if m.Verdict.Facts.ClaimOverlaps > 0 {
			t.Errorf("seed %d, pause %v, mode %s: claims overlap: %v", seed, pause, m.Mode, m.Verdict.Reasons)
		}
		counts[m.Mode].add(m)
	}
}

// blind is a lease whose holder moves its end from time to time and asks no server.
type blind struct {
	lock.Lease
	until atomic.Pointer[time.Time]
}

func (b *blind) Until() time.Time    { return *b.until.Load() }
func (*blind) Lost() <-chan struct{} { return nil }

// A pause strikes when the client is about to write, and hides the end of its lease and a grant to another client.
// After the pause the lock moves the end of that lease into the future: it began to hold again after that grant, not
// before.
func TestRevivedBehindAPause(t *testing.T) {
	l := testlocks.UserLock("blind", func(e subject.Env, l lock.Locker) lock.Locker {
		return acquirer(func(ctx context.Context, resource string) (lock.Lease, error) {
			lease, err := l.Acquire(ctx, resource)
			if err != nil {
				return nil, err
			}
			b, first := &blind{Lease: lease}, lease.Until()
			b.until.Store(&first)
			go func() {
				for e.Clock().Sleep(e.Context(), testlocks.TTL/3) == nil {
					moved := e.Clock().Now().Add(testlocks.TTL)
					b.until.Store(&moved)
				}
			}()
			return b, nil
		})
	})
	for seed := uint64(1); seed <= 20; seed++ {
		sc := lossScenario(t, testlocks.TTL/6, "when: {client: c0, event: write, nth: 1}\n    pause: {process: c0, for: 25s}")
		for _, m := range testruns.Play(t, sc, l, play.RunOptions{Seed: seed}).Modes {
			if f := m.Verdict.Facts; m.Trace != nil && f.RevivedClaims != 1 {
				t.Errorf("seed %d, mode %s: %d leases began to hold again after another grant, want 1\n%+v", seed, m.Mode,
					f.RevivedClaims, m.History.Grants)
			}
		}
	}
}

type acquirer func(ctx context.Context, resource string) (lock.Lease, error)

func (f acquirer) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return f(ctx, resource)
}

// A lock that knew before its last answer came that a lease was lost must not return it. A loss in the instant of a
// return without an answer may have come after the last look.
func TestLossBeforeTheReturn(t *testing.T) {
	lost := make(chan struct{})
	close(lost)
	ended, end := context.WithCancelCause(t.Context())
	end(lock.ErrLost)
	left, leave := context.WithCancel(t.Context())
	leave()
	announced := func(l lock.Lease) lock.Lease { return announcedLease{l, lost} }
	within := func(ctx context.Context) func(lock.Lease) lock.Lease {
		return func(l lock.Lease) lock.Lease {
			return unfaithfulLease{Lease: l, ctx: func() context.Context { return ctx }}
		}
	}
	for name, tt := range map[string]struct {
		lease func(lock.Lease) lock.Lease
		wait  time.Duration // after the answer
		void  bool
		late  int
	}{
		"announced":                       {announced, 0, true, 3},
		"announced, and returned later":   {announced, time.Millisecond, false, 3},
		"context ended by the loss":       {within(ended), 0, true, 3},
		"context ended by something else": {within(left), 0, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := testruns.Kind(t, "single")
			l.Promise.Duties = nil
			right := l.New
			l.New = func(e subject.Env) (lock.Locker, error) {
				locker, err := right(e)
				return unfaithful{Locker: locker, lease: func(l lock.Lease) lock.Lease {
					if tt.wait > 0 {
						_ = e.Clock().Sleep(context.Background(), tt.wait)
					}
					return tt.lease(l)
				}}, err
			}
			sc := testruns.Parse(t, "name: faulty\nworld: {clients: 3, latency: 1ms}\nlock: {ttl: 2s, backoff: 100ms..200ms}\n"+
				// a calm run judges more
				"workload: {rounds: 1, hold: 1s}\nfaults: [{at: 500ms, pause: {process: c0, for: 1ms}}]\n")
			v := verdictOf(t, l, sc)
			if got := v.Facts.VoidGrants > 0; got != tt.void || v.Facts.LateGrants != tt.late {
				t.Errorf("void %d, late %d, want void %v, late %d: %v", v.Facts.VoidGrants, v.Facts.LateGrants, tt.void, tt.late,
					v.Reasons)
			}
			if tt.void && !strings.Contains(v.Reasons[0].Text, "the lock knew to be lost by then") {
				t.Errorf("reason %q", v.Reasons[0].Text)
			}
		})
	}
}

// announcedLease is a lease that has been lost.
type announcedLease struct {
	lock.Lease
	lost chan struct{}
}

func (l announcedLease) Lost() <-chan struct{} { return l.lost }
