package lock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"locksim/lock"
)

var redlockFencedKind = quorumKinds[1]

// Any two majorities have a node in common, which has the counter.
func TestRedlockTokensIncreaseOverAnyTwoMajorities(t *testing.T) {
	choose(2, func(name string, first []int) {
		t.Run(name, func(t *testing.T) {
			choose(2, func(_ string, second []int) {
				gridOf(t, redlockFencedKind, func(g *grid) {
					a, toA := g.lock(lock.RedlockOptions{})
					b, toB := g.lock(lock.RedlockOptions{})
					toA.each((*wire).refuse, first...)
					toB.each((*wire).refuse, second...)
					one := g.acquire(a)
					_ = one.Release(g.Context())
					two := g.acquire(b)
					if one.Token() != 1 || two.Token() != 2 {
						g.Errorf("down: %v, then %v: tokens %d and %d, want 1 and 2", first, second, one.Token(), two.Token())
					}
				})
			})
		})
	})
}

// As the documentation warns, one node that loses its counter is enough, if it is the only one in common.
func TestRedlockTokensRepeatAfterANodeForgets(t *testing.T) { // F09
	gridOf(t, redlockFencedKind, func(g *grid) {
		a, toA := g.lock(lock.RedlockOptions{})
		b, toB := g.lock(lock.RedlockOptions{})
		toA.each((*wire).refuse, 3, 4)
		toB.each((*wire).refuse, 0, 1)
		var tokens []uint64
		for range 3 {
			lease := g.acquire(a)
			tokens = append(tokens, lease.Token())
			_ = lease.Release(g.Context())
		}
		g.nodes[2].FlushAll()
		after := g.acquire(b)
		if last := tokens[len(tokens)-1]; last != 3 || after.Token() != 1 {
			g.Errorf("tokens %v, then %d: want that it regresses to 1", tokens, after.Token())
		}
	})
}

func TestRedlockTokensIncreaseThoughAMinorityOfTheMajorityForgets(t *testing.T) {
	gridOf(t, redlockFencedKind, func(g *grid) {
		l, _ := g.lock(lock.RedlockOptions{})
		var last uint64
		for i := range 10 {
			lease := g.acquire(l)
			if lease.Token() <= last {
				g.Errorf("token %d after %d", lease.Token(), last)
			}
			last = lease.Token()
			g.release(lease)
			g.nodes[i%5].FlushAll() // the four others all have the counter
		}
	})
}

func TestTokenThatAMajorityDidNotConfirmIsNotGranted(t *testing.T) {
	gridOf(t, redlockFencedKind, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		g.warm(l)
		second := func(w *wire) { w.arm(fault{command: lock.RaiseTokenSHA, loseRequest: true}) }
		lines.each(second, 0, 1, 2)
		_, err := l.TryAcquire(g.Context(), resource)
		g.want(err, lock.ErrNoQuorum, lock.ErrOutcomeUnknown)
		g.wantNodes(err, 0, 1, 2)
		g.wantHolding(l)
		if lease := g.acquire(l); lease.Token() != 3 { // 1 was granted, 2 was written to a minority
			g.Errorf("token %d, want 3", lease.Token())
		}
	})
}

// The keys are lost between the two rounds: only their present owner may count.
func TestOnlyAnOwnerCounts(t *testing.T) {
	gridOf(t, redlockFencedKind, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		g.warm(l)
		lines[4].cut() // the second round is later by a node timeout
		time.AfterFunc(nodeTimeout/2, func() { g.forget(l, 0, 1) })
		_, err := l.TryAcquire(g.Context(), resource)
		g.want(err, lock.ErrTaken)
		g.wantNodes(err, 0, 1, 4)
		for i, want := range []string{"1", "1", "2", "2", "1"} {
			if counter, _ := g.nodes[i].Get(l.(*lock.RedlockFenced).TokenKey(resource)); counter != want {
				g.Errorf("r%d has counted to %s, want %s", i, counter, want)
			}
		}
	})
}

func TestBadCountersGrantNothing(t *testing.T) {
	for _, counter := range []string{"-5", "9007199254740992", "x"} {
		t.Run(counter, func(t *testing.T) {
			gridOf(t, redlockFencedKind, func(g *grid) {
				l, _ := g.lock(lock.RedlockOptions{})
				key := l.(*lock.RedlockFenced).TokenKey(resource)
				for i := range 3 {
					if err := g.nodes[i].Set(key, counter); err != nil {
						g.Fatal(err)
					}
				}
				_, err := l.Acquire(g.Context(), resource)
				g.want(err, lock.ErrNoQuorum)
				if errors.Is(err, lock.ErrOutcomeUnknown) {
					g.Errorf("error %v: they have refused", err)
				}
				g.wantHolding(l)
			})
		})
	}
}

func TestCounterAtItsEnd(t *testing.T) {
	gridOf(t, redlockFencedKind, func(g *grid) {
		l, _ := g.lock(lock.RedlockOptions{})
		if err := g.nodes[0].Set(l.(*lock.RedlockFenced).TokenKey(resource), "9007199254740991"); err != nil {
			g.Fatal(err)
		}
		_, err := l.Acquire(g.Context(), resource)
		if want := "the token counter is out of range"; err == nil || !strings.HasSuffix(err.Error(), want) {
			g.Errorf("error %v, want %q", err, want)
		}
		g.wantHolding(l)
	})
}
