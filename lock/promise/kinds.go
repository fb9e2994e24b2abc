package promise

import (
	"cmp"
	"slices"
)

// Promise is what a kind of lock promises. What is not listed is not promised: it may hold all the same.
//
// It is data that a harness can judge the lock by. The faults are named in words, since this package
// knows no harness.
type Promise struct {
	// Exclusion lists the faults under which no two claims on one resource overlap. A claim lasts from
	// Acquire's return until Release is called, Lost is closed, or Until has passed on the holder's clock.
	Exclusion []Fault `json:"exclusion" jsonschema:"nullable"`

	// Data is the fencing mode under which the data stays right under those faults, provided that every
	// operation goes through the fence and that a section writes once: fencing is not atomicity (F73).
	// "seal" is for a lock that mints tokens, and refuses no rightful holder. "claim" is for one that does
	// not, and may refuse one: the read of a client whose lease is over takes the claim away. Without a
	// fence no lock with a lease promises anything about data (F11 to F14).
	Data string `json:"data"`

	// Unlocked says that there is no lock: any number of clients are in at once, and the store refuses a write that would
	// undo another one. Exclusion then lists the faults under which the data stays right in the mode Data, and no claims
	// have to exclude each other.
	Unlocked bool `json:"unlocked,omitempty"`

	// TokensUnordered says that a grant may have the token of an earlier one, or a lower one. Without it a lock that mints
	// tokens promises that each grant has a higher one than those before it, under those faults.
	TokensUnordered bool `json:"tokens_unordered,omitempty"`

	// FreeWithin says how soon after its last holder has gone the lock can be had again by a client that asks for it
	// on a whole network, whatever the cause. After a release that succeeded it can be had at once.
	FreeWithin Term `json:"free_within"`

	// Order is the order in which the lock is granted to those who wait for it. It is empty where the lock promises none.
	Order Order `json:"order,omitempty"`

	// FreeAfter says it for single causes, in place of FreeWithin.
	FreeAfter map[Cause]Term `json:"free_after,omitempty"`

	// SelfExcludes says that the lock lives with this: a request that was not granted leaves its key behind, and that
	// keeps its own client out when it asks again, although nothing kept it from cleaning up. Without it that is a
	// violation.
	SelfExcludes bool `json:"self_excludes,omitempty"`

	// ResendExcludes says that the lock lives with this where its client sends a request again by itself when the reply is
	// lost, as go-redis does unless its MaxRetries is -1 (F27): the second request finds the key of the first, and takes
	// it for another client's.
	ResendExcludes bool `json:"resend_excludes,omitempty"`

	// ReturnsWithin says how soon a Release returns if no server answers, and an Acquire after the deadline of its
	// context. It is promised with DutyReturns, for clients whose requests end with the deadlines of their contexts.
	ReturnsWithin Term `json:"returns_within,omitempty"`

	// Duties list what the calls of the lock do, besides. A library whose Release has no result, or that gives up after
	// some tries, does not have all of them.
	Duties []Duty `json:"duties" jsonschema:"nullable"`
}

// commonFaults are the faults under which every lock with a lease on one correct node keeps exclusion. The node
// executes each request once, in its own order and by its own clock, and a holder counts its lease from before the
// request: a message that is late, repeated or lost can end a claim early, but cannot begin a second one.
func commonFaults() []Fault {
	return []Fault{
		Pause, Crash, Power, Restart, Slow, Pool, Partition, Latency, Reset,
		Stall, ReadOnly, Scripts, WallClock,
	}
}

// notRenewed is about a lease that ended: nothing renews it, so its key ends with it, but for the drift of clocks. The
// lease of a watchdog ends when a renewal was not answered in time; that renewal may have succeeded. The lease of a
// reentrant lock may end after an inner entry, which has renewed the key and not the lease.
func notRenewed() map[Cause]Term {
	return map[Cause]Term{CauseExpiry: TermDrift}
}

// OfLease is the promise to start from for a lock with a lease on one server: a key with a TTL, or a row with an end.
// Claims exclude each other under the usual faults, the data is right behind the fence claim, the lock is free within
// its TTL whatever happens to a client, and its calls do what every lock can do. Take away what your lock does not
// promise. The caller owns the slices.
func OfLease() Promise {
	return Promise{Exclusion: commonFaults(), Data: "claim", FreeWithin: TermTTL, Duties: plainDuties()}
}

