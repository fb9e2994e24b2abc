// Package promise has what a lock promises, as data: the classes of fault, the duties, the terms, and the promises of
// the kinds of package lock. A harness and a lock need nothing else in common, so it imports no client, and a program
// that uses one of the two does not compile the other.
package promise

import "strings"

// Duty is what the calls of a lock do for its user, beyond the exclusion of others.
type Duty string

// The duties.
const (
	// DutyEnds: an Acquire whose context ends returns an error within a few round trips, if it can reach the
	// servers, and leaves nothing behind that others would have to wait for.
	DutyEnds Duty = "ends"
	// DutyWaits: an Acquire waits until its context ends. It does not give up before, if all its requests are
	// answered.
	DutyWaits Duty = "waits"
	// DutyReports: a Release without an error has freed a lock that its caller still had, and the context of the lease has
	// ended when Release is called. A Lost that is closed by the Release, before or after its request, announces nothing.
	// A Release does not fail, if all its requests are answered, nor because the context of its caller had ended before
	// (F29), and does not say that the lock was lost while the servers have its key.
	DutyReports Duty = "reports"
	// DutyRenews: a lease is renewed until it is released. It is not lost after a trouble that ended long before.
	DutyRenews Duty = "renews"
	// DutyTells: the loss of a lease is announced when its validity ends on the holder's clock, at the latest, and not
	// while its holder has it (F68). An Acquire whose lease is over when the last answer comes returns an error.
	DutyTells Duty = "tells"
	// DutyTries: a TryAcquire returns a lease or an error within a few round trips, if it can reach the servers. It does
	// not wait for the lock.
	DutyTries Duty = "tries"
	// DutyExplains: the error of an Acquire whose context has ended wraps the error of that context, so that its caller
	// can tell it from a failure, if all its requests are answered.
	DutyExplains Duty = "explains"
	// DutyKeeps: a lease is as [locksim/lock.Lease] and [locksim/lock.Extender] say. It has no token if the lock mints
	// none, and one if it does; its context has the values of the context of Acquire; a Release that is called again after
	// an answer returns the same; an Extend without an error makes the lease last for a full TTL from its call; and Lost
	// is closed, and an election that calls back does so once for the beginning and once for the end of a term (F68).
	DutyKeeps Duty = "keeps"
	// DutyReturns: a Release returns within the time that the lock promises, an Acquire within as much after the deadline
	// of its context, and an Extend when the lease ends that it extends, also if no server answers. A context that is
	// cancelled may end no request that is under way, as with go-redis.
	DutyReturns Duty = "returns"
	// DutyWakes: a release wakes those who wait. One of them has the lock a few round trips later, however long they pause
	// between two tries (F50).
	DutyWakes Duty = "wakes"
	// DutySpares: a client does not ask the servers more often than it says. It pauses between two tries for as long as
	// its options say, and between two renewals for a twelfth of a TTL, at least (F55).
	DutySpares Duty = "spares"
)

