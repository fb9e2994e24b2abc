// Package mistake has the facts about each of the locks of package [locksim/lock/broken], as data: what is wrong, under
// which faults it shows, and which detector must see it. It compiles no client.
package mistake

import (
	"time"

	"locksim/lock/promise"
)

// Mistake is one mistake, with its properties.
type Mistake struct {
	// Name is the name of its file, with hyphens: del-without-owner is in del_without_owner.go.
	Name string
	// ID is its entry in the catalogue of failure modes, such as F02.
	ID string
	// Wrong says in one sentence what is wrong.
	Wrong string
	// Fault is the class of what has to go wrong in the world for the mistake to show. Empty means that
	// contention is enough, or what the caller does.
	Fault promise.Fault
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
	// Leads says that it shows where the lock elects leaders, who hold it for far longer than a section lasts.
	Leads bool
	// Detection is how long its holder may take to learn of a loss while it runs and reaches the nodes, for a lock that
	// is held until its holder is told. 0 means that a lease has an end that the holder knows.
	Detection time.Duration
	// Duties are what its calls are meant to do, and one of them does not: see [promise.Promise].
	Duties []promise.Duty
	// Endless says that its keys have no TTL.
	Endless bool
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
	// LeaderlessOverdue sees a time without a leader that is longer than the lock may stay taken.
	LeaderlessOverdue Detector = "leaderless_overdue"
	// RevivedClaims sees a lease that goes on after it had ended and another client has been granted the lock.
	RevivedClaims Detector = "revived_claims"
	// Misconduct sees a call that does not end as the lock promises.
	Misconduct Detector = "misconduct"
	// LongestWait sees a client that waits far longer than the holders before it explain.
	LongestWait Detector = "longest_wait"
)
