package bruteforce

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/lock/promise"
)

// overdueForAll is how many idle times of a resource, over all Acquires, lasted too long.
//
// "Where no idle time of a single Acquire of a resource was overdue, the idle times over all its Acquires count: a
// client that ran and reached the servers wanted it, and none claimed it, believed that it had it, or was releasing
// it, but for a release of a client that was not away, of which only Trips count. A gap of at most a Grace or a
// quarter of a lease does not end such a time, in which none wanted it and none had it. It is overdue if a client
// asked within it after the deadline, and for longer than the Grace."
func overdueForAll(h checker.History, resource checker.Resource) (n int) {
	for _, pieces := range timesForAll(h, resource) {
		deadline := allowedForAll(h, resource, pieces[0].From)
		if slices.ContainsFunc(pieces, func(p checker.Span) bool {
			return p.To > deadline &&
				p.To > dueForAll(h, resource, p.From)
		}) {
			n++
		}
	}
	return n
}

// heldBy are the times in which a client had a resource, and the instants of its grants.
func heldBy(h checker.History, resource checker.Resource) (all []checker.Span) {
	for _, g := range h.Grants {
		if g.Resource != resource {
			continue
		}
		from := at(h, g.Granted)
		all = append(all, checker.Span{From: from, To: from})
		if hadClaim(g) {
			all = append(all, checker.Span{From: from, To: endOf(h, first(g.Released, g.Lost, g.Until, g.Crashed, g.Doubted))})
		}
		all = append(all, checker.Span{From: from, To: max(from, endOf(h, beliefEnd(g, h.Care)))})
		if g.Released == 0 {
			continue
		}
		s := checker.Span{From: at(h, g.Released), To: endOf(h, g.ReleaseReturned)}
		if g.ReleaseReturned == 0 && g.Crashed != 0 {
			s.To = at(h, g.Crashed)
		}
		if present(h, g.Client, s.From, s.To) && s.To > s.From+h.Timing.Trips {
			s.To = s.From + h.Timing.Trips
		}
		all = append(all, s)
	}
	return all
}

// timesForAll are the idle times, each as the pieces in which a client asked.
func timesForAll(h checker.History, resource checker.Resource) (all [][]checker.Span) {
	held := heldBy(h, resource)
	instants := slices.Clone(changes(h))
	for _, s := range held {
		instants = append(instants, s.From, s.To)
	}
	slices.Sort(instants)
	instants = slices.Compact(instants)
	touched := func(from, to time.Duration) bool {
		return slices.ContainsFunc(held, func(s checker.Span) bool { return s.From <= to && from <= s.To })
	}
	var pieces []checker.Span
	for i := 1; i < len(instants); i++ {
		from, to := instants[i-1], instants[i]
		had := slices.ContainsFunc(held, func(s checker.Span) bool { return s.From <= from && to <= s.To })
		wanted := slices.ContainsFunc(acquires(h, resource), func(a acquire) bool {
			gone := slices.ContainsFunc(h.Timing.Away[a.client], func(s checker.Absence) bool {
				return s.From <= from &&
					to <= s.To
			})
			return at(h, a.invoked) <= from && to <= waitsUntil(h, a) && !gone
		})
		cut := slices.ContainsFunc(held, func(s checker.Span) bool { return s.From == s.To && s.From == from })
		if had || !wanted {
			continue
		}
		if n := len(pieces); n > 0 && pieces[n-1].To == from && !cut {
			pieces[n-1].To = to
		} else {
			pieces = append(pieces, checker.Span{From: from, To: to})
		}
	}
	for _, p := range pieces {
		if n := len(all); n > 0 {
			last := all[n-1][len(all[n-1])-1].To
			if p.From-last <= max(h.Timing.Grace, h.Timing.Lease/4) && !touched(last, p.From) {
				all[n-1] = append(all[n-1], p)
				continue
			}
		}
		all = append(all, []checker.Span{p})
	}
	return all
}

// dueForAll: "when the first of the clients that wait at an instant must have a lock that is free from then on".
func dueForAll(h checker.History, resource checker.Resource, free time.Duration) time.Duration {
	var all []time.Duration
	for _, a := range acquires(h, resource) {
		if at(h, a.invoked) <= free && free < waitsUntil(h, a) {
			all = append(all, due(h, a, free))
		}
	}
	if len(all) == 0 {
		return free + h.Timing.Grace
	}
	return slices.Min(all)
}

// allowedForAll: "Of the Acquires that a client gave up or that were not answered, and of its absences, only the
// first counts in an idle time; by the record of the nodes each that took the lock does, from then on."
func allowedForAll(h checker.History, resource checker.Resource, from time.Duration) time.Duration {
	type event struct {
		cause
		once bool
	}
	var all []event
	for _, c := range causes(h, resource) {
		all = append(all, event{c, c.at > from && (c.cause == promise.CauseCancelled || c.cause == promise.CauseLostReply)})
	}
	orphan := promise.CauseLostReply
	if h.Timing.Within[promise.CauseCancelled] > h.Timing.Within[promise.CauseLostReply] {
		orphan = promise.CauseCancelled
	}
	for _, s := range h.Holdings {
		known := slices.ContainsFunc(h.Grants, func(g checker.Grant) bool {
			return g.Client == s.Client && g.Resource == s.Resource && g.Invoked < s.From && !(g.Granted < s.From)
		})
		if s.Resource == resource && !known {
			all = append(all, event{cause{orphan, s.Client, at(h, s.From), 0, 0}, false})
		}
	}
	deadline := dueForAll(h, resource, from+h.Timing.Within[promise.CauseOther])
	slices.SortFunc(all, func(a, b event) int {
		switch {
		case a.at != b.at:
			return int(a.at - b.at)
		case a.cause.cause != b.cause.cause:
			return map[bool]int{true: -1, false: 1}[a.cause.cause < b.cause.cause]
		case a.client != b.client:
			return map[bool]int{true: -1, false: 1}[a.client < b.client]
		case a.once != b.once:
			return map[bool]int{true: -1, false: 1}[a.once]
		}
		return 0
	})
	once := map[string]bool{}
	for _, e := range all {
		if e.at > deadline {
			break
		}
		if e.over > 0 && from >= e.over {
			continue
		}
		if e.once && once[e.client] {
			continue
		}
		if e.once {
			once[e.client] = true
		}
		deadline = max(deadline, dueForAll(h, resource, back(h, e.client, e.at)+e.later+h.Timing.Within[e.cause.cause]))
	}
	return deadline
}
