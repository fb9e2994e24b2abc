package lock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locksim/lock"
)

// All watchdogs here have a TTL of 9 s, and so these defaults.
const (
	dogTTL      = 9 * time.Second
	dogInterval = 3 * time.Second
	dogRetry    = 750 * time.Millisecond
	dogMargin   = 900 * time.Millisecond
)

// watchdog returns a watchdog over the kind under test, a record of its extensions, and the wire of its client.
func (w *world) watchdog(o lock.WatchdogOptions) (*lock.Watchdog, *seen, *wire) {
	w.Helper()
	l, line := w.lock(lock.Options{TTL: dogTTL})
	s := &seen{locker: l}
	o.TTL = dogTTL
	dog, err := lock.NewWatchdog(s, o)
	if err != nil {
		w.Fatal(err)
	}
	return dog, s, line
}

// seen is a lock that records when its leases are extended.
type seen struct {
	locker
	last lock.Lease // the last granted

	mu   sync.Mutex
	sent []time.Time
}

func (s *seen) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := s.locker.Acquire(ctx, resource)
	s.last = l
	return &seenLease{l, s}, err
}

// after returns how long after began each extension was sent.
func (s *seen) after(began time.Time) []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []time.Duration
	for _, t := range s.sent {
		all = append(all, t.Sub(began))
	}
	return all
}

func (s *seen) want(t *testing.T, began time.Time, want ...time.Duration) {
	t.Helper()
	if got := s.after(began); !slices.Equal(got, want) {
		t.Errorf("renewals were sent after %v, want %v", got, want)
	}
}

type seenLease struct {
	lock.Lease
	seen *seen
}

func (l *seenLease) Extend(ctx context.Context) error {
	l.seen.mu.Lock()
	l.seen.sent = append(l.seen.sent, time.Now())
	l.seen.mu.Unlock()
	return extend(ctx, l.Lease)
}

// wantLost fails unless the lease is lost in d, and the holder's context has ended by then.
func (w *world) wantLost(l lock.Lease, d time.Duration) {
	w.Helper()
	began := time.Now()
	select {
	case <-l.Lost():
	case <-time.After(d + time.Minute):
		w.Fatalf("not lost after %v, want %v", d+time.Minute, d)
	}
	if after := time.Since(began); after != d {
		w.Errorf("lost after %v, want %v", after, d)
	}
	w.want(context.Cause(l.Context()), lock.ErrLost)
}

func TestRenewalEveryThirdOfTheTTL(t *testing.T) {
	everyKind(t, func(w *world) {
		dog, seen, _ := w.watchdog(lock.WatchdogOptions{})
		began := time.Now()
		lease := w.acquire(dog)
		w.wantLeft(lease, dogTTL-dogMargin)
		time.Sleep(13 * time.Second)
		seen.want(w.T, began, 3*time.Second, 6*time.Second, 9*time.Second, 12*time.Second)
		w.wantLeft(lease, dogTTL-dogMargin-time.Second)
		if left := w.node.TTL(seen.Key(resource)); left != dogTTL-time.Second {
			w.Errorf("the key lasts %v, want 8s", left)
		}
		w.release(lease)
		w.wantFree(seen)
	})
}

func TestWatchdogGetsTheTTLFromTheLock(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{TTL: 30 * time.Second})
		dog, err := lock.NewWatchdog(l, lock.WatchdogOptions{})
		if err != nil {
			w.Fatal(err)
		}
		lease := w.acquire(dog)
		w.wantLeft(lease, 27*time.Second)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		w.wantLeft(lease, 27*time.Second)
		w.release(lease)
	})
}

func TestIntervalAndDeadlineCountFromTheSend(t *testing.T) {
	everyKind(t, func(w *world) {
		dog, seen, line := w.watchdog(lock.WatchdogOptions{})
		began := time.Now()
		lease := w.acquire(dog)
		time.Sleep(4 * time.Second) // past the first
		line.arm(fault{command: "evalsha", delay: 700 * time.Millisecond})
		time.Sleep(3 * time.Second)
		w.wantLeft(lease, dogTTL-dogMargin-time.Second)
		time.Sleep(2500 * time.Millisecond)
		seen.want(w.T, began, 3*time.Second, 6*time.Second, 9*time.Second)
		w.release(lease)
	})
}

