package promise

import (
	"math"
	"time"
)

// Order is an order of grants.
type Order string

// FIFO grants the lock in the order in which the waiters' first requests reached the node: a waiter whose entry in the
// queue was recorded before another called Acquire is granted the lock before it, unless the waiter crashed, gave up,
// or was silent for longer than its entry lives.
const FIFO Order = "fifo"

// Term is a duration in terms of a lock's options.
type Term string

// The terms of promises.
const (
	// TermTTL is the TTL, one longest backoff, and the round trips of one request.
	TermTTL Term = "ttl + backoff + round trip"
	// TermTTLAndWaiter adds the time after which a dead waiter at the head of the queue is skipped.
	TermTTLAndWaiter Term = "ttl + dead waiter + backoff + round trip"
	// TermTTLAndCluster adds three seconds, in which a cluster rounds the TTL up to whole seconds, agrees, and ends the
	// leases that are over.
	TermTTLAndCluster Term = "ttl + cluster + backoff + round trip"
	// TermSession is that of a session of ZooKeeper: the TTL, four seconds at least, and four more, in which the servers
	// report of whom they have heard, and the leader rounds the end up to a tick.
	TermSession Term = "session + ticks + backoff + round trip"
	// TermDrift is what clocks may drift apart within a TTL, one longest backoff, and the round trips of one request.
	TermDrift Term = "drift + backoff + round trip"
	// TermReleaseTimeout is [ReleaseTimeout]. It says how long a call may take: see Promise.ReturnsWithin.
	TermReleaseTimeout Term = "release timeout"
	// TermNodeTimeouts is four times [NodeTimeout], for Promise.ReturnsWithin too.
	TermNodeTimeouts Term = "four node timeouts"
	// TermAnyTime is no promise: the lock may be taken for ever.
	TermAnyTime Term = "any time"
)

// Terms lists the terms. The caller owns the slice.
func Terms() []Term {
	return []Term{TermTTL, TermTTLAndWaiter, TermTTLAndCluster, TermSession, TermDrift, TermReleaseTimeout,
		TermNodeTimeouts, TermAnyTime}
}

// Length is the term for a lock with this TTL, above 0, and this longest backoff, without the backoff and the round
// trips of a request that some terms name besides. It is more than 100 years for [TermAnyTime], and 0 for "".
func (t Term) Length(ttl, longestBackoff time.Duration) time.Duration {
	const cluster, session, ticks = 3 * time.Second, 4 * time.Second, 4 * time.Second
	drift := 2*ttl*DriftAllowance/1_000_000 + 10*time.Millisecond
	switch t {
	case TermDrift:
		return drift
	case TermReleaseTimeout:
		return ReleaseTimeout
	case TermNodeTimeouts:
		return NodeReleases * NodeTimeout(ttl)
	case TermAnyTime:
		return 1 << 62
	case TermTTL:
		return ttl + drift
	case TermTTLAndCluster:
		return ttl + cluster + drift
	case TermSession:
		return max(ttl, session) + ticks + drift
	case TermTTLAndWaiter:
		return ttl + PlaceLasts(ttl, longestBackoff) + drift
	}
	return 0
}

// The limits of the locks of package lock on which their promises rest.
const (
	// ReleaseTimeout is how long a release, and a clean-up, goes on after the caller's context has ended (F29), unless the
	// options of the lock say otherwise. It is a fraction of a usual TTL: after the TTL a release has no effect.
	ReleaseTimeout = 2 * time.Second
	// NodeReleases is how many node timeouts the release timeout of a node of a Redlock is.
	NodeReleases = 4
	// PlaceRequests is the least number of requests that a live waiter sends before its entry in a queue expires.
	PlaceRequests = 4
)

// NodeTimeout is how long a Redlock with this TTL waits for a node: a hundredth of the TTL, but at least 50 ms, which
// is barely enough for a round trip around the globe and ample within a continent, and at most a tenth of it.
func NodeTimeout(ttl time.Duration) time.Duration {
	return min(max(ttl/100, 50*time.Millisecond), ttl/10)
}

// RenewalRetry is how long after a renewal that failed a watchdog asks again by default: a twelfth of the TTL, since it
// renews every third of it and asks four times as often then.
func RenewalRetry(ttl time.Duration) time.Duration { return max(ttl/3/4, 1) }

// PlaceLasts is how long a place in the queue outlasts the last request of its waiter.
func PlaceLasts(ttl, longestBackoff time.Duration) time.Duration {
	return max(ttl, PlaceRequests*min(longestBackoff, math.MaxInt64/PlaceRequests))
}
