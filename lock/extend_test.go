package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locksim/lock"
)

func extend(ctx context.Context, l lock.Lease) error { return l.(lock.Extender).Extend(ctx) }

// extended takes the lock and extends it once, so that the node has the script.
func (w *world) extended(l lock.Locker) lock.Lease {
	w.Helper()
	lease := w.acquire(l)
	if err := extend(w.Context(), lease); err != nil {
		w.Fatal(err)
	}
	return lease
}

// wantLeft fails unless the lease ends in d, on the machine's clock.
func (w *world) wantLeft(l lock.Lease, d time.Duration) {
	w.Helper()
	if left := time.Until(l.Until()); left != d {
		w.Errorf("the lease has %v left, want %v", left, d)
	}
}

func TestExtendMovesTheEnd(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{TTL: 10 * time.Second})
		lease := w.acquire(l)
		for range 3 {
			time.Sleep(9 * time.Second)
			if err := extend(w.Context(), lease); err != nil {
				w.Fatal(err)
			}
			w.wantLeft(lease, 10*time.Second)
			if left := w.node.TTL(l.Key(resource)); left != 10*time.Second {
				w.Errorf("the key lasts %v, want 10s", left)
			}
		}
		began := time.Now()
		<-lease.Lost()
		if after := time.Since(began); after != 10*time.Second {
			w.Errorf("lost %v after the last renewal, want 10s", after)
		}
	})
}

func TestExtensionCountsFromTheSend(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{TTL: 10 * time.Second})
		lease := w.extended(l)
		line.arm(fault{command: "evalsha", delay: 3 * time.Second})
		if err := extend(w.Context(), lease); err != nil {
			w.Fatal(err)
		}
		w.wantLeft(lease, 7*time.Second)
	})
}

func TestExtendNeverMakesAKey(t *testing.T) { // F05
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		lease := w.acquire(l)
		w.node.Del(l.Key(resource))
		w.want(extend(w.Context(), lease), lock.ErrNotHeld)
		w.wantFree(l)
		if !lost(lease) {
			w.Error("the holder was not told")
		}
		w.want(context.Cause(lease.Context()), lock.ErrLost)
	})
}

func TestExtendLeavesAnothersKey(t *testing.T) { // F04
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Minute})
		b, _ := w.lock(lock.Options{TTL: 10 * time.Second})
		lease := w.acquire(a)
		w.node.Del(a.Key(resource))
		successor := w.acquire(b)
		time.Sleep(time.Second)
		w.want(extend(w.Context(), lease), lock.ErrNotHeld)
		if left := w.node.TTL(b.Key(resource)); left != 9*time.Second {
			w.Errorf("the successor's key lasts %v, want 9s", left)
		}
		w.release(successor)
	})
}

func TestExtendLeavesTheKeyOfAnotherKind(t *testing.T) {
	for _, holder := range kinds {
		everyKind(t, func(w *world) {
			a, _ := w.lock(lock.Options{})
			lease := w.acquire(a)
			w.node.Del(a.Key(resource))
			c, _ := w.client()
			b, err := holder.make(c, lock.Options{})
			if err != nil {
				w.Fatal(err)
			}
			w.acquire(b)
			w.want(extend(w.Context(), lease), lock.ErrNotHeld)
			w.want(lease.Release(w.Context()), lock.ErrNotHeld)
		})
	}
}

func TestExtensionOfUnknownOutcome(t *testing.T) {
	for _, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			everyKind(t, func(w *world) {
				l, line := w.lock(lock.Options{TTL: 10 * time.Second})
				lease := w.extended(l)
				until := lease.Until()
				f := loss.fault
				f.command = "evalsha"
				line.arm(f)
				ctx, cancel := context.WithTimeout(w.Context(), time.Second)
				defer cancel()
				time.Sleep(time.Millisecond)
				w.want(extend(ctx, lease), lock.ErrOutcomeUnknown, loss.cause)
				if lost(lease) || !lease.Until().Equal(until) {
					w.Errorf("lost: %v, Until has moved by %v", lost(lease), lease.Until().Sub(until))
				}
				if err := extend(w.Context(), lease); err != nil {
					w.Error(err)
				}
				w.wantLeft(lease, 10*time.Second)
			})
		})
	}
}

