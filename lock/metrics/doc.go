// Package metrics measures any [lock.Locker] for Prometheus: a decorator that counts and times calls, and alert rules
// for its metrics.
//
//	m, err := metrics.New(prometheus.DefaultRegisterer, metrics.Options{Lock: "orders", TTL: 10 * time.Second})
//	...
//	locks := m.Measure(fenced)                           // use it in place of fenced
//	...
//	err = m.Rejected(guard.Write(ctx, key, field, value, op)) // refusals of the fence count too
//
// Each metric has the label "lock" with the value of Options.Lock, and at most one more label. Its values are those in
// the table, so the number of series does not grow with use. The key of a resource is never a label value.
//
//	lock_attempts_total{outcome}           calls of Acquire and TryAcquire: granted, taken (a try that found
//	                                       another holder), timeout, cancelled (the caller's context),
//	                                       no_quorum, unknown (no answer), error
//	lock_wait_seconds                      histogram: how long Acquire took, with any outcome
//	lock_waiters                           calls of Acquire that have not returned
//	lock_held                              leases that are neither released nor lost
//	lock_hold_seconds                      histogram: from the grant to the call of Release, or to the loss
//	lock_validity_left_seconds             histogram: validity at the first call of Release, 0 after a loss
//	lock_renewals_total{outcome}           renewed, not_held, limit (of a Redlock), unknown, error
//	lock_lost_total{reason}                expired (the lease ended by the clock), gone (a renewal found its
//	                                       key gone or another's before that)
//	lock_releases_total{outcome}           released, lost (not held, as the holder could know), not_owner
//	                                       (not held, by the clock it should have been), unknown, error
//	lock_token_decreases_total             grants with a lower fencing token than one before them
//	lock_fencing_rejections_total{reason}  operations that a fence refused: stale, no_grant
//	lock_ttl_seconds                       Options.TTL, if it is given
//
// All of them exist with 0 from the start: an alert on the first increase needs that.
//
// A token is compared with those that this process had been granted for the same resource before the request, for as
// many resources as Options.Resources says. A token that is lower than another process's shows at the fence, as
// rejections.
//
// # Renewals of a watchdog
//
// A [lock.Watchdog] renews the leases of its inner lock, which is not visible outside. To count that, measure the
// renewals inside and everything else outside. The watchdog cannot ask a decorated lock for its TTL, so the caller sets
// it:
//
//	dog, err := lock.NewWatchdog(m.MeasureRenewals(fenced), lock.WatchdogOptions{TTL: 10 * time.Second})
//	...
//	locks := m.Measure(dog)
//
// Leave Options.TTL at 0 then: a renewed lease may be held for longer.
//
// # Alerts
//
// [Alerts] is a file of alert rules for Prometheus, alerts.yml in this folder: too few acquires succeed, they wait
// long, leases expire, the lock is held for most of its TTL, a client released a lock that it did not hold, a token
// decreased. The job and the lock are its labels.
package metrics