func TestHolderIsToldBeforeTheKeyExpires(t *testing.T) { // F38
	everyKind(t, func(w *world) {
		dog, seen, line := w.watchdog(lock.WatchdogOptions{})
		next, _ := w.lock(lock.Options{Backoff: lock.Backoff{Min: 50 * time.Millisecond, Max: 50 * time.Millisecond}})
		lease := w.acquire(dog)
		time.Sleep(7 * time.Second) // renewed after 3 s and 6 s
		line.cut()
		began := time.Now()
		var after time.Duration // when the successor entered
		entered := make(chan struct{})
		go func() { w.release(w.acquire(next)); after = time.Since(began); close(entered) }()
		w.wantLost(lease, dogTTL-dogMargin-time.Second)
		if left := w.node.TTL(seen.Key(resource)); left != dogMargin {
			w.Errorf("the key lasts %v when the holder is told, want %v", left, dogMargin)
		}
		<-entered
		if want := dogTTL - time.Second; after < want || after > want+50*time.Millisecond {
			w.Errorf("a successor entered after %v, want %v", after, want)
		}
	})
}

func TestFailedRenewalIsSentAgain(t *testing.T) { // F35
	everyKind(t, func(w *world) {
		dog, seen, line := w.watchdog(lock.WatchdogOptions{})
		began := time.Now()
		lease := w.acquire(dog)
		time.Sleep(2 * time.Second)
		line.cut()
		time.Sleep(3 * time.Second)
		line.heal()
		time.Sleep(4 * time.Second)
		if lost(lease) {
			w.Fatal("lost")
		}
		works := dogInterval + 3*dogRetry
		seen.want(w.T, began, dogInterval, dogInterval+dogRetry, dogInterval+2*dogRetry, works, works+dogInterval)
		w.release(lease)
	})
}

func TestRefusedRenewalIsSentAgain(t *testing.T) { // F35
	everyKind(t, func(w *world) {
		dog, seen, _ := w.watchdog(lock.WatchdogOptions{})
		began := time.Now()
		lease := w.acquire(dog)
		w.node.SetError("LOADING Redis is loading the dataset in memory")
		time.Sleep(4 * time.Second)
		w.node.SetError("")
		time.Sleep(time.Second)
		seen.want(w.T, began, dogInterval, dogInterval+dogRetry, dogInterval+2*dogRetry)
		w.wantLeft(lease, dogTTL-dogMargin-500*time.Millisecond)
		w.release(lease)
	})
}

func TestRenewalThatFindsNoKey(t *testing.T) { // F05
	everyKind(t, func(w *world) {
		dog, seen, _ := w.watchdog(lock.WatchdogOptions{})
		began := time.Now()
		lease := w.acquire(dog)
		w.node.Del(seen.Key(resource))
		w.wantLost(lease, dogInterval)
		time.Sleep(time.Minute)
		w.wantFree(seen)
		seen.want(w.T, began, dogInterval)
		w.want(lease.Release(w.Context()), lock.ErrNotHeld)
	})
}

func TestRenewalThatFindsAnothersKey(t *testing.T) { // F04
	everyKind(t, func(w *world) {
		dog, seen, _ := w.watchdog(lock.WatchdogOptions{})
		next, _ := w.lock(lock.Options{TTL: dogTTL})
		lease := w.acquire(dog)
		w.node.Del(seen.Key(resource))
		w.acquire(next)
		w.wantLost(lease, dogInterval)
		if left := w.node.TTL(next.Key(resource)); left != dogTTL-dogInterval {
			w.Errorf("the successor's key lasts %v, want 6s", left)
		}
	})
}

func TestReleaseEndsTheRenewals(t *testing.T) {
	everyKind(t, func(w *world) {
		dog, seen, _ := w.watchdog(lock.WatchdogOptions{})
		began := time.Now()
		lease := w.acquire(dog)
		time.Sleep(4 * time.Second)
		w.release(lease)
		time.Sleep(time.Minute)
		seen.want(w.T, began, dogInterval)
		w.want(context.Cause(lease.Context()), context.Canceled)
		w.want(extend(w.Context(), lease), lock.ErrNotHeld)
		if lost(lease) {
			w.Error("Lost was closed after the release")
		}
	})
}

