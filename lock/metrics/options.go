package metrics

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"locksim/lock"
)

// DefaultResources is the default of Options.Resources.
const DefaultResources = 4096

// Options configure a [Metrics]. Lock is required.
type Options struct {
	// Lock is the value of the label "lock": the purpose of the lock, such as "orders", not a resource. Two locks in
	// one registry have different names.
	Lock string

	// TTL is that of the lock, for the metric lock_ttl_seconds, and so for the alert on leases that are held for most
	// of it. 0 means no such metric and no such alert, which is right for a lock that renews its leases.
	TTL time.Duration

	// Clock is the source of time, and must be that of the lock. nil means the machine's clock.
	Clock lock.Clock

	// Resources is the number of resources whose last token is stored: at least that many, and up to twice as many, the
	// most recent ones. 0 means [DefaultResources].
	Resources int
}

// Validate returns an error that names every invalid field, or nil. [New] calls it.
func (o Options) Validate() error {
	var errs []error
	switch {
	case o.Lock == "":
		errs = append(errs, errors.New("no Lock: give the lock a name, which becomes the label of its metrics"))
	case !utf8.ValidString(o.Lock):
		errs = append(errs, fmt.Errorf("the name %q in Lock is not UTF-8, as a label has to be", o.Lock))
	}
	if o.TTL < 0 {
		errs = append(errs, fmt.Errorf("TTL %v is negative", o.TTL))
	}
	if o.Resources < 0 {
		errs = append(errs, fmt.Errorf("the number of Resources, %d, is negative", o.Resources))
	}
	return errors.Join(errs...)
}

// clock returns the source of time.
func (o Options) clock() clock {
	if o.Clock == nil {
		return machine{}
	}
	return o.Clock
}

// clock is the part of a lock.Clock that this package needs.
type clock interface{ Now() time.Time }

// machine is the machine's clock. Its readings are monotonic.
type machine struct{}

func (machine) Now() time.Time { return time.Now() }
