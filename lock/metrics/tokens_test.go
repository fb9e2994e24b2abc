package metrics_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"locksim/lock"
	"locksim/lock/metrics"
)

// TestTokenDecrease: a lost counter starts from 1 again.
func TestTokenDecrease(t *testing.T) {
	bubble(t, func(w *world) {
		fenced, err := lock.NewFenced(w.client, lock.Options{TTL: ttl})
		if err != nil {
			w.Fatal(err)
		}
		locks := w.Measure(fenced)
		sections := func(n int) {
			for range n {
				if err := w.acquire(locks).Release(w.Context()); err != nil {
					w.Error(err)
				}
			}
		}
		sections(3)
		w.node.Del(fenced.TokenKey(resource))
		sections(4) // tokens 1 to 4, of which two are lower than 3
		if got := w.decreases(); got != 2 {
			w.Errorf("%v decreases, want 2", got)
		}
	})
}

func (w *world) decreases() float64 { return gather(w, w.registry)["lock_token_decreases_total"] }

// TestTokensOfOverlappingAcquires: the order of two grants whose acquires overlap is unknown.
func TestTokensOfOverlappingAcquires(t *testing.T) {
	bubble(t, func(w *world) {
		answers := map[string]struct {
			token uint64
			after time.Duration
		}{"slow": {5, 2 * time.Second}, "quick": {6, time.Second}}
		type callerKey struct{}
		locks := w.Measure(acquireFunc(func(ctx context.Context, _ string) (lock.Lease, error) {
			a := answers[ctx.Value(callerKey{}).(string)]
			time.Sleep(a.after)
			return &plainLease{token: a.token}, nil
		}))
		ask := func(name string) { _, _ = locks.Acquire(context.WithValue(w.Context(), callerKey{}, name), resource) }
		go ask("slow")
		ask("quick")
		time.Sleep(time.Minute)
		if got := w.decreases(); got != 0 {
			w.Errorf("%v decreases among overlapping acquires, want none", got)
		}
		ask("slow")
		if got := w.decreases(); got != 1 {
			w.Errorf("%v decreases after a lower token, want 1", got)
		}
	})
}

// TestStoredTokens: the last token is stored for at least the promised number of resources, and for at most twice as
// many.
func TestStoredTokens(t *testing.T) {
	const limit = 4
	for _, c := range []struct {
		others int // resources that are used in between
		want   float64
	}{{limit - 1, 1}, {2 * limit, 0}} {
		t.Run(fmt.Sprintf("after %d others", c.others), func(t *testing.T) {
			bubble(t, func(w *world) {
				w.replaceMetrics(metrics.Options{Lock: "few", Resources: limit})
				token := uint64(9)
				locks := w.Measure(acquireFunc(func(context.Context, string) (lock.Lease, error) {
					return &plainLease{token: token},
						nil
				}))
				for i := range limit - 1 { // the next entry fills the first generation
					_, _ = locks.Acquire(w.Context(), fmt.Sprintf("early:%d", i))
				}
				w.acquire(locks)
				for i := range c.others {
					_, _ = locks.Acquire(w.Context(), fmt.Sprintf("user:%d", i))
				}
				token = 8
				w.acquire(locks)
				if got := w.decreases(); got != c.want {
					w.Errorf("%v decreases, want %v", got, c.want)
				}
			})
		})
	}
}
