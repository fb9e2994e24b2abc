package evidence

import (
	"cmp"
	"slices"
	"time"

	"locksim/lock/promise"
	"locksim/scenarios/file"
)

// LeaseForm says how the end of a lease is known.
type LeaseForm string

// The forms. The empty one counts as LeaseUntil.
const (
	// LeaseUntil is a lease whose Until is its end, on the holder's clock.
	LeaseUntil LeaseForm = "until"
	// LeaseCounted is a lease that does not tell its end, and that lasts for its TTL from the call of Acquire.
	LeaseCounted LeaseForm = "counted"
	// LeaseHeld is a lease without an end: its holder has the lock until it releases it or is told of its loss.
	LeaseHeld LeaseForm = "held"
)

// Terms are what a lock is judged by: its promise, and what is known of it. They are data: a stored run has them too.
type Terms struct {
	Promise promise.Promise `json:"promise"`
	Lease   LeaseForm       `json:"lease,omitempty"`
	// Detection is how long a holder of a lease that is held may take to learn of a loss; 0 is the TTL of the scenario.
	Detection time.Duration `json:"detection,omitempty"`
	// Named says that the errors are known with which it says that it is taken.
	Named bool `json:"taken_named,omitempty"`
	// Nodes is the number of servers that it needs, Voters that of those that grant it independently of each other: a
	// cluster is one. Quorum says that it asks a majority, also where there is one.
	Nodes  int  `json:"nodes"`
	Voters int  `json:"voters"`
	Quorum bool `json:"quorum,omitempty"`
	// Replicas is how many replicas it needs to be granted at all. Watched says that some servers watch others, and replace a
	// primary that does not answer.
	Replicas int  `json:"replicas,omitempty"`
	Watched  bool `json:"watched,omitempty"`
	// Settles is how long its servers take to serve again after trouble of one of them, where they form a cluster. Leaders
	// are the names of whichever of them leads.
	Settles time.Duration `json:"settles,omitempty"`
	Leaders []string      `json:"leaders,omitempty"`
	// Late is how long an answer that has arrived may be kept from the code of the lock.
	Late time.Duration `json:"late,omitempty"`
	// FollowsSpec says that TTL and backoff are those of the scenario. Pause is the pause between two tries, for a lock with
	// a backoff of its own that says it.
	FollowsSpec bool          `json:"follows_spec,omitempty"`
	Pause       time.Duration `json:"pause,omitempty"`
	// Messages is how many messages a client needs to a grant, 0 for a lock that does not say it; GrantTime what an Acquire
	// takes besides.
	Messages  int           `json:"messages,omitempty"`
	GrantTime time.Duration `json:"grant_time,omitempty"`
	// Section says that it has a section of its own, which writes the registers of Writes.
	Section bool     `json:"section,omitempty"`
	Writes  []string `json:"writes,omitempty"`
}

// Retry is the longest time between two attempts that is allowed to a lock whose
// backoff is not known.
const Retry = 2 * time.Second

// reading is one reading of a record. It modifies nothing of it.
type reading struct {
	*Record
	sc    *file.Scenario
	terms Terms
}

// searching is how long go-redis waits for a Sentinel: its ReadTimeout and its DialTimeout.
const searching = 8 * time.Second

// pausing is how long a client of the servers may pause after trouble before it sends a request again: a stock one has
// the default MaxRetryBackoff of go-redis, and a quiet one sends it once.
func (r reading) pausing() time.Duration {
	if r.terms.Watched { // an answer of a Sentinel that does not come: the read and the dial have time limits of their own
		return searching
	}
	if r.sc.Lock.Client == file.ClientStock {
		return 512 * time.Millisecond
	}
	return 0
}

// returnsWithin is how soon a call returns by the promise of the lock if no server answers, and an Acquire after the
// end of its context. 0 is for a lock that does not promise it.
func (r reading) returnsWithin() time.Duration {
	return ReturnsWithin(r.sc, r.terms.Promise)
}

// ReturnsWithin is how soon a call returns in a scenario by the promise of a lock; 0 for one that does not promise it.
func ReturnsWithin(sc *file.Scenario, p promise.Promise) time.Duration {
	return p.ReturnsWithin.Length(sc.Lock.TTL, sc.Lock.Backoff.Max)
}

