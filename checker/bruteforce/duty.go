package bruteforce

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/lock/promise"
)

// "Misconduct counts the calls that did not end as the lock promises": one for each
// sentence about a duty that is true of a grant or an attempt.
func misconduct(h checker.History) int {
	if h.Timing == nil {
		return 0
	}
	promised := func(d promise.Duty) bool { return slices.Contains(h.Duties, d) }
	n := 0
	count := func(d promise.Duty, breach bool) {
		if promised(d) && breach {
			n++
		}
	}
	for _, a := range h.Attempts {
		if a.Returned == 0 {
			continue
		}
		never := unhindered(h, a.Client, a.Invoked, at(h, a.Returned))
		// "An attempt returned more than Trips after its context had ended, and the client
		// was not away from that end on."
		count(promise.DutyEnds, a.ContextEnded != 0 && at(h, a.Returned)-a.ContextEnded > h.Timing.Trips &&
			present(h, a.Client, a.ContextEnded, at(h, a.Returned)))
		// "An attempt that failed left its place in the queue behind, although nothing had hindered its client."
		count(promise.DutyEnds, a.Outcome == checker.OutcomeFailed && happened(a.Enqueued, a.Returned) &&
			!happened(a.Left, a.Returned) &&
			h.Timing.Steady && never)
		// "Or, on steady servers and where messages are in order, the record of the nodes
		// gave the lock to its client after its call, and before the next call of Acquire by
		// that client, and had it at the return of the attempt or later, although nothing hindered the client from the call
		// on. The last is judged where entry is exclusive."
		count(promise.DutyEnds, h.Timing.Steady && h.Timing.InOrder && !h.SessionKeys && h.Entry != checker.EntryReentrant &&
			unhindered(h, a.Client, a.Invoked, 1<<63-1) &&
			slices.ContainsFunc(h.Holdings, func(s checker.Holding) bool {
				between := func(invoked checker.Pos) bool { return a.Invoked < invoked && invoked <= s.From }
				return s.Client == a.Client && s.Resource == a.Resource && s.From > a.Invoked && !happened(s.To, a.Returned) &&
					!slices.ContainsFunc(h.Grants, func(g checker.Grant) bool { return g.Client == a.Client && between(g.Invoked) }) &&
					!slices.ContainsFunc(h.Attempts, func(b checker.Attempt) bool {
						return b.Client == a.Client &&
							between(b.Invoked)
					})
			}))
		// "An attempt returned before its context had ended, although nothing had hindered its client, on steady servers and
		// a prompt network."
		count(promise.DutyWaits, a.ContextEnded == 0 && never && h.Timing.Steady && h.Timing.Prompt)
		// "An attempt returned an error that does not wrap that of its context, which had
		// ended, on steady servers and a prompt network, and nothing had hindered the client."
		count(promise.DutyExplains, a.Unexplained && never && h.Timing.Steady && h.Timing.Prompt)
	}
	// "A try returned more than twice Trips after its call, and the client was not away from the
	// call to the return."
	for _, t := range h.Tries {
		count(promise.DutyTries, t.Returned-t.Called > 2*h.Timing.Trips && present(h, t.Client, t.Called, t.Returned))
	}
	// "A Call with a time by which it had to return did so more than Trips later, and the client ran all the time from the
	// call to the return."
	for _, c := range h.Calls {
		count(promise.DutyReturns, c.Due != 0 && c.Returned-c.Due > h.Timing.Trips && ran(h, c.Client, c.Called, c.Returned))
	}
	if h.Timing.Steady && h.Timing.Prompt {
		for range unwoken(h) {
			count(promise.DutyWakes, true)
		}
		for range wasteful(h, promised(promise.DutyRenews)) {
			count(promise.DutySpares, true)
		}
	}
	for _, g := range h.Grants {
		// "A lease was not as the lock says."
		for range g.Unkept {
			count(promise.DutyKeeps, true)
		}
		// "Or a grant more than GrantedWithin after that end."
		count(promise.DutyEnds, g.ContextEnded != 0 && at(h, g.Granted)-g.ContextEnded > checker.GrantedWithin &&
			present(h, g.Client, g.ContextEnded, at(h, g.Granted)))
		count(promise.DutyReports, g.ReleaseSucceeded && !truthful(h, g))
		count(promise.DutyReports, refusedFalsely(h, g))
		// "Or a release returned and the context of the lease had not ended at the instant
		// of its call, although the client was not away from then to the return."
		count(promise.DutyReports, g.ReleaseReturned != 0 && !(g.LeaseEnded != 0 && g.LeaseEnded <= at(h, g.Released)) &&
			present(h, g.Client, at(h, g.Released), at(h, g.ReleaseReturned)))
		// "On steady servers and a prompt network the claim of a grant was ended by the
		// lock, and its client had not been away during the last third of a Lease before."
		if end := first(g.Released, g.Crashed, g.Doubted, g.Lost, g.Until); end != 0 && end > g.Granted &&
			(end == g.Lost || end == g.Until) {
			count(promise.DutyRenews, h.Timing.Steady && h.Timing.Prompt &&
				present(h, g.Client, at(h, end)-h.Timing.Lease/3, at(h, end)))
		}
		// "The validity of a lease ended after the grant and before its release, and the loss
		// was announced more than ToldWithin later, or not before a release that was called
		// more than that later, and the client was not away from that end to the
		// announcement or the call."
		if then := first(g.Lost, g.Released); g.Until > g.Granted && then > g.Until {
			count(promise.DutyTells, at(h, then)-at(h, g.Until) > checker.ToldWithin &&
				present(h, g.Client, at(h, g.Until), at(h, then)))
		}
		// "Or the validity was over when the last answer came, and the process of the client had not been stopped at the
		// instant of the grant."
		count(promise.DutyTells, g.OverBefore && ran(h, g.Client, at(h, g.Granted), at(h, g.Granted)))
		count(promise.DutyTells, h.Entry != checker.EntryReentrant && silent(h, g))
		count(promise.DutyTells, h.Timing.Steady && h.Timing.Prompt && h.Entry != checker.EntryReentrant &&
			!promised(promise.DutyRenews) && toldEarly(h, g))
	}
	return n
}

