package mistake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/lock/promise"
)

// The mistakes, in the order of the catalogue's list. Each is explained where it is made, in package broken.
var (
	SetnxThenExpire = Mistake{
		Name: "setnx-then-expire", ID: "F01",
		Wrong: "The key gets its TTL by a second command, so a crash between the two leaves it there for ever.",
		Fault: promise.Crash, MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: Stuck, Mode: "none", Nodes: 1,
	}
	DelWithoutOwner = Mistake{
		Name: "del-without-owner", ID: "F02",
		Wrong: "The release deletes the key without a check of its owner.",
		Fault: promise.Pause, MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: ClaimOverlaps, Mode: "none", Nodes: 1,
	}
	TryThenUnlock = Mistake{
		Name: "try-then-unlock", ID: "F02",
		Wrong:  "A try that finds the lock taken deletes the key, which is the holder's.",
		MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: ClaimOverlaps, Mode: "none", Nodes: 1,
	}
	GetThenDel = Mistake{
		Name: "get-then-del", ID: "F03",
		Wrong: "The release compares the owner and deletes the key in two steps, and in between the key may change hands.",
		Fault: promise.Pause, MinTTL: time.Second, MaxTTL: 10 * time.Second, // it must expire while a release may last
		Detector: ClaimOverlaps, Mode: "none", Nodes: 1,
	}
	WatchdogBareExpire = Mistake{
		Name: "watchdog-bare-expire", ID: "F04",
		Wrong: "The watchdog renews the key without a check of its owner, and takes a successor's key for its own.",
		Fault: promise.Pause, MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: Corrupted, Mode: "none", Nodes: 1,
	}
	WatchdogRecreatesKey = Mistake{
		Name: "watchdog-recreates-key", ID: "F05",
		Wrong: "A renewal that finds the key gone sets it again, and the holder is not told that others may have had " +
			"the lock.",
		Fault: promise.Pause, MinTTL: time.Second, MaxTTL: time.Hour, // another has to come and go within a pause
		Detector: Corrupted, Mode: "none", Nodes: 1,
	}
	WatchdogStopLost = Mistake{
		Name: "watchdog-stop-lost", ID: "F36",
		Wrong: "A release that fails never tells the watchdog to stop, and so the lock is kept for ever.",
		Fault: promise.Partition, MinTTL: 5 * time.Second, MaxTTL: time.Hour, // longer than the failure of a release
		Detector: Stuck, Mode: "none", Nodes: 1,
	}
	WatchdogStopsAfterError = Mistake{
		Name: "watchdog-stops-after-error", ID: "F35",
		Wrong: "The watchdog gives up for good after one renewal without an answer, and the lock expires under its holder.",
		Fault: promise.Partition, MinTTL: 5 * time.Second, MaxTTL: time.Hour, // a renewal fails and there is time for another
		Detector: Corrupted, Mode: "none", Nodes: 1,
	}
	WatchdogIgnoresFailure = Mistake{
		Name: "watchdog-ignores-failure", ID: "F39",
		Wrong: "The watchdog counts renewals that failed as done, so the holder is never told of the loss.",
		Fault: promise.Partition, MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: Corrupted, Mode: "none", Nodes: 1,
	}
	SessionNeverTells = Mistake{
		Name: "session-never-tells", ID: "F39",
		Wrong: "The lock is held for as long as a session lives, and the holder is not told when the session has ended.",
		Fault: promise.Partition, MinTTL: time.Second, MaxTTL: time.Hour,
		Detector: ClaimOverlaps, Mode: "none", Nodes: 1, Detection: time.Second,
	}
	RenewalsTimeOut = Mistake{
		Name: "renewals-time-out", ID: "F35",
		Wrong: "The renewals run under the context of the campaign and end with its time limit of ten TTLs, under a " +
			"leader that holds on for longer.",
		MinTTL: 2 * time.Second, MaxTTL: time.Hour, // below, no request is sure to be answered before the next renewal
		Detector: Misconduct, Mode: "none", Nodes: 1, Leads: true, Duties: []promise.Duty{promise.DutyRenews},
	}
	CandidateSettles = Mistake{
		Name: "candidate-settles", ID: "F50",
		Wrong: "A candidate that has found the same leader for ten TTLs asks once in ten TTLs from then on, and when that " +
			"one resigns no client leads.",
		MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: LeaderlessOverdue, Mode: "none", Nodes: 1, Leads: true,
	}
	ExtendForgetsOwner = Mistake{
		Name: "extend-forgets-owner", ID: "F04",
		Wrong: "Extend prolongs the key without a check of its owner, and a lease that had ended goes on beside its " +
			"successor's.",
		MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: RevivedClaims, Mode: "none", Nodes: 1,
	}
	ExpireWholeSeconds = Mistake{
		Name: "expire-whole-seconds", ID: "F48",
		Wrong:  "The TTL is cut to whole seconds, and one below a second becomes 0, which deletes the key.",
		MinTTL: 50 * time.Millisecond, MaxTTL: 999 * time.Millisecond,
		Detector: ClaimOverlaps, Mode: "none", Nodes: 1,
	}
	TtlFromDeadline = Mistake{
		Name: "ttl-from-deadline", ID: "F48",
		Wrong: "The key lives until the deadline of the request that took it, and the holder counts on the TTL of the " +
			"options.",
		MinTTL: time.Second, MaxTTL: time.Hour,
		Detector: ClaimOverlaps, Mode: "none", Nodes: 1,
	}
	ExpiryByClientClock = Mistake{
		Name: "expiry-by-client-clock", ID: "F22",
		Wrong: "The key ends at an instant on the client's wall clock, and where that is behind it is gone at once.",
		Fault: promise.WallClock, MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: ClaimOverlaps, Mode: "none", Nodes: 1,
	}
	TokenAfterLock = Mistake{
		Name: "token-after-lock", ID: "F07",
		Wrong: "The token is minted after the grant, so a holder that has lost the lock in between has the higher token.",
		Fault: promise.Pause, MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: Corrupted, Mode: "check", Nodes: 1, Tokens: true,
	}
	TokenBeforeLock = Mistake{
		Name: "token-before-lock", ID: "F06",
		Wrong: "The token is minted before the grant, so a holder may have a lower token than the one before it, and is " +
			"refused.",
		Fault: promise.Pause, MinTTL: time.Second, MaxTTL: time.Hour,
		Detector: FalseRejects, Mode: "check", Nodes: 1, Tokens: true,
	}
	TokenReadLate = Mistake{
		Name: "token-read-late", ID: "F08",
		Wrong: "The token is read from the counter after the grant, and by then it may be the successor's.",
		Fault: promise.Pause, MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: Corrupted, Mode: "seal", Nodes: 1, Tokens: true,
	}
	TokenPerReentry = Mistake{
		Name: "token-per-reentry", ID: "F34",
		Wrong:  "Each re-entry mints a token, so a write of the inner section makes the fence refuse the outer one.",
		MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: FalseRejects, Mode: "check", Nodes: 1, Tokens: true,
	}
	ReentrantTwoKeys = Mistake{
		Name: "reentrant-two-keys", ID: "F33",
		Wrong: "Owner and count expire apart, so the next owner inherits a count and its last release does not free " +
			"the lock.",
		Fault: promise.Pause, MinTTL: time.Second, MaxTTL: time.Hour,
		Detector: Leaked, Mode: "none", Nodes: 1,
	}
	OwnerPrefix = Mistake{
		Name: "owner-prefix", ID: "F31",
		Wrong: "A client recognises its own lock by the beginning of the owner id, so that client 1 enters the lock of " +
			"client 10.",
		MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: ClaimOverlaps, Mode: "none", Nodes: 1,
	}
	NamesCollide = Mistake{
		Name: "names-collide", ID: "F31",
		Wrong: "The key is made of the letters of the resource's name alone, so that the holder of order:1 keeps others " +
			"out of order:2.",
		MinTTL: time.Second, MaxTTL: time.Hour, // the work has to take longer than the network
		Detector: Overdue, Mode: "none", Nodes: 1,
	}
	UntilInWrongUnit = Mistake{
		Name: "until-in-wrong-unit", ID: "F48",
		Wrong:  "The holder counts its lease in another unit than the node, so that it is over almost as soon as it begins.",
		MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: VoidGrants, Mode: "none", Nodes: 1,
	}
	FairPlaceTooShort = Mistake{
		Name: "fair-place-too-short", ID: "F52",
		Wrong: "A place in the queue lasts less long than a waiter is silent between two requests, so that later waiters " +
			"overtake it.",
		MinTTL: time.Second, MaxTTL: time.Hour,
		Detector: Overtaken, Mode: "none", Nodes: 1, Queue: true,
	}
	QueueOfTen = Mistake{
		Name: "queue-of-ten", ID: "F52",
		Wrong:  "The queue keeps its ten newest waiters, so that the eleventh pushes out the one whose turn it is.",
		MinTTL: time.Second, MaxTTL: time.Hour,
		Detector: Overtaken, Mode: "none", Nodes: 1, Queue: true,
	}
	WedgedAfterRelease = Mistake{
		Name: "wedged-after-release", ID: "F62",
		Wrong: "The client remembers that it has the lock, and a release does not make it forget: its next acquire is " +
			"refused although the lock is free.",
		MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: Denied, Mode: "none", Nodes: 1,
	}
	QuorumOfHalf = Mistake{
		Name: "quorum-of-half", ID: "F25",
		Wrong:  "Half of the nodes count as a majority, so that a split vote of an even number of nodes has two winners.",
		MinTTL: time.Second, MaxTTL: time.Hour,
		Detector: ClaimOverlaps, Mode: "none", Nodes: 5,
	}
	RedlockOneByOne = Mistake{
		Name: "redlock-one-by-one", ID: "F23",
		Wrong: "The nodes are asked in turn without a timeout for each, so one that does not answer uses up the lease.",
		Fault: promise.Partition, MinTTL: 50 * time.Millisecond, MaxTTL: 3 * time.Second, // up to go-redis' ReadTimeout
		Detector: LongestWait, Mode: "none", Nodes: 5,
	}
	RedlockNoDrift = Mistake{
		Name: "redlock-no-drift", ID: "F20",
		Wrong: "The validity leaves no margin for clock drift, so keys on fast nodes expire within it.",
		// below, the drift is less than a few round trips
		Fault: promise.ClockDrift, MinTTL: 5 * time.Second, MaxTTL: time.Hour,
		Detector: ClaimOverlaps, Mode: "none", Nodes: 5,
	}
	RedlockKeepsMinority = Mistake{
		Name: "redlock-keeps-minority", ID: "F26",
		Wrong:  "A failed attempt keeps the nodes that had granted it, and nobody can have those until the TTL has passed.",
		MinTTL: time.Second, MaxTTL: time.Hour, // it has to outlast the rest of the work
		Detector: Leaked, Mode: "none", Nodes: 5,
	}
	RedlockWallClock = Mistake{
		Name: "redlock-wall-clock", ID: "F21",
		Wrong: "Elapsed time is the difference of two wall clock readings, and a clock set back in between lengthens the " +
			"lease.",
		Fault: promise.WallClock, MinTTL: time.Second, MaxTTL: time.Hour,
		Detector: ClaimOverlaps, Mode: "none", Nodes: 5,
	}
	ReleaseWithRequestContext = Mistake{
		Name: "release-with-request-context", ID: "F29",
		Wrong:  "The release runs under the request's own context, and when that has ended nothing is sent.",
		MinTTL: time.Second, MaxTTL: time.Hour, // it has to outlast the rest of the work
		Detector: Leaked, Mode: "none", Nodes: 1,
	}
	LeaseEndsWithTheWait = Mistake{
		Name: "lease-ends-with-the-wait", ID: "F29",
		Wrong: "The lease ends with the context of Acquire, so that a caller who ends that context after the wait loses " +
			"the lock.",
		MinTTL: time.Second, MaxTTL: time.Hour, // the work has to take longer than the network
		Detector: VoidGrants, Mode: "none", Nodes: 1,
	}
	ReleaseSentOnce = Mistake{
		Name: "release-sent-once", ID: "F62",
		Wrong:  "Release reports its failure once; called again it reports success and sends nothing.",
		Fault:  promise.Partition,
		MinTTL: 8 * time.Second, MaxTTL: time.Hour, // it has to outlast the release
		Detector: Misconduct, Mode: "none", Nodes: 1, Duties: []promise.Duty{promise.DutyReports},
	}
	RowByClientClock = Mistake{
		Name: "row-by-client-clock", ID: "F63",
		Wrong: "Whether the row's lease has ended is judged by the client's clock, and one that is ahead takes what is held.",
		Fault: promise.WallClock, MinTTL: 100 * time.Millisecond, MaxTTL: time.Hour,
		Detector: ClaimOverlaps, Mode: "none", Nodes: 1, Endless: true,
	}
	RowUpdateUnchecked = Mistake{
		Name: "row-update-unchecked", ID: "F67",
		Wrong:  "The conditional update may have changed no row, and the count that says so is ignored.",
		MinTTL: 50 * time.Millisecond, MaxTTL: time.Hour, // above the latency
		Detector: ClaimOverlaps, Mode: "none", Nodes: 1,
	}
)

