package lock_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locksim/lock"
)

var fairKinds = kinds[4:6]

// everyFair runs the test for the fair kinds and each way of waiting.
func everyFair(t *testing.T, test func(w *world)) {
	for _, k := range fairKinds {
		for _, waiting := range []lock.Waiting{lock.WaitPoll, lock.WaitNotify} {
			t.Run(k.name+"/"+waiting.String(), func(t *testing.T) {
				bubble(t, k, func(w *world) {
					w.waiting = waiting
					test(w)
				})
			})
		}
	}
}

// patient are options of a waiter whose entry in the queue lasts four polls.
func patient(ttl time.Duration) lock.Options {
	return lock.Options{TTL: ttl, Backoff: lock.Backoff{Min: time.Second, Max: time.Second}}
}

// waiters is the length of the queue on the node.
func (w *world) waiters(l lock.Locker) int {
	w.Helper()
	keys := l.(interface{ QueueKeys(string) []string }).QueueKeys(resource)
	var counts []int
	for _, key := range keys {
		if !w.node.Exists(key) {
			counts = append(counts, 0)
			continue
		}
		members, err := w.node.ZMembers(key)
		if err != nil {
			w.Fatal(err)
		}
		counts = append(counts, len(members))
	}
	if counts[0] != counts[1] {
		w.Errorf("the queue has %d members, and there are %d places", counts[0], counts[1])
	}
	return counts[0]
}

// frozen is the clock of a process whose sleeps end only with their context.
type frozen struct{ deaf }

func (frozen) Sleep(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

// dead adds a waiter to the queue that sends nothing more until cancel is called.
func (w *world) dead(o lock.Options) (a *attempt, cancel context.CancelFunc) {
	o.Clock = frozen{}
	c, _ := w.client()
	l, err := w.kind.make(c, o) // it polls: a message would wake it
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	return w.begin(ctx, l), cancel
}

// TestGrantOrderIsArrivalOrder has clients that arrive at random instants and hold for random times.
func TestGrantOrderIsArrivalOrder(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			everyFair(t, func(w *world) {
				rng := rand.New(rand.NewPCG(seed, 0))
				var mu sync.Mutex
				var arrived, granted []int
				var all sync.WaitGroup
				for i := range 12 {
					l, _ := w.lock(lock.Options{})
					arrival := time.Duration(rng.Int64N(int64(3 * time.Second)))
					hold := time.Duration(rng.Int64N(int64(time.Second)))
					all.Go(func() {
						time.Sleep(arrival)
						mu.Lock()
						arrived = append(arrived, i)
						mu.Unlock()
						lease := w.acquire(l)
						mu.Lock()
						granted = append(granted, i)
						mu.Unlock()
						time.Sleep(hold)
						w.release(lease)
					})
				}
				all.Wait()
				if !slices.Equal(arrived, granted) {
					w.Errorf("they arrived as %v, and were granted as %v", arrived, granted)
				}
				l, _ := w.lock(lock.Options{})
				if left := w.waiters(l); left != 0 {
					w.Errorf("%d are still in the queue", left)
				}
			})
		})
	}
}

// TestDeadWaiterLosesItsPlace is F51: waiters behind a dead one wait until its entry has expired, no longer.
func TestDeadWaiterLosesItsPlace(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(lock.Options{})
		holder := w.acquire(a)
		_, wake := w.dead(patient(time.Second)) // an entry of 4s
		defer wake()
		b, _ := w.lock(patient(time.Second))
		live := w.begin(w.Context(), b)
		if n := w.waiters(b); n != 2 {
			w.Errorf("%d in the queue, want 2", n)
		}
		w.release(holder)
		w.end(live)
		if live.took < 4*time.Second || live.took > 5*time.Second {
			w.Errorf("granted after %v, want within a second of the end of the place in front, 4s", live.took)
		}
	})
}

// TestLiveWaiterKeepsItsPlace is F52: a wait for much longer than an entry lasts does not change the order.
func TestLiveWaiterKeepsItsPlace(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		holder := w.acquire(a)
		var waiters []*attempt
		for range 4 {
			l, _ := w.lock(patient(time.Second))
			waiters = append(waiters, w.begin(w.Context(), l))
			time.Sleep(300 * time.Millisecond)
		}
		for range 100 {
			time.Sleep(590 * time.Millisecond)
			synctest.Wait()
			if n := w.waiters(a); n != 4 {
				w.Fatalf("%d in the queue, want 4", n)
			}
		}
		w.release(holder)
		for i, waiter := range waiters {
			lease := w.end(waiter)
			for _, later := range waiters[i+1:] {
				if later.ended() {
					w.Errorf("waiter %d was overtaken", i)
				}
			}
			w.release(lease)
		}
	})
}

