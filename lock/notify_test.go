package lock_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

var _ = []lock.Subscriber{(*redis.Client)(nil), (*redis.ClusterClient)(nil), redis.UniversalClient(nil)}

// notifying are options with long, constant delays, so that polling can be distinguished.
func notifying(ttl time.Duration) lock.Options {
	return lock.Options{TTL: ttl, Waiting: lock.WaitNotify,
		Backoff: lock.Backoff{Min: 7 * time.Second, Max: 7 * time.Second}}
}

// attempt is an Acquire in its own goroutine.
type attempt struct {
	lease lock.Lease
	err   error
	took  time.Duration
	done  chan struct{}
}

// begin starts an Acquire and returns when it waits, or has ended.
func (w *world) begin(ctx context.Context, l lock.Locker) *attempt {
	a := &attempt{done: make(chan struct{})}
	began := time.Now()
	go func() {
		defer close(a.done)
		a.lease, a.err = l.Acquire(ctx, resource)
		a.took = time.Since(began)
	}()
	synctest.Wait()
	return a
}

// ended reports whether the Acquire has returned.
func (a *attempt) ended() bool {
	synctest.Wait()
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// end waits for the lease.
func (w *world) end(a *attempt) lock.Lease {
	w.Helper()
	select {
	case <-a.done:
	case <-time.After(10 * time.Minute): // polling goes on for ever where the lock is never free
		w.Fatal("Acquire has not returned for ten minutes")
	}
	if a.err != nil {
		w.Fatal(a.err)
	}
	return a.lease
}

// wantNoSubscribers fails if a channel of the locks still has subscribers.
func (w *world) wantNoSubscribers() {
	w.Helper()
	synctest.Wait()
	if left := w.node.PubSubChannels("*"); len(left) != 0 {
		w.Errorf("there are still subscribers of %q", left)
	}
}

func TestReleaseWakesTheWaiter(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Minute})
		b, _ := w.lock(notifying(time.Minute))
		holder := w.acquire(a)
		waiter := w.begin(w.Context(), b)
		time.Sleep(2500 * time.Millisecond)
		w.release(holder)
		w.release(w.end(waiter))
		if waiter.took != 2500*time.Millisecond {
			w.Errorf("the lock was granted after %v, want at its release, 2.5s", waiter.took)
		}
		w.wantNoSubscribers()
	})
}

// TestReleaseBeforeTheSubscription has a holder that releases while the waiter's subscription is under way: the message
// has no receiver, and the second try after the confirmation finds the lock free (F50).
func TestReleaseBeforeTheSubscription(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Minute})
		c, tap := w.tapped()
		b := w.on(c, notifying(time.Minute))
		holder := w.acquire(a)
		tap.slow.Store(int64(time.Second))
		waiter := w.begin(w.Context(), b)
		w.release(holder)
		w.end(waiter)
		if waiter.took != time.Second {
			w.Errorf("the lock was granted after %v, want at the confirmation, 1s", waiter.took)
		}
	})
}

// TestReleaseDuringTheLookAtTheTTL has a message that arrives before the waiter sleeps.
func TestReleaseDuringTheLookAtTheTTL(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		b, line := w.lock(notifying(time.Hour))
		holder := w.acquire(a)
		line.arm(fault{command: "pttl", delay: time.Second})
		waiter := w.begin(w.Context(), b)
		w.release(holder)
		w.end(waiter)
		if waiter.took != time.Second {
			w.Errorf("the lock was granted after %v, want once the TTL is known, 1s", waiter.took)
		}
	})
}

// TestListenerDoesNotPoll counts the requests of a waiter while nothing happens: none, except those that renew an entry
// in a queue.
func TestListenerDoesNotPoll(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		c, tap := w.tapped()
		b := w.on(c, notifying(time.Hour))
		w.acquire(a)
		ctx, cancel := context.WithCancel(w.Context())
		waiter := w.begin(ctx, b)
		before := tap.requests.Load()
		time.Sleep(50 * time.Minute)
		most := int64(0)
		if _, queues := b.(interface{ QueueKeys(string) []string }); queues {
			most = 2 * 3 // a try and a request for the TTL, each quarter of an hour
		}
		if sent := tap.requests.Load() - before; sent > most {
			w.Errorf("it sent %d requests, want no more than %d", sent, most)
		}
		cancel()
		<-waiter.done
	})
}