// trips is how long the requests of one call take at most on a whole network: it
// connects, sends a script that the server does not have, and cleans up.
func (r reading) trips() time.Duration {
	return 2*r.messages()*r.sc.World.Latency.Max + 10*time.Millisecond
}

// messages are those of a call of the lock. The stock client sends two more when it connects, to say what it is.
func (r reading) messages() time.Duration {
	n := time.Duration(cmp.Or(r.terms.Messages, 8))
	if r.sc.Lock.Client == file.ClientStock {
		n += 2
	}
	return n
}

// prompt says that no time limit of a request ends before its answer: not that of a watchdog nor, where a quorum is
// asked, that of a Redlock.
func (r reading) prompt() bool {
	limit := promise.RenewalRetry(r.sc.Lock.TTL)
	if r.byQuorum() {
		limit = min(limit, promise.NodeTimeout(r.sc.Lock.TTL))
	}
	return r.trips() <= limit
}

// byQuorum says that the lock asks a majority of nodes, of which there may be one.
func (r reading) byQuorum() bool { return r.terms.Quorum || r.terms.Voters > 1 }

// grace is how long a lock that is free may take until a client has it: the
// longest time between two attempts, what it sends and receives, and what it needs to
// be sure.
func (r reading) grace() time.Duration {
	backoff := r.sc.Lock.Backoff.Max
	if !r.terms.FollowsSpec {
		backoff = max(backoff, Retry)
	}
	if r.terms.Settles > 0 { // a request goes to the leader, and from there to a majority; watches are served in rounds
		return r.terms.GrantTime + backoff + 40*r.sc.World.Latency.Max + 500*time.Millisecond
	}
	trips := r.messages() * r.sc.World.Latency.Max
	if r.terms.Messages == 0 && r.Learnt { // it may ask in more steps than those that say how many they take
		trips *= 2
	}
	return r.terms.GrantTime + backoff + trips + r.sc.World.Lag.Max
}

// freeWithin says how soon the lock is free again after each cause, by its promise.
// What it does not promise may take as long as a key lives, after every cause but
// CauseOther. That one may take as long too on several servers, where clients that ask at
// the same time may split the votes and ask again (F25), and for a lock whose backoff is
// not known.
func (r reading) freeWithin() map[promise.Cause]time.Duration {
	promised := r.terms.Promise
	out := map[promise.Cause]time.Duration{}
	for _, c := range promise.Causes() {
		term, ok := promised.FreeAfter[c]
		if c == promise.CauseExpiry && r.sc.Workload.Extend > 0 { // an extension of unknown outcome may have renewed the key
			ok = false
		}
		if !ok && (c != promise.CauseOther || r.terms.Voters > 1 || !r.terms.FollowsSpec) {
			term = cmp.Or(promised.FreeWithin, promise.TermTTL)
		}
		out[c] = r.length(term)
	}
	return out
}

// leaderless is how long the lock may have no leader after each cause, by its promise: as long as it may not be free. 0 is
// for a lock that promises nothing about that.
func (r reading) leaderless() time.Duration {
	if r.terms.Promise.FreeWithin == promise.TermAnyTime {
		return 0
	}
	return r.length(cmp.Or(r.terms.Promise.FreeWithin, promise.TermTTL))
}

// length is the length of a term in this run, without the grace.
func (r reading) length(t promise.Term) time.Duration {
	return t.Length(r.sc.Lock.TTL, r.sc.Lock.Backoff.Max)
}

// has reports whether the lock promises a duty.
func (r reading) has(d promise.Duty) bool { return slices.Contains(r.terms.Promise.Duties, d) }

// fills says that sections fill values, or run jobs: the lock has no section of its own.
func (r reading) fills() bool { return r.sc.Workload.Fills() && !r.terms.Section }

// leads says that sections are the terms of a leader: the lock has no section of its own.
func (r reading) leads() bool { return r.sc.Workload.Leads() && !r.terms.Section }

// looks says that sections may check their lease by a step of their own.
func (r reading) looks() bool {
	return r.terms.Section || slices.Contains(r.sc.Workload.Section, file.Step{Do: file.StepCheck})
}
