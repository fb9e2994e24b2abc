package lock_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"locksim/lock"
)

const (
	nodeTimeout = 100 * time.Millisecond // of the default TTL
	validity    = lock.DefaultTTL - 102*time.Millisecond
)

func TestMinorityMayBeDown(t *testing.T) {
	choose(2, func(name string, down []int) {
		t.Run(name, func(t *testing.T) {
			everyRedlock(t, func(g *grid) {
				l, lines := g.lock(lock.RedlockOptions{})
				lines.each((*wire).refuse, down...)
				lease := g.acquire(l)
				g.wantHolding(l, others(down)...)
				err := lease.Release(g.Context())
				g.wantNodes(err, down...)
				if errors.Is(err, lock.ErrOutcomeUnknown) {
					g.Errorf("error %v: nothing was sent to them", err)
				}
				g.wantHolding(l)
			})
		})
	})
}

func TestMajorityMustAnswer(t *testing.T) {
	choose(3, func(name string, down []int) {
		t.Run(name, func(t *testing.T) {
			everyRedlock(t, func(g *grid) {
				l, lines := g.lock(lock.RedlockOptions{})
				lines.each((*wire).refuse, down...)
				_, err := l.Acquire(g.Context(), resource)
				g.want(err, lock.ErrNoQuorum, syscall.ECONNREFUSED)
				g.wantNodes(err, down...)
				if errors.Is(err, lock.ErrTaken) {
					g.Errorf("error %v wraps ErrTaken: no client holds the lock", err)
				}
				g.wantHolding(l) // F26
			})
		})
	})
}

func TestMinorityIsReleasedWhenTheMajorityIsTaken(t *testing.T) { // F26
	choose(3, func(name string, taken []int) {
		t.Run(name, func(t *testing.T) {
			everyRedlock(t, func(g *grid) {
				l, _ := g.lock(lock.RedlockOptions{})
				g.take(l, taken...)
				_, err := l.TryAcquire(g.Context(), resource)
				g.want(err, lock.ErrTaken)
				g.wantNodes(err, taken...)
				g.wantHolding(l)
			})
		})
	})
}

func TestNodesThatDidNotAnswerAreReleased(t *testing.T) { // F26, F27
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		g.take(l, 0, 1, 2)
		lines.each(silent(g.kind.ask), 3, 4)
		_, err := l.TryAcquire(g.Context(), resource)
		g.want(err, lock.ErrTaken, lock.ErrOutcomeUnknown)
		g.wantNodes(err, 0, 1, 2, 3, 4)
		g.wantHolding(l)
	})
}

func TestAnswersInErrors(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		g.take(l, 1)
		g.nodes[2].SetError("LOADING Redis is loading the dataset in memory")
		lines[3].refuse()
		lines[4].refuse()
		_, err := l.Acquire(g.Context(), resource)
		want := "acquire order:42: no quorum: 1 of 5 nodes agreed, 3 are needed: r1: taken; r2: LOADING Redis is loading " +
			"the dataset in memory; r3: dial tcp: connection refused; r4: dial tcp: connection refused"
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			g.Errorf("error %v, want %s", err, want)
		}
		if !strings.Contains(err.Error(), "these nodes may be taken for 10s: r2: LOADING") {
			g.Errorf("error %v does not tell of the clean-up", err)
		}
		if errors.Is(err, lock.ErrTaken) || errors.Is(err, lock.ErrNotHeld) {
			g.Errorf("error %v: what one node says is not the answer of all", err)
		}
	})
}

func TestSilentNodesCostOneNodeTimeout(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		g.warm(l)
		lines.each((*wire).cut, 1, 3)
		began := time.Now()
		lease := g.acquire(l)
		rounds := time.Duration(1)
		if g.kind.name == "redlock-fenced" {
			rounds = 2
		}
		if took := time.Since(began); took != rounds*nodeTimeout {
			g.Errorf("Acquire took %v, want %v", took, rounds*nodeTimeout)
		}
		if valid := lease.Until().Sub(began); valid != validity {
			g.Errorf("valid for %v after the send, want %v", valid, validity)
		}
		began = time.Now()
		err := lease.Release(g.Context())
		g.wantNodes(err, 1, 3)
		if took := time.Since(began); took != 4*nodeTimeout {
			g.Errorf("Release took %v, want four node timeouts", took)
		}
	})
}