// All returns every mistake, in the order of the catalogue's list. The caller owns the slice.
func All() []Mistake {
	return []Mistake{
		SetnxThenExpire, DelWithoutOwner, TryThenUnlock, GetThenDel,
		WatchdogBareExpire, WatchdogRecreatesKey, WatchdogStopLost, WatchdogStopsAfterError, WatchdogIgnoresFailure,
		SessionNeverTells,
		RenewalsTimeOut, CandidateSettles, ExtendForgetsOwner,
		ExpireWholeSeconds, TtlFromDeadline, ExpiryByClientClock,
		TokenAfterLock, TokenBeforeLock, TokenReadLate, TokenPerReentry,
		ReentrantTwoKeys, OwnerPrefix, NamesCollide,
		UntilInWrongUnit, FairPlaceTooShort, QueueOfTen, WedgedAfterRelease,
		QuorumOfHalf, RedlockOneByOne, RedlockNoDrift, RedlockKeepsMinority, RedlockWallClock,
		ReleaseWithRequestContext, LeaseEndsWithTheWait, ReleaseSentOnce,
		RowByClientClock, RowUpdateUnchecked,
	}
}

// Find returns the mistake of that name, or an error that lists them all.
func Find(name string) (Mistake, error) {
	var names []string
	for _, m := range All() {
		names = append(names, m.Name)
		if m.Name == name {
			return m, nil
		}
	}
	slices.Sort(names)
	return Mistake{}, fmt.Errorf("there is no broken lock %q: there are %s", name, strings.Join(names, ", "))
}
