package lock

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"
)

// Options configure a lock. The zero value is ready for use.
type Options struct {
	// TTL is how long a lease lasts unless it is released. It is a whole number of milliseconds, the
	// unit in which Redis expires keys: a fraction would be cut off unseen (F48). 0 means [DefaultTTL].
	TTL time.Duration

	// Backoff is the range of delays between two tries for a lock that is held.
	Backoff Backoff

	// Waiting is how an Acquire waits between two tries. The zero value is [WaitPoll].
	Waiting Waiting

	// ReleaseTimeout bounds a release and the clean-up after a failed Acquire, both of which go on when
	// the caller's context has ended (F29). 0 means [DefaultReleaseTimeout]. It takes effect on requests
	// in flight only with the client's ContextTimeoutEnabled.
	ReleaseTimeout time.Duration

	// KeyPrefix starts every key of the lock. Locks with the same prefix on the same Redis exclude each
	// other, whatever their kind. It holds no braces. "" means [DefaultKeyPrefix].
	KeyPrefix string

	// Clock is the source of time. nil means the machine's clock.
	Clock Clock

	// Entropy is the source of owner ids, 16 bytes for each Acquire; with two equal ids one holder could release the
	// other's lock (F31). nil means crypto/rand.
	Entropy io.Reader

	// Jitter is the source of the random delays of Backoff. nil means the lock's own generator, seeded with 16 bytes of
	// Entropy when the lock is created.
	//
	// Entropy and Jitter need not be safe for concurrent use: the lock uses a mutex.
	Jitter rand.Source
}

// Validate returns an error that names every invalid field, or nil. Every constructor of a lock calls it.
func (o Options) Validate() error {
	var errs []error
	switch {
	case o.TTL < 0:
		errs = append(errs, fmt.Errorf("TTL %v is negative", o.TTL))
	case o.TTL%time.Millisecond != 0:
		errs = append(errs, fmt.Errorf("TTL %v is not a whole number of milliseconds, the unit of Redis: use %v or more",
			o.TTL, o.TTL.Truncate(time.Millisecond)+time.Millisecond))
	}
	if o.ReleaseTimeout < 0 {
		errs = append(errs, fmt.Errorf("ReleaseTimeout %v is negative", o.ReleaseTimeout))
	}
	if strings.ContainsAny(o.KeyPrefix, "{}") {
		errs = append(errs, fmt.Errorf("KeyPrefix %q holds a brace: braces mark the part of a key that chooses its cluster slot",
			o.KeyPrefix))
	}
	return errors.Join(append(errs, o.Backoff.validate(), o.Waiting.validate())...)
}

// withDefaults returns valid options with every zero field filled in, except Jitter.
func (o Options) withDefaults() Options {
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	if o.ReleaseTimeout == 0 {
		o.ReleaseTimeout = DefaultReleaseTimeout
	}
	if o.KeyPrefix == "" {
		o.KeyPrefix = DefaultKeyPrefix
	}
	if o.Clock == nil {
		o.Clock = defaultClock()
	}
	if o.Entropy == nil {
		o.Entropy = defaultEntropy()
	}
	o.Backoff = o.Backoff.withDefaults()
	return o
}