func TestNodeTimeouts(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{
		100 * time.Millisecond: 10 * time.Millisecond,
		2 * time.Second:        50 * time.Millisecond,
		20 * time.Second:       200 * time.Millisecond,
	} {
		everyRedlock(t, func(g *grid) {
			l, lines := g.lock(lock.RedlockOptions{Options: lock.Options{TTL: ttl}})
			g.warm(l)
			lines.each((*wire).cut, 0, 1, 2)
			began := time.Now()
			_, err := l.TryAcquire(g.Context(), resource)
			g.want(err, lock.ErrNoQuorum, lock.ErrOutcomeUnknown)
			if took := time.Since(began); took != 5*want { // a try, and the clean-up
				g.Errorf("TTL %v: a failed try took %v, want %v", ttl, took, 5*want)
			}
		})
	}
}

func TestAnswersThatComeTooLateGrantNothing(t *testing.T) { // F23
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		late := func(w *wire) { w.arm(fault{command: g.kind.ask, delay: validity}) } // like a pause
		lines.each(late, 0, 1, 2)
		_, err := l.TryAcquire(g.Context(), resource)
		if want := "granted too late, and given back"; err == nil || !strings.HasSuffix(err.Error(), want) {
			g.Errorf("error %v, want %q", err, want)
		}
		g.wantHolding(l)
	})
}

func TestLateGrantIsAskedForAgain(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		lines.each(func(w *wire) { w.arm(fault{command: g.kind.ask, delay: validity}) }, 0, 1, 2)
		lease := g.acquire(l)
		if left := time.Until(lease.Until()); left != validity {
			g.Errorf("the lease has %v left, want that of a fresh grant", left)
		}
	})
}

func TestDriftShortensTheValidity(t *testing.T) { // F20
	everyRedlock(t, func(g *grid) {
		l, _ := g.lock(lock.RedlockOptions{
			Options: lock.Options{TTL: 10 * time.Second}, DriftFactor: 0.1, DriftConstant: 500 * time.Millisecond,
		})
		lease := g.acquire(l)
		began := time.Now()
		<-lease.Lost()
		if after := time.Since(began); after != 8500*time.Millisecond {
			g.Errorf("lost after %v, want 8.5s", after)
		}
		g.wantHolding(l, 0, 1, 2, 3, 4)
		if left := g.nodes[0].TTL(l.Key(resource)); left != 1500*time.Millisecond {
			g.Errorf("the key lasts %v when the holder is told, want 1.5s", left)
		}
	})
}

// Each of two clients gets two nodes at first, since its other requests are lost, and a third gets one.
func TestSplitVoteRecovers(t *testing.T) { // F25
	everyRedlock(t, func(g *grid) {
		a, toA := g.lock(lock.RedlockOptions{})
		b, toB := g.lock(lock.RedlockOptions{})
		g.take(a, 2)
		time.AfterFunc(time.Millisecond, func() { g.forget(a, 2) })
		lose := func(w *wire) { w.arm(fault{command: g.kind.ask, loseRequest: true, err: syscall.ECONNRESET}) }
		toA.each(lose, 3, 4)
		toB.each(lose, 0, 1)
		began := time.Now()
		var done sync.WaitGroup
		for _, l := range []lock.Locker{a, b} {
			done.Go(func() { g.release(g.acquire(l)) })
		}
		done.Wait()
		if took := time.Since(began); took < lock.DefaultBackoffMin || took > 10*time.Second {
			g.Errorf("it took %v until both had had the lock", took)
		}
		g.wantHolding(a)
	})
}

func TestRedlockExclusion(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		var (
			mu      sync.Mutex
			inside  int
			tokens  []uint64
			workers sync.WaitGroup
		)
		for range 4 {
			l, _ := g.lock(lock.RedlockOptions{})
			workers.Go(func() {
				for range 3 {
					lease := g.acquire(l)
					mu.Lock()
					tokens = append(tokens, lease.Token())
					if inside++; inside != 1 {
						g.Errorf("%d holders at once", inside)
					}
					mu.Unlock()
					time.Sleep(300 * time.Millisecond)
					mu.Lock()
					inside--
					mu.Unlock()
					g.release(lease)
				}
			})
		}
		workers.Wait()
		for i, token := range tokens {
			if fenced := g.kind.name == "redlock-fenced"; fenced && i > 0 && token <= tokens[i-1] || !fenced && token != 0 {
				g.Errorf("tokens %v", tokens)
				break
			}
		}
	})
}

