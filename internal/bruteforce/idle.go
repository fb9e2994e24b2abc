package bruteforce

import (
	"maps"
	"slices"
	"time"

	"locksim/checker"
)

// "IdleSeconds is the time in which a client waited for the lock, no client had it,
// and nobody got it. The client ran and reached the servers; no other client claimed
// the lock, believed that it had it, was releasing it, or was away while it asked for
// it. One backoff and one round trip are subtracted from each such time." "Overdue
// counts the idle times that lasted longer than their cause allows."
func idle(h checker.History) (seconds float64, overdue int) {
	if h.Timing == nil {
		return 0, 0
	}
	var total time.Duration
	for _, resource := range lockNames(h) {
		var counted []checker.Span
		for _, client := range askers(h, resource) {
			for _, s := range idleTimes(h, resource, client) {
				rest := checker.Span{From: s.From + h.Timing.Slack, To: s.To}
				if rest.To <= rest.From {
					continue
				}
				counted = append(counted, rest)
				if rest.To > allowed(h, resource, s) {
					overdue++
				}
			}
		}
		total += covered(counted)
	}
	return total.Seconds(), overdue
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

func lockNames(h checker.History) []string {
	var names []string
	for _, g := range h.Grants {
		names = append(names, g.Resource)
	}
	for _, a := range h.Attempts {
		names = append(names, a.Resource)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// askers are the clients that have asked for a lock.
func askers(h checker.History, resource string) []string {
	var names []string
	for _, g := range h.Grants {
		if g.Resource == resource {
			names = append(names, g.Client)
		}
	}
	for _, a := range h.Attempts {
		if a.Resource == resource {
			names = append(names, a.Client)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// at is the instant of a position.
func at(h checker.History, p checker.Pos) time.Duration { return h.Timing.At[p-1] }

// idleTimes are the longest times in which a client waited for an idle lock: it walks
// over every instant at which anything changes.
func idleTimes(h checker.History, resource, client string) []checker.Span {
	var instants []time.Duration
	for _, p := range named(h) {
		instants = append(instants, at(h, p))
	}
	for _, absences := range h.Timing.Away {
		for _, a := range absences {
			instants = append(instants, a.From, a.To)
		}
	}
	instants = append(instants, h.Timing.At[len(h.Timing.At)-1])
	slices.Sort(instants)
	instants = slices.Compact(instants)

	granted := map[time.Duration]bool{}
	for _, g := range h.Grants {
		if g.Resource == resource {
			granted[at(h, g.Granted)] = true
		}
	}
	var times []checker.Span
	for i := 1; i < len(instants); i++ {
		from, to := instants[i-1], instants[i]
		if to > h.Timing.At[len(h.Timing.At)-1] || !waitsIdly(h, resource, client, from, to) {
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

// waitsIdly reports whether a client waited for an idle lock between two instants
// between which nothing changed.
func waitsIdly(h checker.History, resource, client string, from, to time.Duration) bool {
	// during reports whether an interval of positions covers the time.
	during := func(start, end checker.Pos) bool {
		return start != 0 && at(h, start) <= from && (end == 0 || at(h, end) >= to)
	}
	away := func(client string) bool {
		return slices.ContainsFunc(h.Timing.Away[client], func(a checker.Absence) bool { return a.From <= from && to <= a.To })
	}
	first := func(ends ...checker.Pos) checker.Pos {
		ends = slices.DeleteFunc(ends, func(p checker.Pos) bool { return p == 0 })
		if len(ends) == 0 {
			return 0
		}
		return slices.Min(ends)
	}
	asking := map[string]bool{}
	for _, g := range h.Grants {
		if g.Resource == resource && during(g.Invoked, g.Granted) {
			asking[g.Client] = true
		}
	}
	for _, a := range h.Attempts {
		if a.Resource == resource && during(a.Invoked, a.Returned) && !crashedWhileAsking(h, a, from) {
			asking[a.Client] = true
		}
	}
	claimed, busy := false, map[string]bool{}
	for _, g := range h.Grants {
		if g.Resource != resource {
			continue
		}
		claim := g.Claim()
		if !claim.Empty() && during(claim.Start, claim.End) {
			claimed = true
		}
		belief := g.Belief(h.Care)
		if !belief.Empty() && during(belief.Start, belief.End) || during(g.Released, first(g.ReleaseReturned, g.Crashed)) {
			busy[g.Client] = true
		}
	}
	for other := range asking {
		if away(other) {
			busy[other] = true
		}
	}
	others := slices.DeleteFunc(slices.Collect(maps.Keys(busy)), func(other string) bool { return other == client })
	return asking[client] && !away(client) && !claimed && len(others) == 0
}

// crashedWhileAsking reports whether the client of an attempt that never returned
// ended before an instant: "Crash says that the client ended, and began anew at the
// end of the span if it did."
func crashedWhileAsking(h checker.History, a checker.Attempt, by time.Duration) bool {
	for _, s := range h.Timing.Away[a.Client] {
		if s.Crash && a.Returned == 0 && at(h, a.Invoked) <= s.From && s.From <= by {
			return true
		}
	}
	return false
}

// allowed is the last instant until which an idle time may last: "Within says how
// long after each cause the lock may stay taken although no client has it. A cause
// without an entry allows no time."
func allowed(h checker.History, resource string, idle checker.Span) time.Duration {
	within := h.Timing.Within
	until := idle.From + within[checker.CauseOther]
	// The time begins when the client is back, if it was away: until then its
	// requests may be under way.
	after := func(cause checker.Cause, client string, when time.Duration) {
		for _, s := range h.Timing.Away[client] {
			if !s.Crash && s.From <= when && when <= s.To {
				when = s.To
			}
		}
		if when <= idle.To {
			until = max(until, when+within[cause])
		}
	}
	// "A holder, or a client that asked for the lock, that ended."
	for _, absences := range h.Timing.Away {
		for _, s := range absences {
			if s.Crash && s.From <= idle.To {
				until = max(until, s.From+within[checker.CauseCrash])
			}
		}
	}
	// An absence during an Acquire can lose the reply to one of its requests.
	lostReply := func(client string, invoked, returned checker.Pos) {
		for _, s := range h.Timing.Away[client] {
			if !s.Crash && at(h, invoked) <= s.To && (returned == 0 || s.From <= at(h, returned)) {
				after(checker.CauseLostReply, client, s.To)
			}
		}
	}
	for _, g := range h.Grants {
		if g.Resource != resource {
			continue
		}
		lostReply(g.Client, g.Invoked, g.Granted)
		if g.Crashed != 0 && g.ReleaseReturned == 0 {
			after(checker.CauseCrash, g.Client, at(h, g.Crashed))
		}
		// "A Release that failed."
		if g.ReleaseFailed && g.ReleaseReturned != 0 {
			after(checker.CauseFailedRelease, g.Client, at(h, g.ReleaseReturned))
		}
		// "A lease that ended."
		if end := g.Claim().End; end != 0 && (end == g.Until || end == g.Lost) {
			after(checker.CauseExpiry, g.Client, at(h, end))
		}
	}
	for _, a := range h.Attempts {
		if a.Resource != resource {
			continue
		}
		lostReply(a.Client, a.Invoked, a.Returned)
		switch {
		case a.Returned == 0:
		// "An Acquire whose outcome its client does not know."
		case a.Outcome == checker.OutcomeUnknown:
			after(checker.CauseLostReply, a.Client, at(h, a.Returned))
		// "An Acquire that failed, was cancelled or timed out."
		default:
			after(checker.CauseCancelled, a.Client, at(h, a.Returned))
		}
	}
	return until
}
