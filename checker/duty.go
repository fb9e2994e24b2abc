package checker

import (
	"fmt"
	"math"
	"slices"
	"time"

	"locksim/lock/promise"
)

// GrantedWithin is how long after the end of the context of an Acquire a grant counts as made at that end: locks,
// clients and servers count their timeouts in milliseconds, and clocks that drift round instants.
const GrantedWithin = time.Millisecond

// ToldWithin is how long after the end of a lease its loss counts as announced at that end.
const ToldWithin = 10 * time.Millisecond

// dutyRule is one way to break a duty by something that a client did.
type dutyRule[T any] struct {
	duty promise.Duty
	needs
	// hindered says whether something kept the client from doing its duty. Without it breaks knows that.
	hindered func(h History, client string, x T) bool
	// breaks tells of each breach. record is what the client had by the record of the nodes.
	breaks func(h History, x T, record holdings, tell breach)
}

// breach tells of a breach: where it shows, and in which words.
type breach func(at []Pos, format string, args ...any)

// needs is what nothing but the lock can have caused a breach without.
type needs struct {
	steady    bool // servers: see Timing.Steady
	prompt    bool // a prompt network: see Timing.Prompt
	inOrder   bool // messages in order: see Timing.InOrder
	exclusive bool // a lock that is not reentrant
	keys      bool // keys that do not end with sessions: see History.SessionKeys
}

func (n needs) met(h History) bool {
	return (!n.steady || h.Timing.Steady) && (!n.prompt || h.Timing.Prompt) && (!n.inOrder || h.Timing.InOrder) &&
		(!n.exclusive || h.Entry != EntryReentrant) && (!n.keys || !h.SessionKeys)
}

// apply judges one thing that a client did by a table of rules.
func apply[T any](h History, rules []dutyRule[T], client string, x T, record holdings, found *tally) {
	for _, r := range rules {
		if !h.has(r.duty) || !r.met(h) {
			continue
		}
		r.breaks(h, x, record, func(at []Pos, format string, args ...any) {
			if r.hindered != nil && r.hindered(h, client, x) {
				return
			}
			found.breach(r.duty, func() Reason { return Reason{Text: fmt.Sprintf(format, args...), At: at} })
		})
	}
}

// attemptRules are the duties toward an Acquire that returned without a grant.
var attemptRules = []dutyRule[Attempt]{
	// It returned more than Timing.Trips after its context had ended.
	{promise.DutyEnds, needs{}, afterContext, func(h History, a Attempt, _ holdings, tell breach) {
		if returned := h.Timing.when(a.Returned); a.ContextEnded > 0 && returned > a.ContextEnded+h.Timing.Trips {
			tell([]Pos{a.Invoked, a.Returned}, "%s asked for %s at step %d, its context ended %v before Acquire returned at "+
				"step %d, and nothing kept the lock from returning.",
				a.Client, a.Resource, a.Invoked, returned-a.ContextEnded, a.Returned)
		}
	}},
	// It left its place in the queue behind. One of unknown outcome may have joined the queue late.
	{promise.DutyEnds, needs{steady: true}, duringAttempt, func(_ History, a Attempt, _ holdings, tell breach) {
		if a.Outcome == OutcomeFailed && a.Enqueued > 0 && a.Enqueued <= a.Returned && (a.Left == 0 || a.Left > a.Returned) {
			tell([]Pos{a.Returned, a.Enqueued}, "%s gave up asking for %s at step %d, and its place in the queue, of step %d, "+
				"was still there, although nothing had gone wrong.",
				a.Client, a.Resource, a.Returned, a.Enqueued)
		}
	}},
	// It left a key behind: the record gave the lock to its client after its call, and before that client's next call of
	// Acquire, and its client had it at the return or later.
	{promise.DutyEnds, needs{steady: true, inOrder: true, exclusive: true, keys: true}, sinceAttempt,
		func(h History, a Attempt, record holdings, tell breach) {
			if slices.ContainsFunc(h.keysOf(a, record), func(s Holding) bool { return s.Span().end() > a.Returned }) {
				tell([]Pos{a.Returned}, "%s gave up asking for %s at step %d, and its key was there afterwards, although nothing "+
					"had gone wrong.",
					a.Client, a.Resource, a.Returned)
			}
		}},
	// It returned before its context had ended.
	{promise.DutyWaits, needs{steady: true, prompt: true}, duringAttempt,
		func(_ History, a Attempt, _ holdings, tell breach) {
			if a.ContextEnded == 0 {
				tell([]Pos{a.Invoked, a.Returned}, "%s asked for %s at step %d, and the lock gave up at step %d, although nothing "+
					"had gone wrong and the context of Acquire had not ended.",
					a.Client, a.Resource, a.Invoked, a.Returned)
			}
		}},
	// Its error does not wrap that of its context, which had ended.
	{promise.DutyExplains, needs{steady: true, prompt: true}, duringAttempt,
		func(_ History, a Attempt, _ holdings, tell breach) {
			if a.Unexplained {
				tell([]Pos{a.Invoked, a.Returned}, "%s asked for %s at step %d until its context ended, and the error of step %d "+
					"does not wrap that of the context.",
					a.Client, a.Resource, a.Invoked, a.Returned)
			}
		}},
}