func TestEachTryHasAnOwnerIdOfItsOwn(t *testing.T) { // F28
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		g.take(l, 0, 1, 2)
		lines.each(func(w *wire) {
			w.arm(fault{command: g.kind.ask, loseReply: true, err: syscall.ECONNRESET, thenRefuse: true})
		}, 3)
		_, err := l.TryAcquire(g.Context(), resource)
		g.wantHolding(l, 3) // the clean-up has failed
		if want := "clean-up failed too, so these nodes may be taken for 10s: r3: "; err == nil ||
			!strings.Contains(err.Error(), want) {
			g.Errorf("error %v does not say %q", err, want)
		}
		left, _ := g.nodes[3].Get(l.Key(resource))
		g.forget(l, 0, 1, 2)
		g.acquire(l)
		if owner, _ := g.nodes[0].Get(l.Key(resource)); owner == left {
			g.Error("the second try has the owner id of the first")
		}
	})
}

func TestRedlockContextEndsWhileWaiting(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		l, _ := g.lock(lock.RedlockOptions{Options: lock.Options{Backoff: lock.Backoff{Min: 100 * time.Millisecond,
			Max: 100 * time.Millisecond}}})
		g.take(l, 1, 2, 3)
		ctx, cancel := context.WithTimeout(g.Context(), 250*time.Millisecond)
		defer cancel()
		_, err := l.Acquire(ctx, resource)
		g.want(err, context.DeadlineExceeded, lock.ErrTaken)
		want := "acquire order:42: gave up after 250ms and 3 tries: context deadline exceeded; " +
			"the last try: lock taken: 2 of 5 nodes granted it, 3 are needed: r1: taken; r2: taken; r3: taken"
		if err == nil || err.Error() != want {
			g.Errorf("error %q, want %q", err, want)
		}
		g.wantHolding(l)
	})
}

func TestRedlockContextEndsDuringATry(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		lines.each(func(w *wire) { w.arm(fault{command: g.kind.ask, delay: 50 * time.Millisecond}) }, 0)
		ctx, cancel := context.WithCancel(g.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		_, err := l.Acquire(ctx, resource)
		g.want(err, context.Canceled)
		g.wantHolding(l)
	})
}

func TestRedlockWithDeadContextSendsNothing(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		lines.each((*wire).refuse, 0, 1, 2, 3, 4)
		ctx, cancel := context.WithCancel(g.Context())
		cancel()
		for _, acquire := range []func(context.Context, string) (lock.Lease, error){l.Acquire, l.TryAcquire} {
			_, err := acquire(ctx, resource)
			g.want(err, context.Canceled)
			if errors.Is(err, syscall.ECONNREFUSED) {
				g.Errorf("error %v: it dialled", err)
			}
		}
	})
}

// As the documentation warns, a node that has lost its keys makes a second majority possible.
func TestNodeThatRestartsEmptyBreaksExclusion(t *testing.T) { // F15
	everyRedlock(t, func(g *grid) {
		a, toA := g.lock(lock.RedlockOptions{})
		b, toB := g.lock(lock.RedlockOptions{})
		toA.each((*wire).refuse, 3, 4)
		toB.each((*wire).refuse, 0, 1)
		first := g.acquire(a)
		_, err := b.TryAcquire(g.Context(), resource)
		g.want(err, lock.ErrTaken)
		g.nodes[2].FlushAll()
		g.acquire(b)
		if lost(first) || !time.Now().Before(first.Until()) {
			g.Error("the first holder does not believe in its lease any more")
		}
		if err := extend(g.Context(), first); !errors.Is(err, lock.ErrNoQuorum) {
			g.Errorf("extend: %v, want that it is not decided", err)
		}
	})
}

func TestRedlockReleaseOfALostLease(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		lease := g.acquire(l)
		g.forget(l, 0, 1, 2)
		lines[4].cut()
		g.want(lease.Release(g.Context()), lock.ErrNotHeld)
		g.wantHolding(l, 4)
		g.want(lease.Release(g.Context()), lock.ErrNotHeld)
	})
}