// OfSession is the promise to start from for a lock that lives as long as its session, such as an advisory lock of a
// database: it is held until it is released or the connection ends. It has the faults of clients, of the network and of
// the pool, and none of the server, whose crash ends every session (F17). It has no [Power]: a machine that loses its
// power closes no connection, and the lock stays taken until the server's TCP keepalive, hours by default, or a timeout
// for idle sessions ends it. Add Power if the server has one of them. The caller owns the slices.
func OfSession() Promise {
	p := OfLease()
	p.Exclusion = slices.DeleteFunc(p.Exclusion, func(f Fault) bool {
		return f == Power || f == ReadOnly || f == Scripts ||
			f == WallClock
	})
	return p
}

// plainDuties are those that every lock can keep.
func plainDuties() []Duty {
	return []Duty{DutyReports, DutyKeeps}
}

// ourDuties are those of every lock of package lock, and more.
func ourDuties(more ...Duty) []Duty {
	return append([]Duty{DutyEnds, DutyWaits, DutyReports, DutyTells,
		DutyTries, DutyExplains, DutyKeeps, DutyReturns, DutySpares}, more...)
}

// Of returns the promise of a kind of lock of package lock, by its name in scenarios and reports. ok is false for
// an unknown kind.
//
// It has the duties that these kinds keep, which is more than [OfLease] has and a plain lock does: take it for a lock
// that is meant to replace one of them. A lock with the promise of "single" closes Lost when a lease ends (Lost of a
// scenarios.Grant, "tells"); its Acquire looks at its context after the grant too, and gives back what came too late
// ("ends"); the error of an Acquire whose context has ended wraps that of the context ("explains"); its TryAcquire, if
// it has one, does not wait ("tries"); and its calls return also if no server answers ("returns"). The fenced kinds
// need leases with tokens and Tokens of the scenarios.Lock besides, the watchdogs a lease that renews itself, the fair
// ones Queue, by which their order is judged, and the Redlocks several Redis servers.
//
// No kind on a single node promises anything when that node fails over, restarts, evicts or flushes its
// keys, or when its clock jumps (F17, F18, F40 to F46). A Redlock loses its majority to any of these on a
// single node, since another client may have the other half (F15, F24).
//
// A watchdog promises nothing about a worker that ends alone: it renews for a running process, so the lock is held
// until that process ends or MaxHold is over (F36).
func Of(kind string) (p Promise, ok bool) {
	oneNode := func(p Promise, more ...Duty) (Promise, bool) {
		p.FreeWithin, p.ReturnsWithin = cmp.Or(p.FreeWithin, TermTTL), TermReleaseTimeout
		p.ResendExcludes = kind != "reentrant" && kind != "reentrant-fenced" // these know their own entries
		p.Duties = ourDuties(append(more, DutyWakes)...)
		return p, true
	}
	quorum := func(p Promise, more ...Duty) (Promise, bool) {
		p.Data, p.FreeWithin, p.ReturnsWithin, p.ResendExcludes = "claim", TermTTL, TermNodeTimeouts, true
		p.Duties = ourDuties(more...)
		return p, true
	}
	switch kind {
	case "single":
		return oneNode(Promise{Exclusion: append(commonFaults(), Worker), Data: "claim", FreeAfter: notRenewed()})
	case "reentrant":
		return oneNode(Promise{Exclusion: append(commonFaults(), Worker), Data: "claim"})
	case "watchdog":
		return oneNode(Promise{Exclusion: commonFaults(), Data: "claim"}, DutyRenews)
	case "fenced":
		return oneNode(Promise{Exclusion: append(commonFaults(), Worker), Data: "seal", FreeAfter: notRenewed()})
	case "reentrant-fenced":
		return oneNode(Promise{Exclusion: append(commonFaults(), Worker), Data: "seal"})
	case "watchdog-fenced":
		return oneNode(Promise{Exclusion: commonFaults(), Data: "seal"}, DutyRenews)
	case "fair":
		return oneNode(Promise{Exclusion: append(commonFaults(), Worker), Data: "claim", FreeWithin: TermTTLAndWaiter,
			FreeAfter: notRenewed(), Order: FIFO})
	case "fair-fenced":
		return oneNode(Promise{Exclusion: append(commonFaults(), Worker), Data: "seal", FreeWithin: TermTTLAndWaiter,
			FreeAfter: notRenewed(), Order: FIFO})
	case "redlock", "redlock-fenced":
		// The tokens of the fenced one are an experiment: no promise about them, see [locksim/lock.NewRedlockFenced].
		return quorum(Promise{Exclusion: append(commonFaults(), Worker, ClockDrift), FreeAfter: notRenewed(),
			TokensUnordered: kind == "redlock-fenced"})
	case "redlock-watchdog":
		return quorum(Promise{Exclusion: append(commonFaults(), ClockDrift)}, DutyRenews)
	}
	return Promise{}, false
}