func afterContext(h History, client string, a Attempt) bool {
	return h.awayDuring(client, a.ContextEnded, h.Timing.when(a.Returned))
}

func duringAttempt(h History, client string, a Attempt) bool {
	return h.disturbed(client, a.Invoked, h.Timing.when(a.Returned))
}

func sinceAttempt(h History, client string, a Attempt) bool {
	return h.disturbed(client, a.Invoked, math.MaxInt64)
}

// tryRules are the duties toward a try.
var tryRules = []dutyRule[Try]{
	// It returned more than twice Timing.Trips after its call.
	{promise.DutyTries, needs{}, func(h History, client string, t Try) bool {
		return h.awayDuring(client, t.Called,
			t.Returned)
	}, func(h History, t Try, _ holdings, tell breach) {
		if t.Returned > t.Called+2*h.Timing.Trips {
			tell([]Pos{t.Invoked}, "%s tried to get %s without waiting, and the answer took %v, although nothing had gone "+
				"wrong.",
				t.Client, t.Resource, t.Returned-t.Called)
		}
	}},
}

// grantRules are the duties toward a client that was granted the lock.
var grantRules = []dutyRule[Grant]{
	// The lease was not as the lock says. The client sees that by itself: see Grant.Unkept.
	{promise.DutyKeeps, needs{}, nil, func(_ History, g Grant, _ holdings, tell breach) {
		for _, what := range g.Unkept {
			tell([]Pos{g.Granted}, "%s was granted %s at step %d, and %s.", g.Client, g.Resource, g.Granted, what)
		}
	}},
	// The grant came more than GrantedWithin after the end of the context of its Acquire.
	{promise.DutyEnds, needs{}, func(h History, client string, g Grant) bool {
		return h.awayDuring(client, g.ContextEnded, h.Timing.when(g.Granted))
	},
		func(h History, g Grant, _ holdings, tell breach) {
			if granted := h.Timing.when(g.Granted); g.ContextEnded > 0 && granted > g.ContextEnded+GrantedWithin {
				tell([]Pos{g.Granted}, "%s was granted %s at step %d, %v after the context of its Acquire had ended.",
					g.Client, g.Resource, g.Granted, granted-g.ContextEnded)
			}
		}},
	// A release without an error is contradicted: see falselyReleased.
	{promise.DutyReports, needs{}, nil, func(h History, g Grant, record holdings, tell breach) {
		if what := h.falselyReleased(g, record); what != "" {
			tell([]Pos{g.Released, g.ReleaseReturned}, "%s released %s at step %d, and Release returned no error at step %d, "+
				"although %s.",
				g.Client, g.Resource, g.Released, g.ReleaseReturned, what)
		}
	}},
	// A release returned an error without a reason: see falselyRefused.
	{promise.DutyReports, needs{steady: true, prompt: true}, nil, func(h History, g Grant, record holdings, tell breach) {
		if what := h.falselyRefused(g, record); what != "" {
			tell([]Pos{g.Released, g.ReleaseReturned}, "%s released %s at step %d, and Release %s.", g.Client, g.Resource,
				g.Released, what)
		}
	}},
	// The context of the lease went on when its release was called.
	{promise.DutyReports, needs{}, duringRelease, func(h History, g Grant, _ holdings, tell breach) {
		if g.ReleaseReturned > 0 && (g.LeaseEnded == 0 || g.LeaseEnded > h.Timing.when(g.Released)) {
			tell([]Pos{g.Released}, "%s released %s at step %d, and the context of its lease had not ended by then.", g.Client,
				g.Resource, g.Released)
		}
	}},
	// The validity was over by the last answer, and Acquire returned a lease all the same.
	{promise.DutyTells, needs{}, nil, func(h History, g Grant, _ holdings, tell breach) {
		if at := h.Timing.when(g.Granted); g.OverBefore && h.ranDuring(g.Client, at, at) {
			tell([]Pos{g.Invoked, g.Granted}, "%s asked for %s at step %d, and Acquire returned a lease at step %d that was "+
				"over by the holder's clock when the last answer came: it returned no error, and its caller had nothing.",
				g.Client, g.Resource, g.Invoked, g.Granted)
		}
	}},
	// The validity ended, and the lock announced it late or never: see toldLate.
	{promise.DutyTells, needs{}, nil, func(h History, g Grant, _ holdings, tell breach) {
		if h.toldLate(g) {
			tell([]Pos{g.Granted, g.Until}, "The lease of %s on %s, of step %d, ended at step %d by the holder's clock, and "+
				"the lock did not announce it.",
				g.Client, g.Resource, g.Granted, g.Until)
		}
	}},
	// A renewal was answered that the key is gone, and the lock announced the loss late: see keptSilent.
	{promise.DutyTells, needs{exclusive: true}, nil, func(h History, g Grant, _ holdings, tell breach) {
		if h.keptSilent(g) {
			tell([]Pos{g.Granted, g.Known}, "%s was granted %s at step %d, and the lock knew at step %d, by the answer to a "+
				"renewal, that its key was gone: it did not announce the loss within %v.", g.Client, g.Resource, g.Granted, g.Known,
				ToldWithin)
		}
	}},
	// The lock announced a loss although nothing was lost: see toldEarly.
	{promise.DutyTells, needs{steady: true, prompt: true, exclusive: true}, untilLost,
		func(h History, g Grant, record holdings, tell breach) {
			if h.toldEarly(g, record) {
				tell([]Pos{g.Granted, g.Lost}, "The lease of %s on %s, of step %d, had not ended, and the lock announced its loss "+
					"at step %d, although the servers still had its key.",
					g.Client, g.Resource, g.Granted, g.Lost)
			}
		}},
	// The lock ended a claim although it could have renewed the lease.
	{promise.DutyRenews, needs{steady: true, prompt: true}, lastThird, func(_ History, g Grant, _ holdings, tell breach) {
		if claim := g.Claim(); !claim.Empty() && g.endedEarly() {
			tell([]Pos{g.Granted, claim.End}, "The lease of %s on %s, of step %d, ended at step %d, when %s: nothing had kept "+
				"the lock from renewing it for a third of a TTL.",
				g.Client, g.Resource, g.Granted, claim.End, claim.Ended)
		}
	}},
}