func TestReleaseDuringARenewal(t *testing.T) {
	everyKind(t, func(w *world) {
		dog, seen, line := w.watchdog(lock.WatchdogOptions{})
		lease := w.acquire(dog)
		time.Sleep(4 * time.Second)
		line.arm(fault{command: "evalsha", delay: 500 * time.Millisecond})
		time.Sleep(2200 * time.Millisecond)
		w.release(lease)
		time.Sleep(time.Minute)
		if lost(lease) {
			w.Error("Lost was closed after the release")
		}
		w.wantFree(seen)
		if sent := seen.after(time.Now()); len(sent) != 2 {
			w.Errorf("%d renewals, want 2", len(sent))
		}
	})
}

func TestContextOfAcquireIsNoHolder(t *testing.T) {
	everyKind(t, func(w *world) {
		dog, _, _ := w.watchdog(lock.WatchdogOptions{})
		lease := w.acquire(dog) // its context has ended by now
		time.Sleep(time.Minute)
		if lost(lease) {
			w.Error("lost")
		}
		w.release(lease)
	})
}

func TestDeadHolderDoesNotKeepTheLock(t *testing.T) { // F36
	everyKind(t, func(w *world) {
		dog, seen, _ := w.watchdog(lock.WatchdogOptions{})
		began := time.Now()
		leases := make(chan lock.Lease, 1)
		go func() {
			worker, die := context.WithCancel(w.Context())
			defer die()
			lease, err := dog.Acquire(lock.WithHolder(w.Context(), worker), resource)
			if err != nil {
				w.Error(err)
			}
			leases <- lease
			time.Sleep(5 * time.Second) // without a release
		}()
		lease := <-leases
		w.wantLost(lease, dogInterval+dogTTL-dogMargin)
		seen.want(w.T, began, dogInterval)
		if left := w.node.TTL(seen.Key(resource)); left != dogMargin {
			w.Errorf("the key lasts %v, want %v", left, dogMargin)
		}
		time.Sleep(dogMargin)
		w.wantFree(seen)
	})
}

func TestMaxHold(t *testing.T) { // F71
	everyKind(t, func(w *world) {
		dog, seen, _ := w.watchdog(lock.WatchdogOptions{MaxHold: 20 * time.Second})
		lease := w.acquire(dog)
		w.wantLost(lease, 20*time.Second)
		if left := w.node.TTL(seen.Key(resource)); left <= 0 || left > dogTTL {
			w.Errorf("the key lasts %v, want up to a TTL", left)
		}
		w.release(lease)
		w.wantFree(seen)
	})
}

func TestMaxHoldBelowTheTTL(t *testing.T) {
	everyKind(t, func(w *world) {
		dog, seen, _ := w.watchdog(lock.WatchdogOptions{MaxHold: 5 * time.Second})
		w.wantLost(w.acquire(dog), 5*time.Second)
		if sent := seen.after(time.Now()); len(sent) != 0 {
			w.Errorf("%d renewals of a lease that lasts long enough", len(sent))
		}
	})
}

func TestExtendByHandPutsTheRenewalOff(t *testing.T) {
	everyKind(t, func(w *world) {
		dog, seen, _ := w.watchdog(lock.WatchdogOptions{})
		began := time.Now()
		lease := w.acquire(dog)
		time.Sleep(2 * time.Second)
		if err := extend(w.Context(), lease); err != nil {
			w.Fatal(err)
		}
		w.wantLeft(lease, dogTTL-dogMargin)
		time.Sleep(4 * time.Second)
		seen.want(w.T, began, 2*time.Second, 5*time.Second)
		w.release(lease)
	})
}

func TestGrantAfterItsDeadlineIsGivenBack(t *testing.T) {
	everyKind(t, func(w *world) {
		dog, _, line := w.watchdog(lock.WatchdogOptions{})
		line.arm(fault{command: w.kind.ask, delay: 8500 * time.Millisecond})
		lease := w.acquire(dog)
		w.wantLeft(lease, dogTTL-dogMargin)
		w.release(lease)

		l, line := w.lock(lock.Options{TTL: dogTTL})
		try, err := lock.NewWatchdog(l, lock.WatchdogOptions{})
		if err != nil {
			w.Fatal(err)
		}
		w.release(w.tried(try))
		line.arm(fault{command: askAgain(w.kind), delay: 8500 * time.Millisecond})
		if _, err := try.TryAcquire(w.Context(), resource); err == nil || errors.Is(err, lock.ErrTaken) {
			w.Errorf("error %v, want one of a late grant", err)
		}
		w.wantFree(l)
	})
}

