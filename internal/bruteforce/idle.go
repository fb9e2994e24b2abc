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
		for _, s := range idleTimes(h, resource) {
			lasted := s.To - s.From - h.Timing.Slack
			if lasted <= 0 {
				continue
			}
			total += lasted
			if s.To-h.Timing.Slack > allowed(h, resource, s) {
				overdue++
			}
		}
	}
	return total.Seconds(), overdue
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

// at is the instant of a position.
func at(h checker.History, p checker.Pos) time.Duration { return h.Timing.At[p-1] }

// idleTimes are the longest times in which the lock was idle: it walks over every
// instant at which anything changes.
func idleTimes(h checker.History, resource string) []checker.Span {
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
		if to > h.Timing.At[len(h.Timing.At)-1] || !isIdle(h, resource, from, to) {
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

// isIdle reports whether the lock was idle between two instants between which
// nothing changed.
func isIdle(h checker.History, resource string, from, to time.Duration) bool {
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
	for client := range asking {
		if away(client) {
			busy[client] = true
		}
	}
	for client := range asking {
		others := slices.DeleteFunc(slices.Collect(maps.Keys(busy)), func(other string) bool { return other == client })
		if !claimed && !away(client) && len(others) == 0 {
			return true
		}
	}
	return false
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
	after := func(cause checker.Cause, when time.Duration) {
		if when <= idle.To {
			until = max(until, when+within[cause])
		}
	}
	for _, g := range h.Grants {
		if g.Resource != resource {
			continue
		}
		// "A holder, or a client that asked for the lock, that ended."
		if g.Crashed != 0 && g.ReleaseReturned == 0 {
			after(checker.CauseCrash, at(h, g.Crashed))
		}
		// "A Release that failed."
		if g.ReleaseFailed && g.ReleaseReturned != 0 {
			after(checker.CauseFailedRelease, at(h, g.ReleaseReturned))
		}
		// "A lease that ended."
		if g.Until != 0 && g.Claim().End == g.Until {
			after(checker.CauseExpiry, at(h, g.Until))
		}
	}
	for _, a := range h.Attempts {
		if a.Resource != resource {
			continue
		}
		for _, s := range h.Timing.Away[a.Client] {
			if s.Crash && a.Returned == 0 && at(h, a.Invoked) <= s.From {
				after(checker.CauseCrash, s.From)
			}
		}
		switch {
		case a.Returned == 0:
		// "An Acquire whose outcome its client does not know."
		case a.Outcome == checker.OutcomeUnknown:
			after(checker.CauseLostReply, at(h, a.Returned))
		// "An Acquire that failed, was cancelled or timed out."
		default:
			after(checker.CauseCancelled, at(h, a.Returned))
		}
	}
	return until
}
