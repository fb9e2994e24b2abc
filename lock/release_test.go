package lock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"locksim/lock"
)

func TestReleaseWithDeadContext(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		lease := w.acquire(l)
		dead, cancel := context.WithCancel(w.Context())
		cancel()
		if err := lease.Release(dead); err != nil {
			w.Error(err)
		}
		w.wantFree(l)
	})
}

func TestSecondReleaseRepeatsTheFirst(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		lease := w.acquire(l)
		w.release(lease)
		next := w.acquire(l)
		w.release(lease)
		w.release(next) // the second release of the first lease has not affected it
	})
}

func TestConcurrentReleases(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		lease := w.acquire(l)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := lease.Release(w.Context()); err != nil {
					w.Error(err)
				}
			})
		}
		all.Wait()
		w.wantFree(l)
	})
}

func TestReleaseOfUnknownOutcome(t *testing.T) {
	for _, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			everyKind(t, func(w *world) {
				l, line := w.lock(lock.Options{})
				w.release(w.acquire(l)) // the script is cached from here on
				lease := w.acquire(l)
				f := loss.fault
				f.command = "evalsha"
				line.arm(f)

				began := time.Now()
				w.want(lease.Release(w.Context()), lock.ErrOutcomeUnknown, loss.cause)
				if took := time.Since(began); took > lock.DefaultReleaseTimeout {
					w.Errorf("release took %v, longer than its timeout", took)
				}
				again := lease.Release(w.Context())
				if gone := errors.Is(again, lock.ErrNotHeld); gone != loss.applied || (!gone && again != nil) {
					w.Errorf("second release: %v; the first was carried out: %v", again, loss.applied)
				}
				w.wantFree(l)
			})
		})
	}
}

func TestReleaseThatWasNotCarriedOut(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		lease := w.acquire(l)
		w.node.SetError("READONLY You can't write against a read only replica.")
		err := lease.Release(w.Context())
		if err == nil || errors.Is(err, lock.ErrOutcomeUnknown) || errors.Is(err, lock.ErrNotHeld) {
			w.Errorf("error %v, want the node's", err)
		}
		w.node.SetError("")
		w.release(lease)
		w.wantFree(l)
	})
}
