package bruteforce

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/lock/promise"
)

// leaders are the facts about leaders, of a history with Leads.
func leaders(h checker.History, f *checker.Facts) {
	if !h.Leads {
		return
	}
	var together time.Duration
	f.ActedAtOnce, together = actedAtOnce(h)
	f.ActedAtOnceSeconds = together.Seconds()
	if h.Timing == nil {
		return
	}
	f.ActedAfterLossSeconds = actedAfterLoss(h).Seconds()
	for _, resource := range lockNames(h) {
		longest := longestOf(whenNone(h, resource, acquires(h, resource)))
		f.LeaderlessSeconds = max(f.LeaderlessSeconds, longest.Seconds())
		for _, a := range acquires(h, resource) {
			for _, s := range whenNone(h, resource, []acquire{a}) {
				if h.Timing.Steady && h.Timing.Leaderless > 0 && s.To > ledBy(h, resource, a, s) {
					f.LeaderlessOverdue++
				}
			}
		}
	}
}

// acted is where an operation acted: "at which the store decided on an operation under it, or at which one was called
// that did not reach the store."
func acted(o checker.Op) checker.Pos {
	if o.Applied != 0 {
		return o.Applied
	}
	return o.Invoked
}

// acts reports whether a position lies between the first and the last one at which a grant's client acted.
func acts(h checker.History, g checker.Grant, p checker.Pos) bool {
	before, after := false, false
	for _, o := range h.Ops {
		if o.Grant == g.ID {
			before, after = before || acted(o) <= p, after || acted(o) >= p
		}
	}
	return before && after
}

// "Two act at once if one of these positions of one of them lies between the first and the last one of the other.
// Such grants are of two clients, or of one whose lock is not reentrant." "ActedAtOnceSeconds is the time of these
// pairs: from the later one of their two first positions to the earlier one of their two last ones. Time of two
// pairs, for one lock, counts once."
func actedAtOnce(h checker.History) (pairs int, together time.Duration) {
	shared := map[checker.Resource][]checker.Span{}
	for i, a := range h.Grants {
		for _, b := range h.Grants[:i] {
			if a.Resource != b.Resource || bothIn(h, a, b) {
				continue
			}
			var both []checker.Pos
			for _, o := range h.Ops {
				if acts(h, a, acted(o)) && acts(h, b, acted(o)) {
					both = append(both, acted(o))
				}
			}
			if len(both) == 0 {
				continue
			}
			pairs++
			if h.Timing != nil {
				shared[a.Resource] = append(shared[a.Resource], checker.Span{From: at(h, slices.Min(both)),
					To: at(h, slices.Max(both))})
			}
		}
	}
	for _, spans := range shared {
		together += covered(spans)
	}
	return pairs, together
}

// "ActedAfterLossSeconds is the longest time from the loss of a grant to the last such position of it after that and,
// by the record, before the next Holding of the client began."
func actedAfterLoss(h checker.History) (longest time.Duration) {
	for _, o := range h.Ops {
		for _, g := range h.Grants {
			lost, instant, recorded := lossOf(h, g)
			if g.ID != o.Grant || lost == 0 || acted(o) <= lost {
				continue
			}
			again := recorded && slices.ContainsFunc(h.Holdings, func(s checker.Holding) bool {
				return s.Client == g.Client && s.Resource == g.Resource && s.From > g.Granted && s.From <= acted(o)
			})
			if !again {
				longest = max(longest, at(h, acted(o))-instant)
			}
		}
	}
	return longest
}

// whenNone are the longest times in which, at each instant, one of the Acquires "was pending of a client that was not
// away and whose context had not ended, and no client led: none had a claim and ran". It walks over every instant at
// which anything changes.
func whenNone(h checker.History, resource checker.Resource, campaigns []acquire) (times []checker.Span) {
	instants := changes(h)
	for i := 1; i < len(instants); i++ {
		from, to := instants[i-1], instants[i]
		campaigning := slices.ContainsFunc(campaigns, func(a acquire) bool { return campaigned(h, a, from, to) })
		if !campaigning || led(h, resource, from, to) {
			continue
		}
		if n := len(times); n > 0 && times[n-1].To == from {
			times[n-1].To = to
		} else {
			times = append(times, checker.Span{From: from, To: to})
		}
	}
	return times
}

// changes are the instants of a history at which anything may change, in order.
func changes(h checker.History) (instants []time.Duration) {
	last := h.Timing.At[len(h.Timing.At)-1]
	for _, p := range named(h) {
		instants = append(instants, at(h, p))
	}
	for _, absences := range h.Timing.Away {
		for _, a := range absences {
			instants = append(instants, a.From, a.To)
		}
	}
	for _, a := range h.Attempts {
		instants = append(instants, a.ContextEnded)
	}
	instants = append(instants, last)
	slices.Sort(instants)
	return slices.DeleteFunc(slices.Compact(instants), func(t time.Duration) bool { return t > last })
}

// throughout reports whether an interval of positions, which has no end if that is 0, covers a time.
func throughout(h checker.History, start, end checker.Pos, from, to time.Duration) bool {
	return at(h, start) <= from && (end == 0 || at(h, end) >= to)
}

// campaigned reports whether an Acquire was pending between two instants, of a client that was not away.
func campaigned(h checker.History, a acquire, from, to time.Duration) bool {
	away := slices.ContainsFunc(h.Timing.Away[a.client], func(s checker.Absence) bool {
		return s.From <= from &&
			to <= s.To
	})
	return throughout(h, a.invoked, a.returned, from, to) && !crashedWhileAsking(h, a, from) && !away &&
		(a.ended == 0 || to <= a.ended)
}

// led reports whether a client led a resource between two instants: it "had a claim and ran".
func led(h checker.History, resource checker.Resource, from, to time.Duration) bool {
	return slices.ContainsFunc(h.Grants, func(g checker.Grant) bool {
		stopped := slices.ContainsFunc(h.Timing.Away[g.Client], func(s checker.Absence) bool {
			return !s.Running &&
				s.From <= from && to <= s.To
		})
		return g.Resource == resource && hadClaim(g) && !stopped && throughout(h, g.Granted, claimEnd(g), from, to)
	})
}

func longestOf(times []checker.Span) (longest time.Duration) {
	for _, s := range times {
		longest = max(longest, s.To-s.From)
	}
	return longest
}

// ledBy is when a client must lead. "LeaderlessOverdue counts such times that went on longer than Leaderless and a
// Grace after their beginning, after a cause as for Overdue, and after the return of a Release, as far as each of
// these came before the time was over that was allowed until then."
func ledBy(h checker.History, resource checker.Resource, a acquire, s checker.Span) time.Duration {
	events := causes(h, resource)
	for _, g := range h.Grants {
		if g.Resource == resource && g.ReleaseReturned != 0 {
			events = append(events, cause{promise.CauseOther, g.Client, at(h, g.ReleaseReturned), 0, 0})
		}
	}
	deadline := due(h, a, s.From+h.Timing.Leaderless)
	for moved := true; moved; {
		moved = false
		for _, c := range events {
			if end := due(h, a, back(h, c.client, c.at)+c.later+h.Timing.Leaderless); c.at <= deadline && end > deadline {
				deadline, moved = end, true
			}
		}
	}
	return deadline
}
