package metrics_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/metrics"
)

func TestSection(t *testing.T) {
	bubble(t, func(w *world) {
		lease := w.acquire(w.Measure(w.single()))
		w.want(map[string]float64{"lock_attempts_total{granted}": 1, "lock_wait_count": 1, "lock_held": 1})
		time.Sleep(2 * time.Second)
		for range 2 { // a second release changes nothing
			if err := lease.Release(w.Context()); err != nil {
				w.Fatal(err)
			}
		}
		w.want(map[string]float64{
			"lock_attempts_total{granted}": 1, "lock_wait_count": 1, "lock_hold_count": 1, "lock_hold_sum": 2,
			"lock_validity_left_count": 1, "lock_validity_left_sum": 8, "lock_releases_total{released}": 1,
		})
	})
}

func TestWait(t *testing.T) {
	bubble(t, func(w *world) {
		locks := w.Measure(acquireFunc(func(ctx context.Context, _ string) (lock.Lease, error) {
			time.Sleep(3 * time.Second)
			return nil, context.DeadlineExceeded
		}))
		go func() { _, _ = locks.Acquire(w.Context(), resource) }()
		time.Sleep(time.Second)
		w.want(map[string]float64{"lock_waiters": 1})
		time.Sleep(time.Minute)
		w.want(map[string]float64{"lock_attempts_total{timeout}": 1, "lock_wait_count": 1, "lock_wait_sum": 3})
	})
}

func TestTryIsNotAWait(t *testing.T) {
	bubble(t, func(w *world) {
		held := w.acquire(w.single())
		locks := w.Measure(w.single())
		if _, err := locks.(lock.Trier).TryAcquire(w.Context(), resource); !errors.Is(err, lock.ErrTaken) {
			w.Errorf("error %v, want ErrTaken", err)
		}
		w.want(map[string]float64{"lock_attempts_total{taken}": 1})
		if err := held.Release(w.Context()); err != nil {
			w.Error(err)
		}
	})
}

func TestExpiry(t *testing.T) {
	bubble(t, func(w *world) {
		lease := w.acquire(w.Measure(w.single()))
		time.Sleep(time.Minute)
		lost := map[string]float64{
			"lock_attempts_total{granted}": 1, "lock_wait_count": 1,
			"lock_hold_count": 1, "lock_hold_sum": 10, "lock_lost_total{expired}": 1,
		}
		w.want(lost)
		if err := lease.Release(w.Context()); !errors.Is(err, lock.ErrNotHeld) {
			w.Errorf("error %v, want ErrNotHeld", err)
		}
		lost["lock_validity_left_count"] = 1
		lost["lock_releases_total{lost}"] = 1
		w.want(lost)
	})
}

// TestExpiryWithoutNotice: the leases of a third-party lock may give no notice
// of a loss.
func TestExpiryWithoutNotice(t *testing.T) {
	bubble(t, func(w *world) {
		inner := &plainLease{until: time.Now().Add(ttl), releases: []error{lock.ErrNotHeld}}
		lease := w.acquire(w.Measure(always(inner, nil)))
		time.Sleep(12 * time.Second)
		_ = lease.Release(w.Context())
		w.want(map[string]float64{
			"lock_attempts_total{granted}": 1, "lock_wait_count": 1, "lock_hold_count": 1, "lock_hold_sum": 12,
			"lock_lost_total{expired}": 1, "lock_validity_left_count": 1, "lock_releases_total{lost}": 1,
		})
	})
}