// "Or, where entry is exclusive, the lock knew of the loss after the grant and before the end of the validity, if that
// came, and announced it, or its holder called Release, more than ToldWithin later, before a crash, and the client was
// not away from the first to the second, nor was an Extend of its under way when the lock knew."
func silent(h checker.History, g checker.Grant) bool {
	if !happened(g.Granted, g.Known) || g.Known == g.Granted || happened(g.Until, g.Known) {
		return false
	}
	then := first(g.Lost, g.Released)
	if then == 0 || happened(then, g.Known) || happened(g.Crashed, then) {
		return false
	}
	for _, c := range h.Calls {
		if c.Client == g.Client && c.What == "Extend" && !(at(h, g.Known) < c.Called) && !(c.Returned < at(h, g.Known)) {
			return false
		}
	}
	return at(h, then)-at(h, g.Known) > checker.ToldWithin && present(h, g.Client, at(h, g.Known), at(h, then))
}

// "Or the loss was announced after the grant, before the release and the crash, and more than ToldWithin before the
// end that the validity had at the grant, although by the record its client had the lock without a gap from the grant
// to the announcement, and nothing had hindered it since the call of Acquire."
func toldEarly(h checker.History, g checker.Grant) bool {
	if g.Left == nil || !happened(g.Granted, g.Lost) || g.Lost == g.Granted || g.Lost == g.Released ||
		g.Lost == g.Crashed ||
		first(g.Lost, g.Released, g.Crashed) != g.Lost {
		return false
	}
	still := slices.ContainsFunc(h.Holdings, func(s checker.Holding) bool {
		return s.Client == g.Client && s.Resource == g.Resource && happened(s.From, g.Granted) && !happened(s.To, g.Lost)
	})
	ends := at(h, g.Granted) + *g.Left
	return still && ends-at(h, g.Lost) > checker.ToldWithin && unhindered(h, g.Client, g.Invoked, at(h, g.Lost))
}

// present reports whether a client was never away from one instant to another.
func present(h checker.History, client string, from, to time.Duration) bool {
	return !slices.ContainsFunc(h.Timing.Away[client], func(a checker.Absence) bool {
		return from <= a.From && a.From <= to || a.From <= from && from <= a.To
	})
}

