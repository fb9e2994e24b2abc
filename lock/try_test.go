package lock_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"locksim/lock"
)

// try asks once.
func (w *world) try(l lock.Locker) (lock.Lease, error) {
	return l.(lock.Trier).TryAcquire(w.Context(), resource)
}

func TestTryDoesNotWait(t *testing.T) {
	everyWaiting(t, func(w *world) {
		a, _ := w.lock(lock.Options{})
		b, _ := w.lock(lock.Options{})
		began := time.Now()
		lease, err := w.try(a)
		if err != nil {
			w.Fatal(err)
		}
		_, err = w.try(b)
		w.want(err, lock.ErrTaken)
		if want := "try to acquire order:42: lock taken"; err == nil || err.Error() != want {
			w.Errorf("error %q, want %q", err, want)
		}
		w.release(lease)
		if lease, err = w.try(b); err != nil {
			w.Fatal(err)
		}
		w.release(lease)
		w.wantFree(b)
		if waited := time.Since(began); waited != 0 {
			w.Errorf("waited %v", waited)
		}
	})
}

func TestTryWithDeadContextSendsNothing(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{})
		line.refuse()
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		_, err := l.(lock.Trier).TryAcquire(ctx, resource)
		if want := "try to acquire order:42: context canceled"; err == nil || err.Error() != want {
			w.Errorf("error %q, want %q", err, want)
		}
	})
}

func TestTryOfUnknownOutcomeIsCleanedUp(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{})
		line.arm(fault{command: w.kind.ask, loseReply: true})
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		_, err := l.(lock.Trier).TryAcquire(ctx, resource)
		w.want(err, lock.ErrOutcomeUnknown, os.ErrDeadlineExceeded)
		if errors.Is(err, lock.ErrTaken) {
			w.Errorf("error %v wraps ErrTaken: the lock was free", err)
		}
		w.wantFree(l)
	})
}

func TestTryThatWasGrantedTooLate(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{TTL: time.Second})
		line.arm(fault{command: w.kind.ask, delay: time.Second})
		_, err := w.try(l)
		if want := "try to acquire order:42: granted too late, and given back"; err == nil || err.Error() != want {
			w.Errorf("error %q, want %q", err, want)
		}
		w.wantFree(l)

		line.arm(fault{command: askAgain(w.kind), delay: time.Second / 2})
		ctx, cancel := context.WithCancel(w.Context())
		time.AfterFunc(time.Second/4, cancel)
		_, err = l.(lock.Trier).TryAcquire(ctx, resource)
		w.want(err, context.Canceled)
		w.wantFree(l)
	})
}

func TestTryRefusesBadNames(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		if _, err := l.(lock.Trier).TryAcquire(w.Context(), "a{b}"); err == nil {
			w.Error("a name with braces was accepted")
		}
	})
}
