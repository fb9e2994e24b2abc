package lock

import (
	"errors"
	"fmt"
	"time"

	"locksim/lock/promise"
)

// WatchdogOptions configure a [Watchdog]. The zero value is ready for use over any lock of this package.
type WatchdogOptions struct {
	// TTL is how long a lease of the inner lock lasts after the sending of a request for it, renewals included. 0 means
	// the TTL of the inner lock (for a Redlock: less its drift), which locks of this package provide.
	TTL time.Duration

	// Interval is the time from the sending of one successful renewal to that of the next. 0 means a third of TTL, so
	// that two thirds are left for sending it again.
	Interval time.Duration

	// Retry is the time from the sending of a failed renewal to that of the next, and the timeout of one; the latter
	// only with the client's ContextTimeoutEnabled. 0 means a quarter of Interval: the node is asked seven times before
	// the holder is notified.
	Retry time.Duration

	// Margin is how long before the end of the inner lease the holder is notified. It should cover the difference of
	// clocks of different speed over a TTL, the time until the holder has stopped, and that until its last requests
	// have arrived. 0 means a tenth of TTL.
	Margin time.Duration

	// MaxHold bounds a lease, counted from the return of Acquire (F71). The key exists for up to a TTL longer if it is
	// not released. 0 means no limit.
	MaxHold time.Duration

	// Clock is the source of time, and must be that of the inner lock. nil means that of the inner lock if it is one of
	// this package, and otherwise the machine's.
	Clock Clock
}

// DefaultRetry is the Retry of [WatchdogOptions] that 0 stands for if their TTL is this one and their Interval is 0: a
// twelfth of the TTL.
func DefaultRetry(ttl time.Duration) time.Duration { return promise.RenewalRetry(ttl) }

func defaultInterval(ttl time.Duration) time.Duration { return ttl / 3 }

func retryOf(interval time.Duration) time.Duration { return max(interval/4, 1) }

// Validate returns an error that names every invalid field, or nil. [NewWatchdog] calls it, after it has asked the
// inner lock for its TTL.
func (o WatchdogOptions) Validate() error {
	var errs []error
	for _, field := range []struct {
		name  string
		value time.Duration
	}{
		{"TTL", o.TTL}, {"Interval", o.Interval}, {"Retry", o.Retry}, {"Margin", o.Margin}, {"MaxHold", o.MaxHold},
	} {
		if field.value < 0 {
			errs = append(errs, fmt.Errorf("%s %v is negative", field.name, field.value))
		}
	}
	if o.TTL == 0 {
		errs = append(errs, errors.New("TTL is not known: it must be given for a lock that is not of this package"))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if full := o.withDefaults(); full.Interval+full.Margin >= full.TTL {
		return fmt.Errorf("an Interval of %v and a Margin of %v leave no time for a renewal within TTL %v",
			full.Interval, full.Margin, full.TTL)
	}
	return nil
}

// withTiming sets the fields that the inner lock provides.
func (o WatchdogOptions) withTiming(inner Locker) WatchdogOptions {
	clock := defaultClock()
	if l, ok := inner.(timed); ok {
		var ttl time.Duration
		clock, ttl = l.timing()
		if o.TTL == 0 {
			o.TTL = ttl
		}
	}
	if o.Clock == nil {
		o.Clock = clock
	}
	return o
}

// withDefaults returns valid options with every other zero field filled in.
func (o WatchdogOptions) withDefaults() WatchdogOptions {
	if o.Interval == 0 {
		o.Interval = defaultInterval(o.TTL)
	}
	if o.Retry == 0 {
		o.Retry = retryOf(o.Interval)
	}
	if o.Margin == 0 {
		o.Margin = o.TTL / 10
	}
	return o
}

// timed is a lock that provides its clock to a Watchdog, and how long a grant is valid after the sending of its
// request.
type timed interface {
	timing() (Clock, time.Duration)
}

func (e *core) timing() (Clock, time.Duration) { return e.opt.Clock, e.opt.TTL }

func (l *Single) timing() (Clock, time.Duration)   { return l.engine.timing() }
func (l *Fenced) timing() (Clock, time.Duration)   { return l.engine.timing() }
func (l reentrant) timing() (Clock, time.Duration) { return l.engine.timing() }
func (l fair) timing() (Clock, time.Duration)      { return l.engine.timing() }

func (q *quorum) timing() (Clock, time.Duration)        { return q.opt.Clock, q.validity() }
func (l *Redlock) timing() (Clock, time.Duration)       { return l.quorum.timing() }
func (l *RedlockFenced) timing() (Clock, time.Duration) { return l.quorum.timing() }