// TestLostKey: the node loses the key while the lease is valid by the clock.
func TestLostKey(t *testing.T) {
	granted := map[string]float64{
		"lock_attempts_total{granted}": 1, "lock_wait_count": 1, "lock_hold_count": 1, "lock_hold_sum": 1,
		"lock_validity_left_count": 1,
	}
	for _, c := range []struct {
		name   string
		notice func(w *world, l lock.Lease)
		want   map[string]float64
	}{
		{"the release notices it first", func(*world, lock.Lease) {}, map[string]float64{
			"lock_validity_left_sum": 9, "lock_releases_total{not_owner}": 1,
		}},
		{"a renewal notices it first", func(w *world, l lock.Lease) {
			if err := l.(lock.Extender).Extend(w.Context()); !errors.Is(err, lock.ErrNotHeld) {
				w.Errorf("error %v, want ErrNotHeld", err)
			}
		}, map[string]float64{
			"lock_renewals_total{not_held}": 1, "lock_lost_total{gone}": 1, "lock_releases_total{lost}": 1,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				single := w.single()
				lease := w.acquire(w.Measure(single))
				time.Sleep(time.Second)
				w.node.Del(single.Key(resource))
				c.notice(w, lease)
				if err := lease.Release(w.Context()); !errors.Is(err, lock.ErrNotHeld) {
					w.Errorf("error %v, want ErrNotHeld", err)
				}
				want := map[string]float64{}
				for _, part := range []map[string]float64{granted, c.want} {
					for name, value := range part {
						want[name] = value
					}
				}
				w.want(want)
			})
		})
	}
}

func TestReleases(t *testing.T) {
	errOther := errors.New("other")
	for _, c := range []struct {
		name     string
		releases []error
		want     map[string]float64
	}{
		{"success after no reply", []error{lock.ErrOutcomeUnknown, nil},
			map[string]float64{"lock_releases_total{unknown}": 1, "lock_releases_total{released}": 1}},
		{"not held after no reply: the first may have worked", []error{lock.ErrOutcomeUnknown, lock.ErrNotHeld,
			lock.ErrNotHeld},
			map[string]float64{"lock_releases_total{unknown}": 1}},
		{"not held twice", []error{lock.ErrNotHeld, lock.ErrNotHeld},
			map[string]float64{"lock_releases_total{not_owner}": 1}},
		{"not held after an error that proves a failure", []error{errOther, lock.ErrNotHeld},
			map[string]float64{"lock_releases_total{error}": 1, "lock_releases_total{not_owner}": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				inner := &plainLease{until: time.Now().Add(ttl), releases: c.releases}
				lease := w.acquire(w.Measure(always(inner, nil)))
				for range c.releases {
					_ = lease.Release(w.Context())
				}
				c.want["lock_attempts_total{granted}"] = 1
				c.want["lock_wait_count"] = 1
				c.want["lock_hold_count"] = 1
				c.want["lock_validity_left_count"] = 1
				c.want["lock_validity_left_sum"] = 10
				w.want(c.want)
			})
		})
	}
}

func TestRejected(t *testing.T) {
	bubble(t, func(w *world) {
		errOther := errors.New("other")
		_, tooOld := fence.Seal.Write(fence.State{Highest: 8}, fence.Op{Token: 7})
		_, unnamed := fence.Claim.Write(fence.State{}, fence.Op{Token: 7})
		for _, err := range []error{tooOld, unnamed, errOther, nil} {
			if got := w.Rejected(err); got != err { //nolint:errorlint // it must be identical
				w.Errorf("Rejected(%v) returned %v", err, got)
			}
		}
		w.want(map[string]float64{
			"lock_fencing_rejections_total{stale}": 1, "lock_fencing_rejections_total{no_grant}": 1,
		})
	})
}

// TestClock: the metrics use the lock's clock.
func TestClock(t *testing.T) {
	bubble(t, func(w *world) {
		fast := &doubleClock{began: time.Now()}
		w.replaceMetrics(metrics.Options{Lock: "fast", Clock: fast})
		lease := w.acquire(w.Measure(always(&plainLease{until: fast.Now().Add(ttl), releases: []error{nil}}, nil)))
		time.Sleep(2 * time.Second)
		_ = lease.Release(w.Context())
		w.want(map[string]float64{
			"lock_attempts_total{granted}": 1, "lock_wait_count": 1, "lock_hold_count": 1, "lock_hold_sum": 4,
			"lock_validity_left_count": 1, "lock_validity_left_sum": 6, "lock_releases_total{released}": 1,
		})
	})
}

// doubleClock is a clock at twice the right speed.
type doubleClock struct {
	lock.Clock
	began time.Time
}

func (d *doubleClock) Now() time.Time { return d.began.Add(2 * time.Since(d.began)) }
