package sqllock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"sync"
	"time"

	"locksim/lock"
)

// Options configure the locks of this package. The zero value is ready for use.
type Options struct {
	// Dialect is the kind of the database. "" means [PostgreSQL].
	Dialect Dialect

	// TTL is how long a lease lasts after its request, or after its last renewal. It is a whole number of milliseconds,
	// and 10 at least; in MySQL a whole number of seconds, for a lock that a connection has. 0 means [lock.DefaultTTL].
	TTL time.Duration

	// Backoff is the range of the delays between two tries. Zero fields mean [lock.DefaultBackoffMin] and
	// [lock.DefaultBackoffMax].
	Backoff lock.Backoff

	// Tries is how often an [Optimistic] tries a change before it gives up. 0 means until the context ends: under load
	// some client may then try for long, since each write that counts fails those of all others.
	Tries int

	// Block lets a waiter of [ForUpdate], [Advisory] and [AdvisoryTransaction] wait in the database, where it is granted
	// the lock at once when that is free, in the order of requests as a rule. It needs a connection all the time. The
	// database ends the wait after a TTL, or a little before the deadline of the context: by lock_timeout, or for a row by
	// statement_timeout, which is at its default afterwards. After a TTL the waiter asks again, at the end of the queue.
	// If the context is cancelled before, the connection is closed: until the database has noticed, the waiter is still in
	// the queue. If the database does not answer for two TTLs, Acquire fails. A waiter whose machine has died may be
	// granted the lock, and keeps it for a TTL. Without Block a waiter asks again and again, with SKIP LOCKED and the
	// like, and keeps no connection in between.
	Block bool

	// ReleaseTimeout bounds a release and the clean-up after a failed Acquire, both of which go on when the caller's
	// context has ended (F29). 0 means [lock.DefaultReleaseTimeout].
	ReleaseTimeout time.Duration

	// Table is the name of the table of [Table] and [ForUpdate], with a schema before it if need be. Locks of different
	// kinds need different tables. "" means "locks".
	Table string

	// Prefix is put before the name of a resource in the key of an [Advisory] or [AdvisoryTransaction], which all use of
	// advisory locks in a database shares: see [AdvisoryKey].
	Prefix string

	// Context ends the connections of all leases of [ForUpdate], [Advisory] and [AdvisoryTransaction] when it ends, such
	// as that of a program that stops: a lease needs no release then. nil means one that does not end.
	Context context.Context //nolint:containedctx // it is that of the lock, not of a call

	// Clock is the source of time. nil means the machine's clock.
	Clock lock.Clock

	// Jitter is the source of the random delays. nil means one with a random seed.
	Jitter rand.Source

	// Entropy is the source of owner ids. nil means crypto/rand.
	Entropy io.Reader
}

// DefaultTable is the name of the table.
const DefaultTable = "locks"

// least is the smallest TTL.
const least = 10 * time.Millisecond

// plain is a name that needs no quotes, with a schema before it or without.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// Validate returns an error that names every invalid field, or nil. The constructors call it.
func (o Options) Validate() error {
	errs := []error{o.Dialect.validate()}
	switch {
	case o.TTL < 0 || o.TTL > 0 && o.TTL < least:
		errs = append(errs, fmt.Errorf("TTL %v is less than %v", o.TTL, least))
	case o.TTL%time.Millisecond != 0:
		errs = append(errs, fmt.Errorf("TTL %v is not a whole number of milliseconds, the unit of the database", o.TTL))
	}
	b := o.Backoff
	switch {
	case b.Min < 0 || b.Max < 0:
		errs = append(errs, fmt.Errorf("the Backoff %v to %v is negative", b.Min, b.Max))
	case b.Max != 0 && b.Min > b.Max:
		errs = append(errs, fmt.Errorf("Backoff.Min %v is above Backoff.Max %v", b.Min, b.Max))
	}
	if o.Tries < 0 {
		errs = append(errs, fmt.Errorf("the number of Tries %d is negative: give a number, or 0 for no limit", o.Tries))
	}
	if o.ReleaseTimeout < 0 {
		errs = append(errs, fmt.Errorf("ReleaseTimeout %v is negative", o.ReleaseTimeout))
	}
	if o.Table != "" && !plain.MatchString(o.Table) {
		errs = append(errs, fmt.Errorf("the Table %q is not a plain name, or two of them with a dot between", o.Table))
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	o.TTL = cmp.Or(o.TTL, lock.DefaultTTL)
	o.ReleaseTimeout = cmp.Or(o.ReleaseTimeout, lock.DefaultReleaseTimeout)
	o.Table = cmp.Or(o.Table, DefaultTable)
	if o.Backoff.Max == 0 {
		o.Backoff.Max = max(o.Backoff.Min, lock.DefaultBackoffMax)
	}
	if o.Backoff.Min == 0 {
		o.Backoff.Min = min(o.Backoff.Max, lock.DefaultBackoffMin)
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Clock == nil {
		o.Clock = lock.SystemClock()
	}
	if o.Jitter == nil {
		o.Jitter = defaultJitter()
	}
	if o.Entropy == nil {
		o.Entropy = defaultEntropy()
	}
	return o
}

// watchdog are the options of the renewals of a lock that a connection has.
func (o Options) watchdog() lock.WatchdogOptions {
	return lock.WatchdogOptions{TTL: o.TTL, Clock: o.Clock}
}

// dice draws the delays between tries. It is safe for concurrent use.
type dice struct {
	mu   sync.Mutex
	rand *rand.Rand
}

// delay draws the delay before the nth retry, n from 1: see [lock.Backoff].
func (d *dice) delay(b lock.Backoff, n int) time.Duration {
	ceiling := b.Min
	for range n {
		ceiling = min(b.Max, 2*ceiling)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return b.Min + time.Duration(d.rand.Int64N(int64(ceiling-b.Min)+1))
}