func TestLostMessageDelaysByTheTTLAtMost(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: 20 * time.Second})
		c, tap := w.tapped()
		b := w.on(c, notifying(20*time.Second))
		tap.deaf.Store(true)
		holder := w.acquire(a)
		waiter := w.begin(w.Context(), b)
		time.Sleep(time.Second)
		w.release(holder)
		w.end(waiter)
		if most := 27 * time.Second; waiter.took <= time.Second || waiter.took > most {
			w.Errorf("the lock was granted after %v, want after 1s, and within TTL and backoff, %v", waiter.took, most)
		}
		w.wantNoSubscribers()
	})
}

func TestExpiryWithoutMessage(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: 20 * time.Second})
		b, _ := w.lock(notifying(time.Minute))
		w.acquire(a)
		waiter := w.begin(w.Context(), b)
		w.end(waiter)
		if waiter.took < 20*time.Second || waiter.took > 27*time.Second {
			w.Errorf("the lock was granted after %v, want between TTL and TTL and backoff", waiter.took)
		}
	})
}

// TestUnconfirmedSubscriptionPolls loses the node's confirmation of the subscription.
func TestUnconfirmedSubscriptionPolls(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		c, tap := w.tapped()
		b := w.on(c, notifying(time.Hour))
		tap.mute.Store(true)
		tap.deaf.Store(true)
		holder := w.acquire(a)
		waiter := w.begin(w.Context(), b)
		w.release(holder)
		w.end(waiter)
		if waiter.took != 7*time.Second {
			w.Errorf("the lock was granted after %v, want after one delay, 7s", waiter.took)
		}
	})
}

// TestLostSubscriptionIsRenewed breaks the waiter's connection: the waiter tries again, since it may have missed a
// message, and subscribes again.
func TestLostSubscriptionIsRenewed(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		c, tap := w.tapped()
		b := w.on(c, notifying(time.Hour))
		holder := w.acquire(a)
		waiter := w.begin(w.Context(), b)
		tap.dead.Store(true)
		for _, channel := range w.node.PubSubChannels("*") {
			w.node.Publish(channel, "")
		}
		synctest.Wait()
		tap.dead.Store(false)
		time.Sleep(time.Second)
		w.release(holder)
		w.end(waiter)
		if waiter.took != time.Second {
			w.Errorf("the lock was granted after %v, want at its release, 1s", waiter.took)
		}
		w.wantNoSubscribers()
	})
}

func TestWaitersThatGiveUpLeaveNothingBehind(t *testing.T) {
	for _, waiting := range []lock.Waiting{lock.WaitPoll, lock.WaitNotify} {
		t.Run(waiting.String(), func(t *testing.T) {
			everyKind(t, func(w *world) {
				a, _ := w.lock(lock.Options{TTL: time.Hour})
				c, tap := w.tapped()
				b := w.on(c, lock.Options{TTL: time.Hour, Waiting: waiting})
				w.acquire(a)
				keys := len(w.node.Keys())

				ctx, cancel := context.WithTimeout(w.Context(), 3*time.Second)
				defer cancel()
				timely := w.begin(ctx, b)
				ctx, cancel = context.WithCancel(w.Context())
				cancelled := w.begin(ctx, b)
				if listening := len(w.node.PubSubChannels("*")) > 0; listening != (waiting == lock.WaitNotify) {
					w.Errorf("subscriptions remain: %v", listening)
				}
				time.AfterFunc(time.Second, cancel)
				<-timely.done
				<-cancelled.done
				w.want(timely.err, context.DeadlineExceeded)
				w.want(cancelled.err, context.Canceled)
				if timely.took != 3*time.Second || cancelled.took != time.Second {
					w.Errorf("they gave up after %v and %v, want 3s and 1s", timely.took, cancelled.took)
				}
				w.wantNoSubscribers()
				if now := len(w.node.Keys()); now != keys {
					w.Errorf("keys on the node: %q", w.node.Keys())
				}
				if idle := c.PoolStats().TotalConns; tap.open.Load() != int64(idle) {
					w.Errorf("%d connections are open, and the pool has %d", tap.open.Load(), idle)
				}
			})
		})
	}
}

func TestSubscriptionThatCannotBeMade(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		b, line := w.lock(notifying(time.Hour))
		w.acquire(a)
		lease, err := w.try(b)
		if lease != nil || !errors.Is(err, lock.ErrTaken) { // the pool has a connection now
			w.Fatal(err)
		}
		line.refuse()
		_, err = b.Acquire(w.Context(), resource)
		w.want(err, syscall.ECONNREFUSED)
		if want := "acquire order:42: gave up after 0s and 1 tries: subscribe to lock:{order:42}:"; err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			w.Errorf("error %q, want %q", err, want)
		}
		if errors.Is(err, lock.ErrOutcomeUnknown) {
			w.Errorf("error %v: it is known that it was not granted", err)
		}
	})
}