func duringRelease(h History, client string, g Grant) bool {
	return h.awayDuring(client, h.Timing.when(g.Released), h.Timing.when(g.ReleaseReturned))
}

func untilLost(h History, client string, g Grant) bool {
	return h.disturbed(client, g.Invoked, h.Timing.when(g.Lost))
}

// lastThird is about the last third of a lease before the end of the claim.
func lastThird(h History, client string, g Grant) bool {
	end := h.Timing.when(g.Claim().end())
	return h.awayDuring(client, end-h.Timing.Lease/3, end)
}

// has reports whether the lock promises a duty.
func (h History) has(d promise.Duty) bool { return slices.Contains(h.Duties, d) }

// misconduct finds the breaches of the duties. A call may break several.
func misconduct(h History, records map[holder]holdings) *tally {
	found := &tally{more: "calls that did not end as the lock promises"}
	if h.Timing == nil || len(h.Duties) == 0 {
		return found
	}
	for _, a := range slices.SortedFunc(slices.Values(h.Attempts), byAsking) {
		if a.Returned > 0 {
			apply(h, attemptRules, a.Client, a, records[holder{a.Client, a.Resource}], found)
		}
	}
	for _, t := range h.Tries {
		apply(h, tryRules, t.Client, t, nil, found)
	}
	for _, grants := range grantsByResource(h) {
		for _, g := range grants {
			apply(h, grantRules, g.Client, g, records[holder{g.Client, g.Resource}], found)
		}
	}
	h.late(found)
	h.unwoken(found)
	h.wasteful(found)
	return found
}

