package bruteforce

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/lock/promise"
)

// "IdleSeconds is the time in which a client waited for the lock, no client had it,
// and no client got it. The context of its Acquire had not ended; the client ran and reached the servers; no client
// claimed the lock, believed that it had it, was releasing it, or was away while it asked for it.
// One backoff and one round trip are subtracted from each such time of each Acquire;
// time in which two were pending, for one lock or two, counts once." "Overdue counts
// the idle times, those of each Acquire, that lasted longer than their cause allows."
func idle(h checker.History) (seconds float64, overdue int) {
	if h.Timing == nil {
		return 0, 0
	}
	var counted []checker.Span
	for _, resource := range lockNames(h) {
		before := overdue
		for _, a := range acquires(h, resource) {
			for _, s := range idleTimes(h, resource, a) {
				if s.To <= due(h, a, s.From) {
					continue
				}
				counted = append(counted, checker.Span{From: due(h, a, s.From), To: s.To})
				if s.To > allowed(h, resource, a, s) {
					overdue++
				}
			}
		}
		if overdue == before {
			overdue += overdueForAll(h, resource)
		}
	}
	return covered(counted).Seconds(), overdue
}

// covered is the time that lies in at least one of the spans: time in which two
// clients waited counts once.
func covered(spans []checker.Span) time.Duration {
	var instants []time.Duration
	for _, s := range spans {
		instants = append(instants, s.From, s.To)
	}
	slices.Sort(instants)
	var total time.Duration
	for i := 1; i < len(instants); i++ {
		if slices.ContainsFunc(spans, func(s checker.Span) bool { return s.From <= instants[i-1] && instants[i] <= s.To }) {
			total += instants[i] - instants[i-1]
		}
	}
	return total
}