func TestSubscriptionThatTheNodeRefuses(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Hour})
		c, tap := w.tapped()
		b := w.on(c, notifying(time.Hour))
		w.acquire(a)
		w.node.Server().SetPreHook(refuseSubscribe)
		_, err := b.Acquire(w.Context(), resource)
		if want := "NOPERM no permission"; err == nil || !strings.HasSuffix(err.Error(), want) {
			w.Errorf("error %v, want %q", err, want)
		}
		if idle := c.PoolStats().TotalConns; tap.open.Load() != int64(idle) {
			w.Errorf("%d connections are open, and the pool has %d", tap.open.Load(), idle)
		}
	})
}

// TestOnlyTheFinalReleaseIsPublished counts messages while an owner leaves a lock that it has entered twice.
func TestOnlyTheFinalReleaseIsPublished(t *testing.T) {
	everyReentrant(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		c, _ := w.client()
		listener := c.Subscribe(w.Context(), "lock:{order:42}:released")
		defer func() { _ = listener.Close() }()
		if _, err := listener.Receive(w.Context()); err != nil {
			w.Fatal(err)
		}
		outer, inner := w.acquire(as(l, "a")), w.acquire(as(l, "a"))
		for i, lease := range []lock.Lease{inner, outer} {
			w.release(lease)
			_, err := listener.ReceiveTimeout(w.Context(), time.Second)
			if told := err == nil; told != (i == 1) {
				w.Errorf("release %d: told is %v: %v", i+1, told, err)
			}
		}
	})
}

// TestHerd is F55: the requests after one release with many waiters.
func TestHerd(t *testing.T) {
	for _, tc := range []struct {
		kind kind
		most int64
	}{
		{kinds[0], 2 * 10}, // a try and a request for the TTL per waiter, as WaitNotify says
		{kinds[4], 1},      // the first waiter tries
	} {
		t.Run(tc.kind.name, func(t *testing.T) {
			bubble(t, tc.kind, func(w *world) {
				a, _ := w.lock(lock.Options{TTL: time.Minute})
				holder := w.acquire(a)
				var taps []*tap
				var waiters []*attempt
				ctx, cancel := context.WithCancel(w.Context())
				for range 10 {
					c, tap := w.tapped()
					taps = append(taps, tap)
					waiters = append(waiters, w.begin(ctx, w.on(c, notifying(time.Minute))))
				}
				requests := func() (n int64) {
					for _, tap := range taps {
						n += tap.requests.Load()
					}
					return n
				}
				before := requests()
				w.release(holder)
				synctest.Wait()
				if cost := requests() - before; cost < 1 || cost > tc.most {
					w.Errorf("the release cost %d requests, want 1 to %d", cost, tc.most)
				}
				cancel()
				granted := 0
				for _, waiter := range waiters {
					if <-waiter.done; waiter.err == nil {
						granted++
					}
				}
				if granted != 1 {
					w.Errorf("%d were granted the lock", granted)
				}
				w.wantNoSubscribers()
			})
		})
	}
}

// TestManyWaitersAreServed grants the lock to many waiters in turn, without polling, which would hide a missed message.
func TestManyWaitersAreServed(t *testing.T) {
	everyKind(t, func(w *world) {
		began := time.Now()
		var all sync.WaitGroup
		for range 8 {
			l, _ := w.lock(notifying(time.Hour))
			all.Go(func() {
				for range 3 {
					lease := w.acquire(l)
					time.Sleep(100 * time.Millisecond)
					w.release(lease)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != 24*100*time.Millisecond {
			w.Errorf("24 sections of 100ms took %v", took)
		}
		w.wantNoSubscribers()
	})
}

// pollOnly is a client without pub/sub.
type pollOnly struct{ lock.Redis }

func TestClientThatCannotSubscribe(t *testing.T) {
	everyKind(t, func(w *world) {
		c, _ := w.client()
		_, err := w.kind.make(pollOnly{c}, lock.Options{Waiting: lock.WaitNotify})
		if want := "WaitNotify needs a client with Subscribe and PTTL, such as a *redis.Client, and lock_test.pollOnly " +
			"is none"; err == nil ||
			err.Error() != "make a "+w.kind.name+" lock: "+want {
			w.Errorf("error %v, want %q", err, want)
		}
		w.release(w.acquire(w.on(pollOnly{c}, lock.Options{})))
	})
}