// awayDuring reports whether a client was away at some instant of a time.
func (h History) awayDuring(client string, from, to time.Duration) bool {
	return slices.ContainsFunc(h.Timing.Away[client], func(a Absence) bool { return a.From <= to && a.To >= from })
}

// disturbed reports whether a client was away at some instant from the call of Acquire on, or before it, and that was
// not over: what it had sent may come up to [Timing.Trips] later, the key of a process that has crashed is there for as
// long as its lease, and a connection that has broken meanwhile may only now be met. What is over excuses nothing.
func (h History) disturbed(client string, called Pos, to time.Duration) bool {
	from := h.Timing.when(called)
	overlaps := func(s Span, after time.Duration) bool { return s.From <= to && s.To >= from-after }
	return slices.ContainsFunc(h.Timing.Away[client], func(a Absence) bool {
		if a.Crash {
			return overlaps(a.Span, h.Timing.Lease+h.Timing.Trips)
		}
		return overlaps(a.Span, h.Timing.Trips)
	}) || slices.ContainsFunc(h.Timing.Unlinked[client], func(s Span) bool { return overlaps(s, 0) })
}

// falselyReleased says what contradicts a release without an error; "" if nothing does.
func (h History) falselyReleased(g Grant, record holdings) string {
	if !g.ReleaseSucceeded || !h.Timing.Steady {
		return ""
	}
	had, at := false, false
	for _, s := range record {
		had = had || s.From <= g.Released && s.Span().end() > g.Invoked
		at = at || s.From <= g.ReleaseReturned && s.Span().end() > g.Released
	}
	switch s, kept := record.since(g.Granted, g.ReleaseReturned); {
	case had && !at:
		return "the nodes had given up its key before"
	case kept && h.Entry != EntryReentrant && !h.enteredLate(g, s):
		return "the nodes still had its key"
	}
	return ""
}

// enteredLate reports whether a request of a client may have come late, and have entered its reentrant lock again.
func (h History) enteredLate(g Grant, had Holding) bool {
	return had.Again > 0 && h.awayDuring(g.Client, h.Timing.when(g.Invoked), h.Timing.when(g.ReleaseReturned))
}

// ranOut reports whether a lease and its key ended while its release was under way, and the release deleted nothing:
// then there was nothing left to release.
func (h History) ranOut(g Grant, had Holding) bool {
	return g.Until > 0 && g.Until <= g.ReleaseReturned && had.Span().end() <= g.ReleaseReturned &&
		!slices.ContainsFunc(h.Deletions, func(d Deletion) bool {
			return d.By == g.Client && d.Resource == g.Resource && g.Released < d.At && d.At <= g.ReleaseReturned
		})
}