// "Nothing hindered a client from the call of an Acquire to an instant if it was not away meanwhile, nor in the Trips
// before the call, nor had crashed, or was not yet restarted, in the Lease and Trips before it; and no time of Unlinked
// has an instant of these."
func unhindered(h checker.History, client string, called checker.Pos, to time.Duration) bool {
	from := at(h, called)
	for _, a := range h.Timing.Away[client] {
		over := a.To + h.Timing.Trips
		if a.Crash {
			over += h.Timing.Lease
		}
		if over >= from && a.From <= to {
			return false
		}
	}
	for _, s := range h.Timing.Unlinked[client] {
		if s.To >= from && s.From <= to {
			return false
		}
	}
	return true
}

// ran reports whether a client ran at every instant of a time, wherever its messages were.
func ran(h checker.History, client string, from, to time.Duration) bool {
	return !slices.ContainsFunc(h.Timing.Away[client], func(a checker.Absence) bool {
		return !a.Running && (from <= a.From && a.From <= to || a.From <= from && from <= a.To)
	})
}

// "A client waited for the lock, not by tries, and no client had it for longer than twice
// Trips, although no Cause but CauseOther had occurred by the end of these two. An Acquire
// that returned without a grant by then is no such cause, if messages are in order and entry
// is exclusive: it undoes what it asked for, and tells the next, within twice Trips after its
// return, and whatever occurs by the end of those counts too."
func unwoken(h checker.History) (n int) {
	gives := h.Timing.InOrder && h.Entry != checker.EntryReentrant
	others := h // without the causes that are none
	if gives {
		others.Attempts = slices.DeleteFunc(slices.Clone(h.Attempts), func(a checker.Attempt) bool { return a.Returned != 0 })
	}
	for _, resource := range lockNames(h) {
		for _, a := range acquires(h, resource) {
			for _, s := range idleTimes(h, resource, a) {
				end := s.From + 2*h.Timing.Trips
				for moved := gives; moved; {
					moved = false
					for _, b := range h.Attempts {
						if b.Resource != resource || b.Returned == 0 {
							continue
						}
						if left := at(h, b.Returned); left <= end && left+2*h.Timing.Trips > end {
							end, moved = left+2*h.Timing.Trips, true
						}
					}
				}
				wrong := slices.ContainsFunc(causes(others, resource), func(c cause) bool { return c.at <= end })
				if s.To > end && !wrong && !tried(h, a.client, a.invoked) {
					n++
				}
			}
		}
	}
	return n
}

func tried(h checker.History, client string, invoked checker.Pos) bool {
	for _, t := range h.Tries {
		if t.Client == client && t.Invoked == invoked {
			return true
		}
	}
	return false
}

// "A client sent more requests than its Pace allows, and it ran all the time meanwhile."
func wasteful(h checker.History, renews bool) (n int) {
	pace := h.Timing.Pace
	if pace == nil {
		return 0
	}
	tooMany := func(client string, from, to time.Duration, every time.Duration, more int) bool {
		sends := 0
		for _, at := range h.Timing.Sends[client] {
			if at > from && at <= to {
				sends++
			}
		}
		tries := 1
		for t := every; t <= to-from; t += every {
			tries++
		}
		requests := 2 * tries
		if !present(h, client, from, to) { // "The 2 are 4 if the client was away meanwhile."
			requests *= 2
		}
		return sends > pace.Servers*(8+requests+4*more) && ran(h, client, from, to)
	}
	for _, resource := range lockNames(h) {
		// "From the call of an Acquire that did not ask by tries to its return these are for
		// each server 8, and 2 for each try, of which there may be one more than pauses fit
		// into the time, and 4 for each claim on the resource that ended, and each attempt that
		// returned, meanwhile."
		for _, a := range acquires(h, resource) {
			if a.returned == 0 || tried(h, a.client, a.invoked) {
				continue
			}
			more := 0
			meanwhile := func(p checker.Pos) bool { return p > a.invoked && p < a.returned }
			for _, g := range h.Grants {
				if end := first(g.Released, g.Lost, g.Until, g.Crashed, g.Doubted); g.Resource == resource && hadClaim(g) &&
					meanwhile(end) {
					more++
				}
			}
			for _, b := range h.Attempts {
				if b.Resource == resource && meanwhile(b.Returned) {
					more++
				}
			}
			if tooMany(a.client, at(h, a.invoked), at(h, a.returned), pace.Pause, more) {
				n++
			}
		}
		// "If the lock promises DutyRenews, they are from a grant to the end of its claim for
		// each server 8, and 2 for each renewal, of which there may be one more than fit into
		// the time, and 4 for each time that a section extends the lease. The second is not
		// judged if the client called Acquire for the resource again meanwhile."
		for _, g := range h.Grants {
			end := first(g.Released, g.Lost, g.Until, g.Crashed, g.Doubted)
			again := slices.ContainsFunc(acquires(h, resource), func(a acquire) bool {
				return a.client == g.Client && a.invoked >= g.Granted && a.invoked < end
			})
			if g.Resource == resource && renews && end != 0 && hadClaim(g) && !again &&
				tooMany(g.Client, at(h, g.Granted), at(h, end), pace.Renewal, pace.Extends) {
				n++
			}
		}
	}
	return n
}