func TestExtensionThatWasNotCarriedOut(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		lease := w.acquire(l)
		w.node.SetError("READONLY You can't write against a read only replica.")
		err := extend(w.Context(), lease)
		if err == nil || errors.Is(err, lock.ErrOutcomeUnknown) || errors.Is(err, lock.ErrNotHeld) {
			w.Errorf("error %v, want the node's", err)
		}
		w.node.SetError("")
		w.release(lease)
	})
}

func TestExtendSendsNothing(t *testing.T) {
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tc := range []struct {
		name string
		ctx  context.Context
		end  func(w *world, l lock.Lease)
		want error
	}{
		{"after the end of ctx", dead, func(*world, lock.Lease) {}, context.Canceled},
		{"after a release", t.Context(), func(w *world, l lock.Lease) { w.release(l) }, lock.ErrNotHeld},
		{"after a loss", t.Context(), func(_ *world, l lock.Lease) { <-l.Lost() }, lock.ErrNotHeld},
	} {
		t.Run(tc.name, func(t *testing.T) {
			everyKind(t, func(w *world) {
				l, line := w.lock(lock.Options{})
				lease := w.extended(l)
				tc.end(w, lease)
				line.arm(fault{command: "evalsha"})
				w.want(extend(tc.ctx, lease), tc.want)
				if !line.armed() {
					w.Error("it has sent a request")
				}
			})
		})
	}
}

// The clock decides, not the timer: the timer is late here.
func TestExtendAfterTheEndByTheClock(t *testing.T) {
	everyKind(t, func(w *world) {
		clock := &lateTimers{}
		l, _ := w.lock(lock.Options{TTL: 10 * time.Second, Clock: clock})
		lease := w.extended(l)
		time.Sleep(10 * time.Second)
		w.want(extend(w.Context(), lease), lock.ErrNotHeld)
		if !lost(lease) {
			w.Error("the holder was not told")
		}
	})
}

// lateTimers is the machine's clock, with timers that never fire.
type lateTimers struct{ deaf }

func (*lateTimers) AfterFunc(time.Duration, func()) (stop func() bool) {
	return func() bool { return true }
}

func TestAnswerToAnExtensionAfterTheEnd(t *testing.T) {
	for name, clock := range map[string]lock.Clock{"timer": nil, "clock": &lateTimers{}} {
		t.Run("by the "+name, func(t *testing.T) {
			everyKind(t, func(w *world) {
				l, line := w.lock(lock.Options{TTL: 10 * time.Second, Clock: clock})
				lease := w.extended(l)
				time.Sleep(9 * time.Second)
				line.arm(fault{command: "evalsha", delay: 2 * time.Second})
				w.want(extend(w.Context(), lease), lock.ErrNotHeld)
				if !lost(lease) {
					w.Error("the holder was not told")
				}
				w.release(lease) // the key was renewed without a holder
				w.wantFree(l)
			})
		})
	}
}

func TestExtendDoesNotWaitPastTheEnd(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{TTL: 10 * time.Second})
		lease := w.extended(l)
		time.Sleep(9 * time.Second)
		line.cut()
		began := time.Now()
		w.want(extend(w.Context(), lease), lock.ErrOutcomeUnknown)
		if took := time.Since(began); took != time.Second {
			w.Errorf("it waited for %v, want to the end of the lease, 1s", took)
		}
	})
}

func TestReleaseDuringAnExtension(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{})
		lease := w.extended(l)
		line.arm(fault{command: "evalsha", delay: time.Second})
		result := make(chan error, 1)
		go func() { result <- extend(w.Context(), lease) }()
		synctest.Wait()
		w.release(lease)
		w.want(<-result, lock.ErrNotHeld)
		w.wantFree(l)
		if lost(lease) {
			w.Error("Lost was closed after the release")
		}
	})
}

func TestLateAnswerDoesNotShortenTheLease(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{TTL: 10 * time.Second})
		lease := w.extended(l)
		line.arm(fault{command: "evalsha", delay: 4 * time.Second})
		first := make(chan error, 1)
		go func() { first <- extend(w.Context(), lease) }()
		time.Sleep(2 * time.Second)
		if err := extend(w.Context(), lease); err != nil {
			w.Fatal(err)
		}
		if err := <-first; err != nil {
			w.Error(err)
		}
		w.wantLeft(lease, 8*time.Second)
	})
}