// falselyRefused says what is wrong with a release that returned an error; "" if nothing is.
func (h History) falselyRefused(g Grant, record holdings) string {
	if g.ReleaseReturned == 0 {
		return ""
	}
	if g.ReleaseFailed && !g.ReleaseContextEnded && !h.disturbed(g.Client, g.Invoked, h.Timing.when(g.ReleaseReturned)) {
		if had, kept := record.since(g.Granted, g.Released); kept && !h.ranOut(g, had) {
			return fmt.Sprintf("failed at step %d, although nothing had gone wrong and the client still had the lock",
				g.ReleaseReturned)
		}
	}
	if g.ReleaseContextOver && !g.ReleaseSucceeded && !g.ReleaseNotHeld &&
		!h.disturbed(g.Client, g.Invoked, h.Timing.when(g.ReleaseReturned)) {
		if _, kept := record.since(g.Granted, g.ReleaseReturned); kept {
			return fmt.Sprintf("failed at step %d, since the context of its caller had ended, and the nodes still had its key",
				g.ReleaseReturned)
		}
	}
	until := g.Granted
	if h.SessionKeys {
		until = g.ReleaseReturned
	}
	if g.ReleaseNotHeld && h.Entry != EntryReentrant && !h.disturbed(g.Client, g.Invoked, h.Timing.when(until)) {
		if _, kept := record.since(g.Granted, g.ReleaseReturned); kept {
			return fmt.Sprintf("returned at step %d that the lock was not held, although the nodes had its key all the time",
				g.ReleaseReturned)
		}
	}
	return ""
}

// toldLate reports whether the loss of a lease was announced late.
func (h History) toldLate(g Grant) bool {
	if g.Until <= g.Granted || g.Released > 0 && g.Released <= g.Until || g.Lost > 0 && g.Lost <= g.Until {
		return false
	}
	told := g.Lost
	if told == 0 || g.Released > 0 && g.Released < told {
		told = g.Released
	}
	if told == 0 {
		return false
	}
	ended, by := h.Timing.when(g.Until), h.Timing.when(told)
	return by > ended+ToldWithin && !h.awayDuring(g.Client, ended, by)
}

// toldEarly reports whether the loss of a lease was announced before its end, as that was at the grant, although its
// client had the lock by the record of the nodes. Of a lock that renews its leases that is a breach of
// [promise.DutyRenews].
func (h History) toldEarly(g Grant, record holdings) bool {
	if h.has(promise.DutyRenews) || g.Left == nil || g.Lost <= g.Granted || g.Released > 0 && g.Released <= g.Lost ||
		g.Crashed > 0 && g.Crashed <= g.Lost {
		return false
	}
	_, kept := record.since(g.Granted, g.Lost)
	return kept && h.Timing.when(g.Lost)+ToldWithin < h.Timing.when(g.Granted)+*g.Left
}

// keptSilent reports whether a lock that knew of the loss of a lease, before the end of that, did not announce it in
// time, although its client ran. An Extend that was under way told its caller.
func (h History) keptSilent(g Grant) bool {
	if g.Known <= g.Granted || g.Until > 0 && g.Until <= g.Known {
		return false
	}
	told := never
	for _, at := range []Pos{g.Lost, g.Released, g.Crashed} {
		if at > 0 {
			told = min(told, at)
		}
	}
	if told == never || told <= g.Known || told == g.Crashed {
		return false
	}
	known, by := h.Timing.when(g.Known), h.Timing.when(told)
	return by > known+ToldWithin && !h.awayDuring(g.Client, known, by) && !slices.ContainsFunc(h.Calls, func(c Call) bool {
		return c.What == "Extend" && c.Client == g.Client && c.Called <= known && c.Returned >= known
	})
}