// "Or, on steady servers and a prompt network, a release failed before its context had ended, although by the record
// its client had the lock without a gap from the grant to the call, and nothing had hindered it; but
// not if by the return the lease had ended, and the client had not got the lock by the record, and no deletion by the
// client was why; or a release failed whose context had ended when it was called, although by the record its client
// had the lock without a gap from the grant to the return, and nothing had hindered it (F29); or a
// release returned that the lock was not held, although the client had it without a gap from the grant to the return,
// and nothing had hindered it until the grant or, where keys end with sessions, until the return. The last is judged
// where entry is exclusive."
func refusedFalsely(h checker.History, g checker.Grant) bool {
	if !h.Timing.Steady || !h.Timing.Prompt || g.ReleaseReturned == 0 {
		return false
	}
	throughout := func(to checker.Pos) bool {
		return slices.ContainsFunc(h.Holdings, func(s checker.Holding) bool {
			return s.Client == g.Client && s.Resource == g.Resource && happened(s.From, g.Granted) && !happened(s.To, to)
		})
	}
	deleted := slices.ContainsFunc(h.Deletions, func(d checker.Deletion) bool {
		return d.By == g.Client && d.Resource == g.Resource && !happened(d.At, g.Released) &&
			happened(d.At, g.ReleaseReturned)
	})
	ranOut := happened(g.Until, g.ReleaseReturned) && !throughout(g.ReleaseReturned) && !deleted
	failed := g.ReleaseFailed && !g.ReleaseContextEnded && throughout(g.Released) && !ranOut &&
		unhindered(h, g.Client, g.Invoked, at(h, g.ReleaseReturned))
	until := g.Granted
	if h.SessionKeys {
		until = g.ReleaseReturned
	}
	denied := g.ReleaseNotHeld && h.Entry != checker.EntryReentrant && throughout(g.ReleaseReturned) &&
		unhindered(h, g.Client, g.Invoked, at(h, until))
	cut := g.ReleaseContextOver && !g.ReleaseSucceeded && !g.ReleaseNotHeld && throughout(g.ReleaseReturned) &&
		unhindered(h, g.Client, g.Invoked, at(h, g.ReleaseReturned))
	return failed || denied || cut
}

// "A release succeeded on steady servers, and by the nodes' record its client had the
// lock without a gap from the grant to the return of the release, or had it neither when
// the release was called nor at any time until it returned. The first is judged where entry is
// exclusive, unless a request of the client came again meanwhile and it had been away between the call of Acquire and
// the return; both only if by the record the client had the lock at some time from
// the call of Acquire to the call of the release."
func truthful(h checker.History, g checker.Grant) bool {
	if !h.Timing.Steady {
		return true
	}
	had, throughout, meanwhile := false, false, false
	for _, s := range h.Holdings {
		if s.Client != g.Client || s.Resource != g.Resource {
			continue
		}
		has := func(p checker.Pos) bool { return happened(s.From, p) && !happened(s.To, p) }
		throughout = throughout || has(g.Granted) && has(g.ReleaseReturned) &&
			(s.Again == 0 || present(h, g.Client, at(h, g.Invoked), at(h, g.ReleaseReturned)))
		for p := g.Invoked; p <= g.ReleaseReturned; p++ {
			had = had || has(p) && p <= g.Released
			meanwhile = meanwhile || has(p) && p >= g.Released
		}
	}
	return !had || meanwhile && !(throughout && h.Entry != checker.EntryReentrant)
}