func TestRedlockReleaseThatMissedANode(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		lease := g.acquire(l)
		lines[3].arm(fault{command: "evalsha", loseRequest: true})
		dead, cancel := context.WithCancel(g.Context())
		cancel()
		err := lease.Release(dead) // F29
		g.want(err, lock.ErrOutcomeUnknown)
		want := "release order:42: given back on 4 of 5 nodes, 3 make it free; these may be taken for 10s: r3: outcome " +
			"unknown: "
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			g.Errorf("error %v, want %s", err, want)
		}
		g.wantHolding(l, 3)
		_ = lease.Release(g.Context()) // it asks all again
		g.wantHolding(l)
	})
}

func TestNoRequestOutlivesTheCall(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		l, lines := g.lock(lock.RedlockOptions{})
		g.warm(l)
		lines.each((*wire).cut, 0, 1, 2)
		_, err := l.TryAcquire(g.Context(), resource)
		g.want(err, lock.ErrNoQuorum)
		lines.each((*wire).heal, 0, 1, 2)
		synctest.Wait()
		time.Sleep(time.Minute)
		g.wantHolding(l)
	})
}

func TestRedlockOptions(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    lock.RedlockOptions
		want string
	}{
		{"negative", lock.RedlockOptions{NodeTimeout: -1, DriftFactor: -1, DriftConstant: -1, MaxExtensions: -1},
			"NodeTimeout -1ns is negative\nDriftFactor -1 is not a share of the TTL, from 0 to below 1\n" +
				"DriftConstant -1ns is negative\nMaxExtensions -1 is negative"},
		{"drift is no number", lock.RedlockOptions{DriftFactor: math.NaN()}, "DriftFactor NaN is not a share of the TTL, " +
			"from 0 to below 1"},
		{"options of every lock", lock.RedlockOptions{Options: lock.Options{TTL: -time.Second}}, "TTL -1s is negative"},
		{"notify", lock.RedlockOptions{Options: lock.Options{Waiting: lock.WaitNotify}},
			"Waiting is WaitNotify: no node of a Redlock knows when the lock is free, use WaitPoll"},
		{"node timeout above the validity", lock.RedlockOptions{NodeTimeout: 9900 * time.Millisecond},
			"NodeTimeout 9.9s leaves nothing of a TTL of 10s, of which drift takes 102ms: use a longer TTL"},
		{"TTL within the drift", lock.RedlockOptions{Options: lock.Options{TTL: 2 * time.Millisecond}},
			"NodeTimeout 200µs leaves nothing of a TTL of 2ms, of which drift takes 2.02ms: use a longer TTL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.o.Validate(); err == nil || err.Error() != tc.want {
				t.Errorf("Validate: %v, want %s", err, tc.want)
			}
			everyRedlock(t, func(g *grid) {
				client, _ := (&world{T: g.T, node: g.nodes[0]}).client()
				if _, err := g.kind.make([]lock.Redis{client}, tc.o); err == nil || !strings.HasSuffix(err.Error(), ": "+tc.want) {
					g.Errorf("error %v, want %s", err, tc.want)
				}
			})
		})
	}
}

func TestRedlockWithoutClients(t *testing.T) {
	for _, k := range quorumKinds {
		if _, err := k.make(nil, lock.RedlockOptions{}); err == nil || !strings.HasSuffix(err.Error(), "no Redis clients") {
			t.Errorf("%s: error %v", k.name, err)
		}
		if _, err := k.make([]lock.Redis{nil}, lock.RedlockOptions{}); err == nil ||
			!strings.HasSuffix(err.Error(), "no Redis client for r0") {
			t.Errorf("%s: error %v", k.name, err)
		}
	}
}

func TestRedlockOnOneNode(t *testing.T) {
	everyRedlock(t, func(g *grid) {
		g.nodes = g.nodes[:1]
		a, _ := g.lock(lock.RedlockOptions{})
		b, _ := g.lock(lock.RedlockOptions{})
		lease := g.acquire(a)
		_, err := b.TryAcquire(g.Context(), resource)
		g.want(err, lock.ErrTaken)
		g.release(lease)
		g.release(g.acquire(b))
	})
}