func lockNames(h checker.History) []checker.Resource {
	var names []checker.Resource
	for _, g := range h.Grants {
		names = append(names, g.Resource)
	}
	for _, a := range h.Attempts {
		names = append(names, a.Resource)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// acquire is one Acquire: its call, and its return, 0 if it never did.
type acquire struct {
	client            string
	invoked, returned checker.Pos
	ended             time.Duration // of its context, 0 if it did not end
}

func acquires(h checker.History, resource checker.Resource) (all []acquire) {
	for _, g := range h.Grants {
		if g.Resource == resource {
			all = append(all, acquire{g.Client, g.Invoked, g.Granted, 0})
		}
	}
	for _, a := range h.Attempts {
		if a.Resource == resource {
			all = append(all, acquire{a.Client, a.Invoked, a.Returned, a.ContextEnded})
		}
	}
	return all
}

// at is the instant of a position.
func at(h checker.History, p checker.Pos) time.Duration { return h.Timing.At[p-1] }

// idleTimes are the longest times in which an Acquire was pending for an idle lock: it
// walks over every instant at which anything changes.
func idleTimes(h checker.History, resource checker.Resource, a acquire) []checker.Span {
	instants := changes(h)
	granted := map[time.Duration]bool{}
	for _, g := range h.Grants {
		if g.Resource == resource {
			granted[at(h, g.Granted)] = true
		}
	}
	var times []checker.Span
	for i := 1; i < len(instants); i++ {
		from, to := instants[i-1], instants[i]
		if !waitsIdly(h, resource, a, from, to) {
			continue
		}
		if n := len(times); n > 0 && times[n-1].To == from && !granted[from] {
			times[n-1].To = to
		} else {
			times = append(times, checker.Span{From: from, To: to})
		}
	}
	return times
}

// waitsIdly reports whether an Acquire was pending for an idle lock between two
// instants between which nothing changed.
func waitsIdly(h checker.History, resource checker.Resource, waiting acquire, from, to time.Duration) bool {
	// during reports whether an interval of positions covers the time.
	during := func(start, end checker.Pos) bool { return start != 0 && throughout(h, start, end, from, to) }
	away := func(client string) bool {
		return slices.ContainsFunc(h.Timing.Away[client], func(a checker.Absence) bool {
			return a.From <= from &&
				to <= a.To
		})
	}
	pending := func(a acquire) bool { return during(a.invoked, a.returned) && !crashedWhileAsking(h, a, from) }
	for _, g := range h.Grants {
		if g.Resource != resource {
			continue
		}
		if hadClaim(g) && during(g.Granted, first(g.Released, g.Lost, g.Until, g.Crashed, g.Doubted)) ||
			during(g.Granted, beliefEnd(g, h.Care)) || during(g.Released, first(g.ReleaseReturned, g.Crashed)) {
			return false
		}
	}
	for _, a := range acquires(h, resource) {
		if pending(a) && away(a.client) {
			return false
		}
	}
	return pending(waiting) && (waiting.ended == 0 || to <= waiting.ended)
}

// crashedWhileAsking reports whether the client of an Acquire that never returned
// ended before an instant: "Crash says that the client ended, and began anew at the
// end of the span if it did."
func crashedWhileAsking(h checker.History, a acquire, by time.Duration) bool {
	return a.returned == 0 && slices.ContainsFunc(h.Timing.Away[a.client], func(s checker.Absence) bool {
		return s.Crash && at(h, a.invoked) <= s.From && s.From <= by
	})
}

// allowed is the last instant until which a lock may stay taken after an idle time
// began. "CauseOther allows it from the beginning of the idle time: that is the first
// deadline. Each other cause, in the order of their instants, moves the deadline to Within
// and Grace after it, if that is later, and if it occurred at the deadline that stood until
// then, or before." Here the deadline moves until no cause that occurred by then moves it.
func allowed(h checker.History, resource checker.Resource, a acquire, idle checker.Span) time.Duration {
	deadline := due(h, a, idle.From+h.Timing.Within[promise.CauseOther])
	for moved := true; moved; {
		moved = false
		for _, c := range causes(h, resource) {
			if c.over > 0 && idle.From >= c.over {
				continue
			}
			if end := due(h, a, back(h, c.client, c.at)+c.later+h.Timing.Within[c.cause]); c.at <= deadline && end > deadline {
				deadline, moved = end, true
			}
		}
	}
	return deadline
}

// due is when a client that waits must have a lock that is to be free at an instant. "The Grace is
// counted from when the client next sends something after the lock is to be free, but no later
// than as long after that as the client had waited by then. Where it does not wait any more then, Grace is counted from
// that instant."
func due(h checker.History, a acquire, free time.Duration) time.Duration {
	asks := free
	if waited := free - at(h, a.invoked); h.Timing.Growing && waited > 0 && free < waitsUntil(h, a) {
		asks = free + waited
		for _, sent := range h.Timing.Sends[a.client] {
			if sent >= free {
				asks = min(asks, sent)
			}
		}
	}
	return asks + h.Timing.Grace
}

// waitsUntil is when an Acquire ended: with its return, its context, its client, or at the end of the history.
func waitsUntil(h checker.History, a acquire) time.Duration {
	end := endOf(h, a.returned)
	if a.ended > 0 {
		end = min(end, a.ended)
	}
	for _, s := range h.Timing.Away[a.client] {
		if a.returned == 0 && s.Crash && at(h, a.invoked) <= s.From {
			end = min(end, s.From)
		}
	}
	return end
}

// back is the instant at which a client that was away was back, or the instant itself:
// "If the client was away when a cause occurred, and did not crash, the time is counted
// from its return: until then, what it had sent may be under way."
func back(h checker.History, client string, at time.Duration) time.Duration {
	latest := at
	for _, s := range h.Timing.Away[client] {
		if !s.Crash && s.From <= at && at <= s.To {
			latest = max(latest, s.To)
		}
	}
	return latest
}

// cause is what happened at an instant to what a client had asked for. The servers may
// have seen it later, by a known time.
type cause struct {
	cause     promise.Cause
	client    string
	at, later time.Duration
	over      time.Duration // no cause of an idle time that begins then or later, if not 0
}

func causes(h checker.History, resource checker.Resource) (all []cause) {
	for client, absences := range h.Timing.Away {
		for _, s := range absences {
			if s.Crash {
				// "CauseCrash is a client that ended: it may have had the lock, or asked for it."
				all = append(all, cause{promise.CauseCrash, client, s.From, 0, 0})
			} else {
				// "CauseLostReply is … any absence of a client: what it had sent is lost, or
				// arrives when it is back."
				all = append(all, cause{promise.CauseLostReply, client, s.From, 0, overWith(h, resource, client, s)})
			}
		}
	}
	for _, g := range h.Grants {
		if g.Resource != resource {
			continue
		}
		if g.Crashed != 0 {
			all = append(all, cause{promise.CauseCrash, g.Client, at(h, g.Crashed), 0, 0})
		}
		// "CauseFailedRelease is a Release that failed."
		if g.ReleaseFailed {
			all = append(all, cause{promise.CauseFailedRelease, g.Client, at(h, g.ReleaseReturned), 0, 0})
		}
		// "CauseExpiry is a lease that ended, or was lost: what the servers keep of it
		// may end later by the duration of the Acquire."
		for _, end := range []checker.Pos{g.Until, g.Lost} {
			if end != 0 {
				all = append(all, cause{promise.CauseExpiry, g.Client, at(h, end), at(h, g.Granted) - at(h, g.Invoked), 0})
			}
		}
	}
	for _, a := range h.Attempts {
		switch {
		case a.Resource != resource || a.Returned == 0:
		// "An Acquire whose outcome its client does not know."
		case a.Outcome == checker.OutcomeUnknown:
			all = append(all, cause{promise.CauseLostReply, a.Client, at(h, a.Returned), 0, 0})
		// "CauseCancelled is an Acquire that failed, was cancelled or timed out."
		default:
			all = append(all, cause{promise.CauseCancelled, a.Client, at(h, a.Returned), 0, 0})
		}
	}
	if h.Entry == checker.EntryReentrant {
		all = append(all, entriesLeft(h, resource, all)...)
	}
	return all
}

// "An absence is no cause of an idle time that begins after its client has released, with success, a grant of the lock
// that it got since the absence began, …": the earliest of these releases, 0 for none.
func overWith(h checker.History, resource checker.Resource, client string, s checker.Absence) (over time.Duration) {
	if !h.Timing.Steady || h.Voters >= 2 {
		return 0
	}
	has := func(x checker.Holding) bool { return x.Client == client && x.Resource == resource }
	for _, x := range h.Holdings {
		became := false
		for _, g := range h.Grants {
			became = became || has(checker.Holding{Client: g.Client, Resource: g.Resource}) && g.Invoked < x.From &&
				!(g.Granted < x.From)
		}
		if has(x) && s.From < at(h, x.From) && !became {
			return 0
		}
	}
	for i, g := range h.Grants {
		if g.Client != client || g.Resource != resource || g.ReleaseReturned == 0 || !g.ReleaseSucceeded {
			continue
		}
		after := s.From < at(h, g.Granted) && s.To+h.Timing.Trips < at(h, g.Released)
		recorded, alone := false, true
		for _, x := range h.Holdings {
			recorded = recorded || has(x) && happened(x.From, g.Granted) && !happened(x.To, g.Granted)
		}
		for j, b := range h.Grants {
			apart := g.ReleaseReturned < b.Invoked || b.ReleaseReturned != 0 && b.ReleaseReturned < g.Invoked
			alone = alone && (i == j || b.Client != client || b.Resource != resource || apart)
		}
		if end := at(h, g.ReleaseReturned); after && recorded && alone && (over == 0 || end < over) {
			over = end
		}
	}
	return over
}

// "In a reentrant lock a crash, a Release that failed, and an Acquire that failed or whose
// outcome is not known may leave an entry behind … So each later Release of the client
// counts as that cause too"; and as that of an absence where clients send requests again by themselves. "A lease that
// ended leaves its entry behind until its own Release has returned."
func entriesLeft(h checker.History, resource checker.Resource, found []cause) (again []cause) {
	for _, c := range found {
		absence := c.cause == promise.CauseLostReply && !slices.ContainsFunc(h.Attempts, func(a checker.Attempt) bool {
			return a.Client == c.client && a.Resource == resource && a.Outcome == checker.OutcomeUnknown && a.Returned != 0 &&
				at(h, a.Returned) == c.at
		})
		// the entry of a lease that ended has an end: below
		if absence && !h.Timing.Resends || c.cause == promise.CauseExpiry {
			continue
		}
		for _, g := range h.Grants {
			if g.Client == c.client && g.Resource == resource && g.ReleaseReturned != 0 && at(h, g.ReleaseReturned) >= c.at &&
				!(c.over > 0 && at(h, g.ReleaseReturned) >= c.over) {
				again = append(again, cause{c.cause, c.client, at(h, g.ReleaseReturned), 0, c.over})
			}
		}
	}
	for _, ended := range h.Grants {
		for _, g := range h.Grants {
			same := g.Client == ended.Client && g.Resource == ended.Resource && g.Resource == resource
			over := first(ended.Until, ended.Lost)
			if same && g.ReleaseReturned != 0 && over != 0 && over <= g.ReleaseReturned &&
				(ended.ReleaseReturned == 0 || g.ReleaseReturned < ended.ReleaseReturned) {
				again = append(again, cause{promise.CauseExpiry, g.Client, at(h, g.ReleaseReturned), 0, 0})
			}
		}
	}
	return again
}

// "SelfExcluded counts the Acquires whose key kept their own client out. They returned without a grant. By the record
// of the nodes the client had the lock from a position after the call of the Acquire, and before its next call of
// Acquire; and still had it while a later Acquire of the client for the lock was pending, at an instant more than
// twice Trips after the return, and after that position, and more than Trips after that later call, since it may be
// granted the lock by its old key, and before a grant to the client. The client was not away, but for trouble behind
// the servers, from the return to that instant; and if it had been away before, the instant is also more than twice
// Trips after it heard from a server again: without a connection it cannot clean up. It is judged on steady servers
// where entry is exclusive, and only if messages are in order or that position was Trips or more before the return;
// and not if the client was away, in any way, at an instant from Trips before the call to the call, and had called
// Acquire for the lock before, or crashed: that request may be late. Acquires count too, with a grant or without,
// whose key kept their own client out before they returned."
func selfExcluded(h checker.History) (n int) {
	t := h.Timing
	if t == nil || !t.Steady || h.Entry == checker.EntryReentrant {
		return 0
	}
	for _, a := range h.Attempts {
		if a.Returned != 0 && !lateRequest(h, a) && slices.ContainsFunc(h.Holdings, func(s checker.Holding) bool {
			return keepsOut(h, a, s) || keepsOutBefore(h, a, s)
		}) {
			n++
		}
	}
	for _, g := range h.Grants {
		a := checker.Attempt{Client: g.Client, Resource: g.Resource, Invoked: g.Invoked, Returned: g.Granted}
		if !lateRequest(h, a) &&
			slices.ContainsFunc(h.Holdings, func(s checker.Holding) bool { return keepsOutBefore(h, a, s) }) {
			n++
		}
	}
	return n
}

// "where messages are in order, the client had the lock by that record from a position after the call to one
// before the return, did not delete its key itself at that position, and had sent the request again meanwhile,
// more than twice Trips before the end; it was not away, but for trouble behind the servers, from Trips before
// that request to twice Trips after it"
func keepsOutBefore(h checker.History, a checker.Attempt, s checker.Holding) bool {
	t := h.Timing
	if !t.InOrder || s.Client != a.Client || s.Resource != a.Resource || s.Again == 0 || s.To == 0 {
		return false
	}
	for _, d := range h.Deletions {
		if d.At == s.To && d.Resource == s.Resource && d.Owner == s.Client && d.By == s.Client {
			return false
		}
	}
	again := at(h, s.Again)
	for _, away := range t.Away[s.Client] {
		if before, after := away.To < again-t.Trips, away.From > again+2*t.Trips; !away.Behind && !before && !after {
			return false
		}
	}
	return s.From > a.Invoked && s.To < a.Returned && at(h, s.To)-again > 2*t.Trips
}

// lateRequest says that of an Acquire: see there.
func lateRequest(h checker.History, a checker.Attempt) bool {
	asked := at(h, a.Invoked)
	for _, s := range h.Timing.Away[a.Client] {
		if s.Crash && s.From <= asked {
			return true
		}
	}
	if present(h, a.Client, asked-h.Timing.Trips, asked) {
		return false
	}
	for _, g := range h.Grants {
		if g.Client == a.Client && g.Resource == a.Resource && g.Invoked < a.Invoked {
			return true
		}
	}
	for _, b := range h.Attempts {
		if b.Client == a.Client && b.Resource == a.Resource && b.Invoked < a.Invoked {
			return true
		}
	}
	return false
}

// "An absence that was no longer than Trips, in which the client ran, and which was over at the return, is none if the
// client next sent something, after its beginning, not before its next call of Acquire: it did not try to clean up."
func leftIt(h checker.History, a checker.Attempt, away checker.Absence, calls []checker.Pos) bool {
	if !away.Running || away.To-away.From > h.Timing.Trips || away.To > at(h, a.Returned) {
		return false
	}
	next := time.Duration(1<<63 - 1)
	for _, p := range calls {
		if p > a.Invoked {
			next = min(next, at(h, p))
		}
	}
	for _, sent := range h.Timing.Sends[a.Client] {
		if sent > away.From {
			return next != 1<<63-1 && sent >= next
		}
	}
	return false
}

// keepsOut says that of an Acquire and one holding. It looks at the instants between those at which
// anything begins or ends.
func keepsOut(h checker.History, a checker.Attempt, s checker.Holding) bool {
	t := h.Timing
	if s.Client != a.Client || s.Resource != a.Resource || s.From <= a.Invoked || !t.InOrder &&
		at(h, s.From)+t.Trips > at(h, a.Returned) {
		return false
	}
	front := h // without the trouble behind the servers
	timing := *t
	timing.Away = map[string][]checker.Absence{a.Client: slices.DeleteFunc(slices.Clone(t.Away[a.Client]),
		func(s checker.Absence) bool { return s.Behind })}
	front.Timing = &timing
	near := front           // without those that kept it from nothing
	var calls []checker.Pos // of Acquire by the client, for any lock
	granted := checker.Pos(0)
	for _, g := range h.Grants {
		if g.Client == a.Client {
			calls = append(calls, g.Invoked)
			if g.Resource == a.Resource && g.Granted > a.Invoked && (granted == 0 || g.Granted < granted) {
				granted = g.Granted
			}
		}
	}
	for _, b := range h.Attempts {
		if b.Client == a.Client {
			calls = append(calls, b.Invoked)
		}
	}
	if slices.ContainsFunc(calls, func(p checker.Pos) bool { return p > a.Invoked && p <= s.From }) {
		return false
	}
	timingNear := timing
	timingNear.Away = map[string][]checker.Absence{a.Client: slices.DeleteFunc(slices.Clone(timing.Away[a.Client]),
		func(s checker.Absence) bool { return leftIt(h, a, s, calls) })}
	near.Timing = &timingNear
	enough := max(at(h, a.Returned), at(h, s.From))
	for _, away := range front.Timing.Away[a.Client] {
		if away.To >= at(h, a.Returned)-t.Trips && !leftIt(h, a, away, calls) {
			continue
		}
		// Of each absence before: the client heard something after it, and has had the time since. The last one counts.
		next := slices.IndexFunc(t.Heard[a.Client], func(heard time.Duration) bool { return heard > away.To })
		if next < 0 {
			return false
		}
		enough = max(enough, t.Heard[a.Client][next])
	}
	enough += 2 * t.Trips
	last := t.At[len(t.At)-1]
	until := last
	if s.To != 0 {
		until = at(h, s.To)
	}
	if granted != 0 {
		until = min(until, at(h, granted))
	}
	for _, b := range acquires(h, a.Resource) {
		if b.client != a.Client || b.invoked <= a.Invoked || granted != 0 && b.invoked > granted {
			continue
		}
		end := last
		if b.returned != 0 {
			end = at(h, b.returned)
		}
		// If it holds at any instant, it holds at the first.
		if first := max(enough, at(h, b.invoked)+t.Trips); first < min(until, end) && !crashedWhileAsking(h, b, first) &&
			present(near, a.Client, at(h, a.Returned)-t.Trips, first) {
			return true
		}
	}
	return false
}
