package metrics_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"locksim/lock"
)

// TestAbilities: a measured lock has the abilities of the lock inside, and no others; its leases likewise.
func TestAbilities(t *testing.T) {
	fixed := &plainLease{}
	for _, lease := range []lock.Lease{fixed, extendableLease{plainLease: fixed}} {
		plain := always(lease, nil)
		for name, inner := range map[string]lock.Locker{
			"plain": plain,
			"trier": struct {
				acquireFunc
				withTry
			}{plain, withTry{lease}},
			"owned": struct {
				acquireFunc
				withOwners
			}{plain, withOwners{lease}},
			"both": struct {
				acquireFunc
				withTry
				withOwners
			}{plain, withTry{lease}, withOwners{lease}},
		} {
			t.Run(fmt.Sprintf("%s of %T", name, lease), func(t *testing.T) {
				bubble(t, func(w *world) {
					for _, outer := range []lock.Locker{w.Measure(inner), w.MeasureRenewals(inner)} {
						w.sameAbilities(outer, inner)
					}
				})
			})
		}
	}
}

func (w *world) sameAbilities(outer, inner lock.Locker) {
	w.Helper()
	w.sameLease("Acquire", w.acquire(outer), w.acquire(inner))
	trier, tries := outer.(lock.Trier)
	if _, want := inner.(lock.Trier); tries != want {
		w.Errorf("a Trier: %v, want %v", tries, want)
	}
	if tries {
		lease, err := trier.TryAcquire(w.Context(), resource)
		if err != nil {
			w.Fatal(err)
		}
		w.sameLease("TryAcquire", lease, w.acquire(inner))
	}
	owned, has := outer.(lock.Owned)
	if _, want := inner.(lock.Owned); has != want {
		w.Errorf("an Owned: %v, want %v", has, want)
	}
	if has {
		w.sameLease("As", w.acquire(owned.As("job")), w.acquire(inner))
	}
}

func (w *world) sameLease(from string, outer, inner lock.Lease) {
	w.Helper()
	_, got := outer.(lock.Extender)
	if _, want := inner.(lock.Extender); got != want {
		w.Errorf("a lease from %s is an Extender: %v, want %v", from, got, want)
	}
}

func TestReentry(t *testing.T) {
	bubble(t, func(w *world) {
		reentrant, err := lock.NewReentrant(w.client, lock.Options{TTL: ttl})
		if err != nil {
			w.Fatal(err)
		}
		job := w.Measure(reentrant).(lock.Owned).As("job")
		outer, inner := w.acquire(job), w.acquire(job)
		time.Sleep(time.Second)
		for _, lease := range []lock.Lease{inner, outer} {
			if err := lease.Release(w.Context()); err != nil {
				w.Error(err)
			}
		}
		w.want(map[string]float64{
			"lock_attempts_total{granted}": 2, "lock_wait_count": 2, "lock_hold_count": 2, "lock_hold_sum": 2,
			"lock_validity_left_count": 2, "lock_validity_left_sum": 18, "lock_releases_total{released}": 2,
		})
	})
}

// TestWatchdog: the metrics inside the watchdog count its renewals, those outside count the rest, and a renewal by the
// caller counts once.
func TestWatchdog(t *testing.T) {
	bubble(t, func(w *world) {
		watchdog, err := lock.NewWatchdog(w.MeasureRenewals(w.single()),
			lock.WatchdogOptions{TTL: ttl, Interval: 3 * time.Second})
		if err != nil {
			w.Fatal(err)
		}
		lease := w.acquire(w.Measure(watchdog))
		time.Sleep(30*time.Second + time.Millisecond)
		if err := lease.(lock.Extender).Extend(w.Context()); err != nil {
			w.Error(err)
		}
		if err := lease.Release(w.Context()); err != nil {
			w.Error(err)
		}
		w.want(map[string]float64{
			"lock_attempts_total{granted}": 1, "lock_wait_count": 1, "lock_hold_count": 1, "lock_hold_sum": 30.001,
			"lock_validity_left_count": 1, "lock_validity_left_sum": 9, // the watchdog has a margin of a second
			"lock_renewals_total{renewed}": 11, "lock_releases_total{released}": 1,
		})
	})
}

// TestNumberOfSeries: the number does not grow with the resources: no key becomes a label.
func TestNumberOfSeries(t *testing.T) {
	bubble(t, func(w *world) {
		locks := w.Measure(w.single())
		before := len(gather(w, w.registry))
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				lease, err := locks.Acquire(w.Context(), fmt.Sprintf("user:%d", i))
				if err != nil {
					w.Error(err)
					return
				}
				time.Sleep(time.Second)
				if err := lease.Release(w.Context()); err != nil {
					w.Error(err)
				}
			})
		}
		all.Wait()
		if after := len(gather(w, w.registry)); after != before {
			w.Errorf("%d series, and %d before", after, before)
		}
		w.want(map[string]float64{
			"lock_attempts_total{granted}": 100, "lock_wait_count": 100, "lock_hold_count": 100, "lock_hold_sum": 100,
			"lock_validity_left_count": 100, "lock_validity_left_sum": 900, "lock_releases_total{released}": 100,
		})
	})
}
