package broken

import (
	"errors"

	"locksim/lock"
)

// Options configure a specimen. Clock, Entropy and Jitter are required: they are the only sources of time and
// randomness.
type Options struct {
	// Options are those of every lock. Waiting is ignored: a specimen polls.
	lock.Options

	// Wall is the machine's wall clock, which jumps when it is set, for the specimens that measure by it. nil means
	// Clock.
	Wall lock.Clock

	// Point, if it is not nil, is called where a fault can be applied although no time passes there. Labels are
	// lower-case words such as "locked".
	Point func(label string)
}

// Validate returns an error that names every invalid field, or nil.
func (o Options) Validate() error {
	errs := []error{o.Options.Validate()}
	if o.Clock == nil {
		errs = append(errs, errors.New("no Clock: give the process's"))
	}
	if o.Entropy == nil {
		errs = append(errs, errors.New("no Entropy: give the process's"))
	}
	if o.Jitter == nil {
		errs = append(errs, errors.New("no Jitter: give a seeded source"))
	}
	return errors.Join(errs...)
}

// withDefaults returns valid options with every zero field set to its default.
func (o Options) withDefaults() Options {
	if o.TTL == 0 {
		o.TTL = lock.DefaultTTL
	}
	if o.ReleaseTimeout == 0 {
		o.ReleaseTimeout = lock.DefaultReleaseTimeout
	}
	if o.KeyPrefix == "" {
		o.KeyPrefix = lock.DefaultKeyPrefix
	}
	if o.Backoff.Max == 0 {
		o.Backoff.Max = max(o.Backoff.Min, lock.DefaultBackoffMax)
	}
	if o.Backoff.Min == 0 {
		o.Backoff.Min = min(o.Backoff.Max, lock.DefaultBackoffMin)
	}
	if o.Wall == nil {
		o.Wall = o.Clock
	}
	if o.Point == nil {
		o.Point = func(string) {}
	}
	return o
}
