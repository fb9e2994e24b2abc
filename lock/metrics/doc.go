// Package metrics measures any [lock.Locker] for Prometheus: a decorator that counts and times what passes
// through it, and rules for alerts on it.
//
//	m, err := metrics.New(prometheus.DefaultRegisterer, metrics.Options{Lock: "orders", TTL: 10 * time.Second})
//	...
//	locks := m.Measure(fenced)                           // use it in place of fenced
//	...
//	err = m.Rejected(guard.Write(ctx, key, field, value, op)) // what the fence refuses counts as well
//
// Each metric has the label "lock", the name that Options.Lock gives, and at most one more. Its values are
// those in the table, so the number of series does not grow with use. The key of a resource is never one.
//
//	lock_attempts_total{outcome}           calls of Acquire and TryAcquire: granted, taken (a try that found
//	                                       another holder), timeout, cancelled (the caller's context),
//	                                       no_quorum, unknown (no answer), error
//	lock_wait_seconds                      histogram: how long Acquire took, whatever came of it
//	lock_waiters                           calls of Acquire that have not returned
//	lock_held                              leases that are neither released nor lost
//	lock_hold_seconds                      histogram: from the grant to the call of Release, or to the loss
//	lock_validity_left_seconds             histogram: validity at the first call of Release, 0 after a loss
//	lock_renewals_total{outcome}           renewed, not_held, limit (of a Redlock), unknown, error
//	lock_lost_total{reason}                expired (the lease ended by the clock), gone (a renewal found its
//	                                       key gone or another's before that)
//	lock_releases_total{outcome}           released, lost (not held, and the holder could know), not_owner
//	                                       (not held, by the clock it should have been), unknown, error
//	lock_token_decreases_total             grants with a lower fencing token than one before them
//	lock_fencing_rejections_total{reason}  operations that a fence refused: stale, no_grant
//	lock_ttl_seconds                       Options.TTL, if it is given
//
// All of them are there, with 0, from the start: an alert on the first increase needs that.
//
// A token is compared with those that this process has been granted for the same resource before it asked,
// for as many resources as Options.Resources says. That a token is lower than another process's shows at
// the fence, as rejections.
//
// # Renewals of a watchdog
//
// A [lock.Watchdog] renews the leases of the lock inside it, unseen from outside. To count that, measure
// the renewals inside and all the rest outside. The watchdog cannot ask a decorated lock for its timing, so
// it has to be told:
//
//	dog, err := lock.NewWatchdog(m.MeasureRenewals(fenced), lock.WatchdogOptions{TTL: 10 * time.Second})
//	...
//	locks := m.Measure(dog)
//
// Leave Options.TTL at 0 then: a lease that is renewed may well be held for longer.
//
// # Alerts
//
// [Alerts] is a file of alert rules for Prometheus, alerts.yml in this folder: too few acquires succeed,
// they wait long, leases expire, the lock is held for most of its TTL, somebody released what was not
// theirs, a token went down. The job and the lock are its labels.
package metrics