// TestClocksOfWaitersDoNotMatter is F53: the clocks of clients differ by hours, and run at different rates.
func TestClocksOfWaitersDoNotMatter(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		holder := w.acquire(a)
		o := patient(time.Second)
		o.Clock = shifted{time.Now()}
		early, _ := w.lock(o)
		first := w.begin(w.Context(), early)
		l, _ := w.lock(patient(time.Second))
		second := w.begin(w.Context(), l)
		time.Sleep(time.Minute)
		w.release(holder)
		lease := w.end(first)
		if second.ended() {
			w.Error("the second was granted the lock before")
		}
		w.release(lease)
		w.release(w.end(second))
	})
}

// TestAbandonedPlace is F54: a waiter that gives up does not delay others.
func TestAbandonedPlace(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Minute})
		holder := w.acquire(a)
		impatient, _ := w.lock(patient(time.Hour))
		ctx, cancel := context.WithTimeout(w.Context(), 5*time.Second)
		defer cancel()
		first := w.begin(ctx, impatient)
		l, _ := w.lock(patient(time.Hour))
		second := w.begin(w.Context(), l)
		<-first.done
		w.want(first.err, context.DeadlineExceeded)
		synctest.Wait()
		if n := w.waiters(l); n != 1 {
			w.Errorf("%d in the queue, want 1", n)
		}
		time.Sleep(time.Second)
		w.release(holder)
		w.end(second)
		if second.took > 7*time.Second {
			w.Errorf("granted after %v, want within a second of the release, 6s", second.took)
		}
		if n := w.waiters(l); n != 0 {
			w.Errorf("%d in the queue, want none", n)
		}
	})
}

// TestLeavingAQueueWakesNoOther has a waiter that gives up while the lock is held: no other is notified.
func TestLeavingAQueueWakesNoOther(t *testing.T) {
	for _, k := range fairKinds {
		bubble(t, k, func(w *world) {
			a, _ := w.lock(lock.Options{TTL: time.Hour})
			w.acquire(a)
			c, tap := w.tapped()
			ctx, cancel := context.WithCancel(w.Context())
			first := w.begin(ctx, w.on(c, notifying(time.Hour)))
			second, leave := w.dead(patient(time.Second))
			before := tap.requests.Load()
			leave()
			<-second.done
			synctest.Wait()
			if sent := tap.requests.Load() - before; sent != 0 {
				w.Errorf("the first in line sent %d requests", sent)
			}
			cancel()
			<-first.done
		})
	}
}

// TestFirstWaiterGivesUp has a first waiter that leaves when the lock is already free: with WaitNotify the next one is
// notified.
func TestFirstWaiterGivesUp(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Minute})
		holder := w.acquire(a)
		first, wake := w.dead(patient(time.Hour))
		l, _ := w.lock(patient(time.Hour))
		second := w.begin(w.Context(), l)
		w.release(holder)
		time.Sleep(500 * time.Millisecond)
		wake()
		<-first.done
		w.end(second)
		most := time.Second
		if w.waiting == lock.WaitNotify {
			most = 500 * time.Millisecond
		}
		if second.took > most {
			w.Errorf("granted after %v, want by %v", second.took, most)
		}
	})
}

func TestQueueThatCannotBeLeft(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		w.acquire(a)
		l, line := w.lock(patient(time.Second))
		ctx, cancel := context.WithCancel(w.Context())
		waiter := w.begin(ctx, l)
		line.arm(fault{command: "eval", loseRequest: true, err: io.EOF})
		cancel()
		<-waiter.done
		w.want(waiter.err, context.Canceled)
		if want := "; its place in the queue may stay for 4s: outcome unknown: EOF"; !strings.HasSuffix(waiter.err.Error(),
			want) {
			w.Errorf("error %q, want %q", waiter.err, want)
		}
		time.Sleep(4 * time.Second)
		if n := w.waiters(l); n != 0 {
			w.Errorf("%d in the queue after the end of every claim", n)
		}
	})
}

