package broken

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/promise"
)

// Specimen is one mistake, with its properties.
type Specimen struct {
	// Name is the name of its file, with hyphens: del-without-owner is in del_without_owner.go.
	Name string
	// ID is its entry in the catalogue of failure modes, such as F02.
	ID string
	// Wrong says in one sentence what is wrong.
	Wrong string
	// Fault is the class of what has to go wrong in the world for the mistake to show. Empty means that
	// contention is enough, or what the caller does.
	Fault lock.Fault
	// MinTTL and MaxTTL are the range of TTLs with which it shows.
	MinTTL, MaxTTL time.Duration
	// Detector is the detector that must see it.
	Detector Detector
	// Mode is the fencing mode in which Detector sees it: "none", "check" or "seal".
	Mode string
	// Nodes is the number of Redis nodes that it needs.
	Nodes int
	// Tokens says that its leases carry fencing tokens.
	Tokens bool
	// Queue says that its waiters queue, in order, in a key with the suffix :queue.
	Queue bool
	// Detection is how long its holder may take to learn of a loss while it runs and reaches the nodes, for a lock that
	// is held until its holder is told. 0 means that a lease has an end that the holder knows.
	Detection time.Duration
	// Duties are what its calls are meant to do, and one of them does not: see [lock.Promise].
	Duties []promise.Duty

	endless bool // its keys have no TTL
	build   func(nodes []redis.Cmdable, o Options) lock.Locker
}

// Detector is what must see a mistake. All but LongestWait are facts of a verdict, by the names that
// they have there.
type Detector string

// The detectors.
const (
	// ClaimOverlaps sees two clients with overlapping claims on the resource.
	ClaimOverlaps Detector = "claim_overlaps"
	// Corrupted sees an acknowledged write that was lost.
	Corrupted Detector = "corrupted"
	// FalseRejects sees a rightful holder that the fence refused.
	FalseRejects Detector = "false_rejects"
	// Stuck sees a lock that can no longer be acquired.
	Stuck Detector = "stuck"
	// Leaked sees a key that outlives the release, or the failed acquire, that should have removed it.
	Leaked Detector = "leaked"
	// VoidGrants sees a lease that is over although nothing has gone wrong.
	VoidGrants Detector = "void_grants"
	// Overtaken sees a waiter that another one overtakes.
	Overtaken Detector = "overtaken"
	// Denied sees a client that is refused a lock that is free although nothing has gone wrong.
	Denied Detector = "denied"
	// Overdue sees a waiting client that does not get a lock although it is free.
	Overdue Detector = "overdue"
	// RevivedClaims sees a lease that goes on after it had ended and another client has been granted the lock.
	RevivedClaims Detector = "revived_claims"
	// Misconduct sees a call that does not end as the lock promises.
	Misconduct Detector = "misconduct"
	// LongestWait sees a client that waits far longer than the holders before it explain.
	LongestWait Detector = "longest_wait"
)

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
	if s.endless {
		return nil
	}
	return []string{lock.DefaultKeyPrefix + "{" + resource + "}"}
}

// All returns every specimen, in the order of the catalogue's list.
func All() []Specimen {
	return []Specimen{
		setnxThenExpire, delWithoutOwner, tryThenUnlock, getThenDel,
		watchdogBareExpire, watchdogRecreatesKey, watchdogStopLost, watchdogStopsAfterError, watchdogIgnoresFailure, sessionNeverTells,
		extendForgetsOwner,
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
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
		if s.Name == name {
			return s, nil
		}
	}
	slices.Sort(names)
	return Specimen{}, fmt.Errorf("there is no broken lock %q: there are %s", name, strings.Join(names, ", "))
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
