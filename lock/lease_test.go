package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locksim/lock"
)

func lost(l lock.Lease) bool {
	select {
	case <-l.Lost():
		return true
	default:
		return false
	}
}

func TestLossAtTheEndOfValidity(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{TTL: 10 * time.Second})
		lease := w.acquire(l)
		time.Sleep(10*time.Second - 1)
		synctest.Wait()
		if lost(lease) || lease.Context().Err() != nil {
			w.Fatal("lost before Until")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !lost(lease) {
			w.Error("Lost is open at Until")
		}
		w.want(lease.Context().Err(), context.Canceled)
		w.want(context.Cause(lease.Context()), lock.ErrLost)
		w.want(lease.Release(w.Context()), lock.ErrNotHeld)
	})
}

func TestContextHasEndedWhenLostIsClosed(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{TTL: time.Second})
		lease := w.acquire(l)
		<-lease.Lost()
		w.want(context.Cause(lease.Context()), lock.ErrLost)
	})
}

func TestReleaseIsNoLoss(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{TTL: time.Second})
		lease := w.acquire(l)
		w.release(lease)
		w.want(context.Cause(lease.Context()), context.Canceled)
		time.Sleep(time.Minute)
		synctest.Wait()
		if lost(lease) {
			w.Error("Lost was closed after the release")
		}
	})
}

// byHand is a clock with one timer, which the test fires; stop is always too
// late.
type byHand struct {
	fire    func()
	stopped int
}

func (*byHand) Now() time.Time { return time.Unix(0, 0) }

func (*byHand) Sleep(context.Context, time.Duration) error { panic("no wait is expected") }

func (c *byHand) AfterFunc(_ time.Duration, f func()) (stop func() bool) {
	c.fire = f
	return func() bool { c.stopped++; return false }
}

func TestTimerThatFiresDuringTheRelease(t *testing.T) {
	everyKind(t, func(w *world) {
		clock := &byHand{}
		l, _ := w.lock(lock.Options{Clock: clock})
		lease := w.acquire(l)
		w.release(lease)
		if clock.stopped != 1 {
			w.Errorf("the timer was stopped %d times", clock.stopped)
		}
		clock.fire()
		w.want(context.Cause(lease.Context()), context.Canceled)
		if lost(lease) {
			w.Error("Lost was closed after the release")
		}
	})
}

func TestReleaseCancelsTheContextBeforeItSends(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{})
		w.release(w.acquire(l))
		lease := w.acquire(l)
		line.arm(fault{command: "evalsha", delay: time.Second})
		began := time.Now()
		go func() { _ = lease.Release(context.Background()) }()
		<-lease.Context().Done()
		if waited := time.Since(began); waited != 0 {
			w.Errorf("the context ended %v after the release began", waited)
		}
		time.Sleep(time.Second)
	})
}

func TestLeaseOutlivesTheContextOfAcquire(t *testing.T) {
	everyKind(t, func(w *world) {
		type name struct{}
		l, _ := w.lock(lock.Options{})
		ctx, cancel := context.WithTimeout(context.WithValue(w.Context(), name{}, "trace 7"), time.Second)
		lease, err := l.Acquire(ctx, resource)
		if err != nil {
			w.Fatal(err)
		}
		cancel()
		time.Sleep(2 * time.Second)
		if err := lease.Context().Err(); err != nil {
			w.Errorf("the lease's context has ended: %v", err)
		}
		if got := lease.Context().Value(name{}); got != "trace 7" {
			w.Errorf("the lease's context carries %v", got)
		}
		w.release(lease)
	})
}

// shifted is a clock an hour ahead that runs at half speed.
type shifted struct{ began time.Time }

func (c shifted) Now() time.Time { return c.began.Add(time.Hour + time.Since(c.began)/2) }

func (shifted) Sleep(ctx context.Context, d time.Duration) error {
	time.Sleep(2 * d)
	return ctx.Err()
}

func (shifted) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(2*d, f).Stop
}

func TestTheLocksOwnClock(t *testing.T) {
	everyKind(t, func(w *world) {
		clock := shifted{time.Now()}
		slow, _ := w.lock(lock.Options{TTL: 10 * time.Second, Clock: clock})
		lease := w.acquire(slow)
		if ahead := lease.Until().Sub(clock.began); ahead != time.Hour+10*time.Second {
			w.Errorf("Until is %v ahead, want 1h0m10s", ahead)
		}
		began := time.Now()
		<-lease.Lost()
		if after := time.Since(began); after != 20*time.Second {
			w.Errorf("lost after %v, want 20s: 10s on a clock of half speed", after)
		}
	})
}

func TestBackoffSleepsOnTheLocksOwnClock(t *testing.T) {
	everyKind(t, func(w *world) {
		fast, _ := w.lock(lock.Options{TTL: time.Second})
		slow, _ := w.lock(lock.Options{Clock: shifted{time.Now()},
			Backoff: lock.Backoff{Min: 600 * time.Millisecond, Max: 600 * time.Millisecond}})
		w.acquire(fast)
		began := time.Now()
		w.acquire(slow)
		if waited := time.Since(began); waited != 1200*time.Millisecond {
			w.Errorf("waited %v, want one delay of 600ms on a clock of half speed", waited)
		}
	})
}

// deaf is the machine's clock, with a Sleep that ignores its context.
type deaf struct{}

func (deaf) Now() time.Time { return time.Now() }

func (deaf) Sleep(_ context.Context, d time.Duration) error { time.Sleep(d); return nil }

func (deaf) AfterFunc(d time.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }

func TestNothingIsSentOnceTheContextHasEnded(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Minute})
		b, _ := w.lock(lock.Options{Clock: deaf{}, Backoff: lock.Backoff{Min: time.Second, Max: time.Second}})
		w.acquire(a)
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		_, err := b.Acquire(ctx, resource)
		w.want(err, context.DeadlineExceeded)
		if errors.Is(err, lock.ErrOutcomeUnknown) {
			w.Errorf("error %v: it asked again", err)
		}
	})
}
