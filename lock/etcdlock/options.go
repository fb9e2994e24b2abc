package etcdlock

import (
	"errors"
	"fmt"
	"time"

	"locksim/lock"
)

// Options configure a [Lock]. The zero value is ready for use.
type Options struct {
	// TTL is how long the lease lasts in etcd after its last renewal. It is a whole number of seconds, the unit of etcd,
	// and two at least: etcd raises what is less than one and a half election timeouts (F48). 0 means
	// [lock.DefaultTTL].
	TTL time.Duration

	// Interval is the time from the sending of one successful renewal to that of the next. 0 means a third of TTL.
	Interval time.Duration

	// Retry is the time from the sending of a failed renewal to that of the next, and the timeout of one. 0 means a
	// quarter of Interval.
	Retry time.Duration

	// Margin is how long before the end of the lease the holder is notified: see [lock.WatchdogOptions]. 0 means a
	// tenth of TTL.
	Margin time.Duration

	// MaxHold bounds a lease, counted from the return of Acquire (F71). 0 means no limit.
	MaxHold time.Duration

	// ReleaseTimeout bounds a release and the clean-up after a failed Acquire, both of which go on when the caller's
	// context has ended (F29). 0 means [lock.DefaultReleaseTimeout].
	ReleaseTimeout time.Duration

	// Prefix starts every key. Locks with the same prefix on the same cluster exclude each other. "" means "locks/".
	Prefix string

	// Clock is the source of time. nil means the machine's clock.
	Clock lock.Clock
}

// DefaultPrefix starts every key.
const DefaultPrefix = "locks/"

// minTTL is the least TTL of an etcd with the default election timeout.
const minTTL = 2 * time.Second

// Validate returns an error that names every invalid field, or nil. [New] calls it.
func (o Options) Validate() error {
	var errs []error
	switch {
	case o.TTL < 0:
		errs = append(errs, fmt.Errorf("TTL %v is negative", o.TTL))
	case o.TTL%time.Second != 0:
		errs = append(errs, fmt.Errorf("TTL %v is not a whole number of seconds, the unit of etcd: use %v", o.TTL,
			o.TTL.Truncate(time.Second)+time.Second))
	case o.TTL > 0 && o.TTL < minTTL:
		errs = append(errs, fmt.Errorf("TTL %v is less than the %v that etcd grants at least", o.TTL, minTTL))
	}
	if o.ReleaseTimeout < 0 {
		errs = append(errs, fmt.Errorf("ReleaseTimeout %v is negative", o.ReleaseTimeout))
	}
	return errors.Join(append(errs, o.watchdog().Validate())...)
}

// withDefaults returns the options with the zero fields filled in that a watchdog does not fill in.
func (o Options) withDefaults() Options {
	if o.TTL == 0 {
		o.TTL = lock.DefaultTTL
	}
	if o.ReleaseTimeout == 0 {
		o.ReleaseTimeout = lock.DefaultReleaseTimeout
	}
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Clock == nil {
		o.Clock = lock.SystemClock()
	}
	if o.Interval == 0 {
		o.Interval = o.TTL / 3
	}
	if o.Retry == 0 {
		o.Retry = max(o.Interval/4, 1)
	}
	return o
}

// watchdog are the options of the renewals of a holder.
func (o Options) watchdog() lock.WatchdogOptions {
	o = o.withDefaults()
	return lock.WatchdogOptions{TTL: o.TTL, Interval: o.Interval, Retry: o.Retry, Margin: o.Margin, MaxHold: o.MaxHold,
		Clock: o.Clock}
}
