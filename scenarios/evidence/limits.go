package evidence

import (
	"cmp"
	"time"

	"locksim/lock/promise"
	"locksim/scenarios/file"
)

// limits are how long what a lock does may take in a scenario.
type limits struct {
	sc     *file.Scenario
	terms  Terms
	learnt bool // the keys of the lock were learnt
}

// Retry is the longest time between two attempts that is allowed to a lock whose
// backoff is not known.
const Retry = 2 * time.Second

// searching is how long go-redis waits for a Sentinel: its ReadTimeout and its DialTimeout.
const searching = 8 * time.Second

// pausing is how long a client of the servers may pause after trouble before it sends a request again: a stock one has
// the default MaxRetryBackoff of go-redis, as one of a Redis Cluster, and a quiet one sends it once.
func (l limits) pausing() time.Duration {
	if l.terms.Watched { // an answer of a Sentinel that does not come: the read and the dial have time limits of their own
		return searching
	}
	if l.resends() {
		return 512 * time.Millisecond
	}
	return 0
}

// resends says that a client sends a request again by itself where no answer comes. That of a Redis Cluster does, also
// a quiet one: to follow MOVED it has retries, which are also for errors of the network.
func (l limits) resends() bool { return l.sc.Lock.Client == file.ClientStock || l.terms.Sharded }

// returnsWithin is how soon a call returns by the promise of the lock if no server answers, and an Acquire after the
// end of its context. 0 is for a lock that does not promise it.
func (l limits) returnsWithin() time.Duration {
	return ReturnsWithin(l.sc, l.terms.Promise)
}

// ReturnsWithin is how soon a call returns in a scenario by the promise of a lock; 0 for one that does not promise it.
func ReturnsWithin(sc *file.Scenario, p promise.Promise) time.Duration {
	return p.ReturnsWithin.Length(sc.Lock.TTL, sc.Lock.Backoff.Max)
}

// trips is how long the requests of one call take at most on a whole network: it
// connects, sends a script that the server does not have, and cleans up.
func (l limits) trips() time.Duration {
	return 2*l.messages()*l.sc.World.Latency.Max + 10*time.Millisecond
}

// messages are those of a call of the lock. The stock client sends two more when it connects, to say what it is. That
// of a Redis Cluster asks for the map first, on a connection of its own, and follows a redirection.
func (l limits) messages() time.Duration {
	n := time.Duration(cmp.Or(l.terms.Messages, 8))
	if l.sc.Lock.Client == file.ClientStock {
		n += 2
	}
	if l.terms.Sharded {
		n += 8
	}
	return n
}

// prompt says that no time limit of a request ends before its answer: not that of a watchdog nor, where a quorum is
// asked, that of a Redlock.
func (l limits) prompt() bool {
	limit := promise.RenewalRetry(l.sc.Lock.TTL)
	if l.byQuorum() {
		limit = min(limit, promise.NodeTimeout(l.sc.Lock.TTL))
	}
	return l.trips() <= limit
}

// byQuorum says that the lock asks a majority of nodes, of which there may be one.
func (l limits) byQuorum() bool { return l.terms.Quorum || l.terms.Voters > 1 }

// grace is how long a lock that is free may take until a client has it: the
// longest time between two attempts, what it sends and receives, and what it needs to
// be sure.
func (l limits) grace() time.Duration {
	backoff := l.sc.Lock.Backoff.Max
	if !l.terms.FollowsSpec {
		backoff = max(backoff, Retry)
	}
	if l.terms.Settles > 0 { // a request goes to the leader, and from there to a majority; watches are served in rounds
		return l.terms.GrantTime + backoff + 40*l.sc.World.Latency.Max + 500*time.Millisecond
	}
	trips := l.messages() * l.sc.World.Latency.Max
	if l.terms.Messages == 0 && l.learnt { // it may ask in more steps than those that say how many they take
		trips *= 2
	}
	return l.terms.GrantTime + backoff + trips + l.sc.World.Lag.Max
}

// freeWithin says how soon the lock is free again after each cause, by its promise.
// What it does not promise may take as long as a key lives, after every cause but
// CauseOther. That one may take as long too on several servers, where clients that ask at
// the same time may split the votes and ask again (F25), and for a lock whose backoff is
// not known.
func (l limits) freeWithin() map[promise.Cause]time.Duration {
	promised := l.terms.Promise
	out := map[promise.Cause]time.Duration{}
	for _, c := range promise.Causes() {
		term, ok := promised.FreeAfter[c]
		if c == promise.CauseExpiry && l.sc.Workload.Extend > 0 { // an extension of unknown outcome may have renewed the key
			ok = false
		}
		if !ok && (c != promise.CauseOther || l.terms.Voters > 1 || !l.terms.FollowsSpec) {
			term = cmp.Or(promised.FreeWithin, promise.TermTTL)
		}
		out[c] = l.length(term)
	}
	return out
}

// leaderless is how long the lock may have no leader after each cause, by its promise: as long as it may not be free.
// 0 is for a lock that promises nothing about that.
func (l limits) leaderless() time.Duration {
	if l.terms.Promise.FreeWithin == promise.TermAnyTime {
		return 0
	}
	return l.length(cmp.Or(l.terms.Promise.FreeWithin, promise.TermTTL))
}

// length is the length of a term in this run, without the grace.
func (l limits) length(t promise.Term) time.Duration {
	return t.Length(l.sc.Lock.TTL, l.sc.Lock.Backoff.Max)
}

// alone is how long a client may wait for a lock that was released and that no other client asks for: its first try is
// granted. A quarter of a lease is allowed besides, far more than a client needs before it asks. It is not known where
// votes may split.
func (l limits) alone() time.Duration {
	kept := l.terms.Promise.FreeAfter[promise.CauseOther]
	if l.terms.Voters > 1 || kept == promise.TermAnyTime || l.terms.Promise.FreeWithin == promise.TermAnyTime {
		return 0
	}
	within := l.terms.GrantTime + l.length(kept) + max(2*l.trips(), l.sc.Lock.TTL/4)
	if l.terms.Settles > 0 {
		within += 40*l.sc.World.Latency.Max + 500*time.Millisecond
	}
	return within
}