// tried takes the lock in one try.
func (w *world) tried(l lock.Trier) lock.Lease {
	w.Helper()
	lease, err := l.TryAcquire(w.Context(), resource)
	if err != nil {
		w.Fatal(err)
	}
	return lease
}

func TestTryAcquireOfAWatchdog(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		dog, err := lock.NewWatchdog(l, lock.WatchdogOptions{})
		if err != nil {
			w.Fatal(err)
		}
		lease := w.tried(dog)
		time.Sleep(time.Minute)
		_, err = dog.TryAcquire(w.Context(), resource)
		w.want(err, lock.ErrTaken)
		w.release(lease)
	})
}

// plain hides the further abilities of a locker and its leases.
type plain struct{ lock.Locker }

func (p plain) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := p.Locker.Acquire(ctx, resource)
	return struct{ lock.Lease }{l}, err
}

func TestWatchdogOverALockWithoutAbilities(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		dog, err := lock.NewWatchdog(plain{l}, lock.WatchdogOptions{TTL: lock.DefaultTTL})
		if err != nil {
			w.Fatal(err)
		}
		_, err = dog.Acquire(w.Context(), resource)
		w.want(err, errors.ErrUnsupported)
		w.wantFree(l)
		_, err = dog.TryAcquire(w.Context(), resource)
		w.want(err, errors.ErrUnsupported)
	})
}

func TestLossNoticedByTheInnerLease(t *testing.T) {
	everyKind(t, func(w *world) {
		dog, seen, _ := w.watchdog(lock.WatchdogOptions{})
		lease := w.acquire(dog)
		time.AfterFunc(time.Second, func() { _ = seen.last.Release(context.Background()) })
		w.wantLost(lease, time.Second)
	})
}

// forgetful is a lock whose leases return ErrNotHeld without ending themselves.
type forgetful struct{ lock.Locker }

func (f forgetful) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := f.Locker.Acquire(ctx, resource)
	return forgotten{l}, err
}

type forgotten struct{ lock.Lease }

func (forgotten) Extend(context.Context) error { return lock.ErrNotHeld }

func TestLossNotNoticedByTheInnerLease(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{TTL: dogTTL})
		dog, err := lock.NewWatchdog(forgetful{l}, lock.WatchdogOptions{TTL: dogTTL})
		if err != nil {
			w.Fatal(err)
		}
		lease := w.acquire(dog)
		w.wantLost(lease, dogInterval)
		w.release(lease)
	})
}

func TestWatchdogOnTheLocksOwnClock(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{TTL: dogTTL, Clock: shifted{time.Now()}})
		dog, err := lock.NewWatchdog(l, lock.WatchdogOptions{})
		if err != nil {
			w.Fatal(err)
		}
		lease := w.acquire(dog)
		line.cut()
		w.wantLost(lease, 2*(dogTTL-dogMargin))
	})
}

func TestWatchdogOptions(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    lock.WatchdogOptions
		want string
	}{
		{"no TTL", lock.WatchdogOptions{}, "TTL is not known: it must be given for a lock that is not of this package"},
		{"negative", lock.WatchdogOptions{TTL: -1, Interval: -1, Retry: -1, Margin: -1, MaxHold: -1},
			"TTL -1ns is negative\nInterval -1ns is negative\nRetry -1ns is negative\nMargin -1ns is negative\nMaxHold -1ns " +
				"is negative"},
		{"no time for a renewal", lock.WatchdogOptions{TTL: 10 * time.Second, Interval: 9 * time.Second},
			"an Interval of 9s and a Margin of 1s leave no time for a renewal within TTL 10s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.o.Validate(); err == nil || err.Error() != tc.want {
				t.Errorf("Validate: %v, want %s", err, tc.want)
			}
			_, err := lock.NewWatchdog(plain{}, tc.o)
			if want := "make a watchdog: " + tc.want; err == nil || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
		})
	}
	if _, err := lock.NewWatchdog(nil, lock.WatchdogOptions{}); err == nil ||
		!strings.HasSuffix(err.Error(), "no lock to watch") {
		t.Errorf("error %v", err)
	}
}
