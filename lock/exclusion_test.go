package lock_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"locksim/lock"
)

func TestExclusion(t *testing.T) {
	everyWaiting(t, func(w *world) {
		const clients, rounds = 5, 4
		var (
			mu      sync.Mutex
			inside  int
			grants  int
			waited  int
			workers sync.WaitGroup
		)
		for range clients {
			l, _ := w.lock(lock.Options{})
			workers.Go(func() {
				for range rounds {
					began := time.Now()
					lease, err := l.Acquire(w.Context(), resource)
					if err != nil {
						w.Error(err)
						return
					}
					mu.Lock()
					if time.Since(began) > 0 {
						waited++
					}
					grants++
					inside++
					if inside != 1 {
						w.Errorf("%d holders at once", inside)
					}
					mu.Unlock()
					time.Sleep(300 * time.Millisecond)
					mu.Lock()
					inside--
					mu.Unlock()
					if err := lease.Release(w.Context()); err != nil {
						w.Error(err)
					}
				}
			})
		}
		workers.Wait()
		if grants != clients*rounds || waited == 0 {
			w.Errorf("%d grants of %d, %d of them after a wait", grants, clients*rounds, waited)
		}
	})
}

func TestResourcesAreIndependent(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		for i := range 3 {
			if _, err := l.Acquire(w.Context(), fmt.Sprintf("order:%d", i)); err != nil {
				w.Fatal(err)
			}
		}
	})
}

func TestSingleAndFencedExcludeEachOther(t *testing.T) {
	bubble(t, kinds[0], func(w *world) {
		single, _ := w.lock(lock.Options{})
		c, _ := w.client()
		fenced, err := lock.NewFenced(c, lock.Options{})
		if err != nil {
			w.Fatal(err)
		}
		w.acquire(single)
		began := time.Now()
		w.acquire(fenced)
		if waited := time.Since(began); waited < lock.DefaultTTL {
			w.Errorf("granted after %v, while the other held it", waited)
		}
	})
}

func TestExpiry(t *testing.T) {
	everyWaiting(t, func(w *world) {
		const ttl = 1500 * time.Millisecond
		backoff := lock.Backoff{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond}
		a, _ := w.lock(lock.Options{TTL: ttl, Backoff: backoff})
		b, _ := w.lock(lock.Options{TTL: ttl, Backoff: backoff})
		dead := w.acquire(a)
		if left := w.node.TTL(a.Key(resource)); left != ttl {
			w.Errorf("the key lasts %v, want %v", left, ttl)
		}
		w.acquire(b)
		if late := time.Since(dead.Until()); late < 0 || late > backoff.Max {
			w.Errorf("granted %v after the lease ended, want 0 to %v", late, backoff.Max)
		}
	})
}

func TestReleaseFreesAtOnce(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		began := time.Now()
		for range 3 {
			w.release(w.acquire(l))
			w.wantFree(l)
		}
		if waited := time.Since(began); waited != 0 {
			w.Errorf("three uncontended rounds took %v", waited)
		}
	})
}

func TestReleaseAfterExpiryLeavesTheSuccessor(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Second})
		b, _ := w.lock(lock.Options{TTL: time.Minute})
		late := w.acquire(a)
		successor := w.acquire(b)
		owner := w.owner(b)
		w.want(late.Release(w.Context()), lock.ErrNotHeld)
		if now := w.owner(b); now != owner {
			w.Errorf("the successor's key holds %q, want %q", now, owner)
		}
		w.release(successor)
	})
}

func TestReleaseAfterLossOfTheKey(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		lease := w.acquire(l)
		w.node.FlushAll()
		err := lease.Release(w.Context())
		if want := "release order:42: lock not held: its key was gone or another's"; err == nil || err.Error() != want {
			w.Errorf("error %q, want %q", err, want)
		}
		if again := lease.Release(w.Context()); !errors.Is(again, lock.ErrNotHeld) {
			w.Errorf("second release: %v", again)
		}
	})
}