// duties has what a person reads of each duty, in the order of [Duties].
var duties = []struct {
	duty                    Duty
	means, question, remedy string // question is what is not asked of a lock without the duty
}{
	{DutyEnds, "an Acquire whose context ends returns, and leaves nothing behind.", "whether a waiter whose context " +
		"ends returns and leaves nothing behind",
		"let every wait and every request of Acquire end with its context, look at the context after the grant too, and " +
			"give back what was asked for or granted, by a request with a context and a time limit of its own"},
	{DutyWaits, "an Acquire does not give up before its context ends.", "whether a waiter gives up before its " +
		"context ends",
		"ask again until the context ends, in place of a number of tries"},
	{DutyReports, "a Release without an error has freed the lock, and none fails where nothing is wrong.",
		"whether a release says what it has done",
		"end the context of the lease first, then delete the key if its value is still yours, also when the context of the " +
			"caller has ended (context.WithoutCancel, and a time limit), and return an error that wraps lock.ErrNotHeld " +
			"exactly if it was not yours"},
	{DutyRenews, "a lease is renewed until it is released.", "whether a lease is renewed until it is released",
		"renew from the grant to the release, at a third of the TTL, and after a renewal that failed try again until the " +
			"lease ends"},
	{DutyTells, "the loss of a lease is announced when its validity ends, at the latest, and not while its holder has it.",
		"whether a loss is announced when the lease ends",
		"close Lost (in the glue: Lost of scenarios.Grant) by a timer that ends with the lease, whether a server answers " +
			"or not, and before that only when a server says that the key is gone or another's; and look at the clock once " +
			"more after the last answer of an Acquire"},
	{DutyTries, "a TryAcquire does not wait for the lock.", "whether a TryAcquire waits",
		"let TryAcquire ask once, and return an error that wraps lock.ErrTaken if another client has the lock"},
	{DutyExplains, "the error of an Acquire whose context has ended wraps that of the context.",
		"whether a waiter that gives up says why",
		"wrap the error of the context, such as by fmt.Errorf(\"…: %w\", ctx.Err())"},
	{DutyKeeps, "a lease has its token, its context and its length as its interface says.",
		"whether a lease has its token, its context and its length",
		"derive the context of the lease from that of Acquire (scenarios.NewLease does), keep the first answer of Release " +
			"for a second call, let Extend set an Until of a full TTL from its call, give a token exactly if the lock mints " +
			"them, and close Lost in place of sending to it"},
	{DutyReturns, "a Release returns within the time that the lock promises, and an Acquire within as much after its " +
		"deadline, also if no server answers.", "whether calls return if no server answers",
		"give each request a deadline of its own, and use a client that heeds it (with go-redis ContextTimeoutEnabled)"},
	{DutyWakes, "a release wakes those who wait.", "whether a release wakes those who wait",
		"let the release notify them, such as by a message to which they have subscribed, so that they do not wait for " +
			"their next try"},
	{DutySpares, "a client asks the servers no more often than its options say.", "how often a client asks the servers",
		"pause between two tries, also after one that failed, and between two renewals"},
}

// Duties lists the duties. The caller owns the slice.
func Duties() []Duty {
	all := make([]Duty, len(duties))
	for i, d := range duties {
		all[i] = d.duty
	}
	return all
}

// Means is what a lock with the duty does, in a sentence that follows its name. It is "" for an unknown duty.
func (d Duty) Means() string {
	means, _ := d.texts()
	return means
}

// Question is what is asked of a lock with the duty, as "whether a release wakes those who wait". It is "" for an
// unknown duty.
func (d Duty) Question() string {
	for _, known := range duties {
		if known.duty == d {
			return known.question
		}
	}
	return ""
}

// Remedy is what the author of a lock that has broken the duty does, in one sentence. It is "" for an unknown duty.
func (d Duty) Remedy() string {
	_, remedy := d.texts()
	if remedy == "" {
		return ""
	}
	return strings.ToUpper(remedy[:1]) + remedy[1:]
}

// Advice says of a duty that a lock has broken which one it is, and what to do, in sentences. It is "" for an unknown
// duty.
func (d Duty) Advice() string {
	means, remedy := d.texts()
	if means == "" {
		return ""
	}
	return "This breaks the duty \"" + string(d) + "\": " + means + " Remedy: " + remedy
}

// texts are the sentences about a duty, the second one without its capital.
func (d Duty) texts() (means, remedy string) {
	for _, known := range duties {
		if known.duty == d {
			return known.means, known.remedy +
				", or leave the duty \"" + string(d) + "\" out of Promise.Duties if your lock does not promise it."
		}
	}
	return "", ""
}

// Cause is why a lock that no client has may still be taken.
type Cause string

// The causes.
const (
	CauseCrash         Cause = "crash"             // a holder, or a client that asked for the lock, ended
	CauseLostReply     Cause = "lost reply"        // the outcome of an Acquire is not known
	CauseCancelled     Cause = "cancelled acquire" // an Acquire failed, was cancelled or timed out
	CauseFailedRelease Cause = "failed release"    // a Release failed
	CauseExpiry        Cause = "expired lease"     // a lease ended, and the servers keep it longer
	CauseOther         Cause = "other"             // everything else, such as a release that succeeded
)

// Causes lists the causes. The caller owns the slice.
func Causes() []Cause {
	return []Cause{CauseCrash, CauseLostReply, CauseCancelled, CauseFailedRelease, CauseExpiry, CauseOther}
}
