package broken

import (
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// Specimen is one mistake, and the lock that makes it.
type Specimen struct {
	mistake.Mistake

	build func(nodes []redis.Cmdable, o Options) lock.Locker
}

// New creates the lock of one client on Nodes nodes, or returns an error that says what is missing.
func (s Specimen) New(nodes []redis.Cmdable, o Options) (lock.Locker, error) {
	if len(nodes) != s.Nodes && (s.Nodes == 1 || len(nodes) == 0) {
		return nil, fmt.Errorf("make broken/%s: %d clients, one for each of %d nodes is needed", s.Name, len(nodes), s.Nodes)
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make broken/%s: %w", s.Name, err)
	}
	return s.build(nodes, o.withDefaults()), nil
}

// Keys returns the keys that must not exist after the lock on a resource has been released, on each node, with the
// default prefix. It is nil for a lock whose key contains its end and has no TTL: the existence of such a key has no
// meaning.
func (s Specimen) Keys(resource string) []string {
	if s.Endless {
		return nil
	}
	return []string{lock.DefaultKeyPrefix + "{" + resource + "}"}
}

// All returns every specimen, in the order of the catalogue's list.
func All() []Specimen {
	return []Specimen{
		setnxThenExpire, delWithoutOwner, tryThenUnlock, getThenDel,
		watchdogBareExpire, watchdogRecreatesKey, watchdogStopLost, watchdogStopsAfterError, watchdogIgnoresFailure,
		sessionNeverTells,
		renewalsTimeOut, candidateSettles, extendForgetsOwner,
		expireWholeSeconds, ttlFromDeadline, expiryByClientClock,
		tokenAfterLock, tokenBeforeLock, tokenReadLate, tokenPerReentry,
		reentrantTwoKeys, ownerPrefix, namesCollide,
		untilInWrongUnit, fairPlaceTooShort, queueOfTen, wedgedAfterRelease,
		quorumOfHalf, redlockOneByOne, redlockNoDrift, redlockKeepsMinority, redlockWallClock,
		releaseWithRequestContext, leaseEndsWithTheWait, releaseSentOnce,
		rowByClientClock, rowUpdateUnchecked,
	}
}

// Find returns the specimen of that name, or an error that lists them all.
func Find(name string) (Specimen, error) {
	if _, err := mistake.Find(name); err != nil {
		return Specimen{}, err
	}
	all := All()
	return all[slices.IndexFunc(all, func(s Specimen) bool { return s.Name == name })], nil
}

// Options configure a specimen. Clock, Entropy and Jitter are required: they are the only sources of time and
// randomness.
type Options struct {
	// Options are those of every lock. Waiting is ignored: a specimen polls.
	lock.Options

	// Identity is the owner id of the client, for the specimens that have one for all requests. It is required: no two
	// clients may have the same.
	Identity string

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
	if o.Identity == "" {
		errs = append(errs, errors.New("no Identity: give each client its own"))
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