// TestFailedTryLeavesTheQueue has a later request of a waiter that certainly failed; its entry must be removed.
func TestFailedTryLeavesTheQueue(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		w.acquire(a)
		c, _ := w.client()
		refusing := &refusing{Client: c}
		l := w.on(refusing, patient(time.Hour))
		waiter := w.begin(w.Context(), l)
		refusing.mu.Lock()
		refusing.next = true
		refusing.mu.Unlock()
		<-waiter.done
		w.want(waiter.err, errRefused)
		if n := w.waiters(l); n != 0 {
			w.Errorf("%d in the queue, want none", n)
		}
	})
}

func TestTryDoesNotOvertake(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(patient(time.Second))
		holder := w.acquire(a)
		_, wake := w.dead(patient(time.Second))
		defer wake()
		w.release(holder)
		_, err := w.try(a)
		w.want(err, lock.ErrTaken)
		w.wantFree(a)
		if n := w.waiters(a); n != 1 {
			w.Errorf("%d in the queue: a try takes no place", n)
		}
		time.Sleep(4 * time.Second)
		if _, err := w.try(a); err != nil {
			w.Error(err)
		}
	})
}

// TestJumpOfTheNodesClock makes all entries expire at once: all waiters are still served.
func TestJumpOfTheNodesClock(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		w.acquire(a)
		var waiters []*attempt
		for range 3 {
			l, _ := w.lock(patient(time.Second))
			waiters = append(waiters, w.begin(w.Context(), l))
		}
		w.node.SetTime(time.Now().Add(2 * time.Hour)) // the holder's key has expired too
		var all sync.WaitGroup
		for _, waiter := range waiters {
			all.Go(func() { w.release(w.end(waiter)) })
		}
		all.Wait()
		if n := w.waiters(a); n != 0 {
			w.Errorf("%d in the queue", n)
		}
	})
}

func TestQueueOfDeadWaitersExpires(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Second})
		w.acquire(a)
		for range 3 {
			_, wake := w.dead(patient(time.Second))
			defer wake()
		}
		if n := w.waiters(a); n != 3 {
			w.Errorf("%d in the queue, want 3", n)
		}
		time.Sleep(4 * time.Second)
		for _, key := range w.node.Keys() {
			if !strings.HasSuffix(key, ":token") {
				w.Errorf("key %s is still there, for %v", key, w.node.TTL(key))
			}
		}
	})
}

func TestKeysOfAQueueShareTheHashTag(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(lock.Options{})
		w.acquire(a)
		_, wake := w.dead(lock.Options{})
		defer wake()
		for _, key := range w.node.Keys() {
			if !strings.HasPrefix(key, "lock:{order:42}") {
				w.Errorf("key %q", key)
			}
		}
	})
}

// TestGrantWithoutAnswerInAQueue loses the answer that grants a waiter the lock.
func TestGrantWithoutAnswerInAQueue(t *testing.T) {
	everyFair(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		holder := w.acquire(a)
		l, line := w.lock(patient(time.Hour))
		first := w.begin(w.Context(), l)
		b, _ := w.lock(patient(time.Hour))
		second := w.begin(w.Context(), b)
		line.arm(fault{command: "evalsha", loseReply: true, err: io.EOF})
		w.release(holder)
		<-first.done
		w.want(first.err, lock.ErrOutcomeUnknown)
		w.release(w.end(second))
		if n := w.waiters(l); n != 0 {
			w.Errorf("%d in the queue", n)
		}
	})
}

// TestReleaseSkipsDeadWaiters shows that it notifies the first waiter whose entry has not expired.
func TestReleaseSkipsDeadWaiters(t *testing.T) {
	for _, k := range fairKinds {
		bubble(t, k, func(w *world) {
			a, _ := w.lock(lock.Options{TTL: time.Hour})
			holder := w.acquire(a)
			_, wake := w.dead(patient(time.Second))
			defer wake()
			l, _ := w.lock(notifying(time.Hour)) // it polls again after minutes
			live := w.begin(w.Context(), l)
			time.Sleep(10 * time.Second)
			w.release(holder)
			w.end(live)
			if live.took != 10*time.Second {
				w.Errorf("granted after %v, want at the release, 10s", live.took)
			}
		})
	}
}
