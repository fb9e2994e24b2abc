package checker

import (
	"fmt"
	"slices"
	"time"
)

// Duty is what the calls of a lock do for its user, beyond the exclusion of others. Each
// is judged only where nothing can excuse the lock: the client was not away, see
// [Timing.Away], and where that matters the servers were steady, see [Timing.Steady].
type Duty string

// The duties, with what is a breach of each.
const (
	// DutyEnds: an attempt returned more than [Timing.Trips] after its context had
	// ended, or a grant more than [GrantedWithin] after that end, and the client was not
	// away from that end on; or an attempt that failed left its place in the queue behind,
	// although its client had not been away before its return; or, on steady servers
	// and where messages are in order ([Timing.InOrder]), the record of the nodes gave
	// the lock to its client after its call, and before the next call of Acquire by
	// that client, and had it at the return of the attempt or later, although the
	// client was never away. The last is judged where entry is exclusive, and keys do not
	// end with sessions ([History.SessionKeys]).
	DutyEnds Duty = "ends"
	// DutyWaits: an attempt returned before its context had ended, although its client
	// had not been away before, on steady servers and a prompt network
	// ([Timing.Prompt]).
	DutyWaits Duty = "waits"
	// DutyReports: a release succeeded on steady servers, and by the nodes' record its
	// client had the lock without a gap from the grant to the return of the release,
	// or had it neither when the release was called nor at any time until it returned;
	// or the lock announced the loss of the lease after the release had been called,
	// and the client was not away from then to the announcement;
	// or a release returned and the context of the lease had not ended at the instant
	// of its call, although the client was not away from then to the return.
	// The first is judged where entry is exclusive; the first two only if by the record
	// the client had the lock at some time from the call of Acquire to the call of the
	// release.
	// Or, on steady servers and a prompt network, a release failed before its context had
	// ended, although by the record its client had the lock without a gap from the grant to
	// the call, and it had not been away before the return; or a release failed whose context
	// had ended when it was called, although by the record its client had the lock without a
	// gap from the grant to the return, and it had not been away before the return (F29); or a
	// release returned that the
	// lock was not held, although the client had it without a gap from the grant to the
	// return, and had not been away before the grant or, where keys end with sessions
	// ([History.SessionKeys]), before the return. The last is judged where entry is
	// exclusive.
	DutyReports Duty = "reports"
	// DutyRenews: on steady servers and a prompt network the claim of a grant was ended
	// by the lock, and its client had not been away during the last third of a
	// [Timing.Lease] before.
	DutyRenews Duty = "renews"
	// DutyTells: the validity of a lease ended after the grant and before its release,
	// and the loss was announced more than [ToldWithin] later, or not before a release
	// that was called more than that later, and the client was not away from that end
	// to the announcement or the call.
	DutyTells Duty = "tells"
	// DutyTries: a try returned more than twice [Timing.Trips] after its call, and the client
	// was not away from the call to the return.
	DutyTries Duty = "tries"
	// DutyExplains: an attempt returned an error that does not wrap that of its context,
	// which had ended, on steady servers and a prompt network, and the client was not away
	// before the return.
	DutyExplains Duty = "explains"
	// DutyKeeps: a lease was not as the lock says. The client sees that by itself: see
	// [Grant.Unkept].
	DutyKeeps Duty = "keeps"
	// DutyReturns: a [Call] with a time by which it had to return did so more than [Timing.Trips] later, and the
	// client ran all the time from the call to the return: it may have been away, see
	// [Absence.Running].
	DutyReturns Duty = "returns"
	// DutyWakes: on steady servers and a prompt network a client waited for the lock, not
	// by tries, and no client had it for longer than twice [Timing.Trips], although no
	// [Cause] but [CauseOther] had occurred by the end of these two. An Acquire that
	// returned without a grant by then is no such cause, if messages are in order
	// ([Timing.InOrder]) and entry is exclusive: it undoes what it asked for, and tells the
	// next, within twice Trips after its return, and whatever occurs by the end of those
	// counts too.
	DutyWakes Duty = "wakes"
	// DutySpares: on steady servers and a prompt network a client sent more requests than
	// its [Pace] allows, and it ran all the time meanwhile. From the call of an Acquire that did
	// not ask by tries to its return these are for each server 8, and 2 for each try, of
	// which there may be one more than pauses fit into the time, and 4 for each claim on the
	// resource that ended, and each attempt that returned, meanwhile. If the lock promises
	// [DutyRenews], they are from a grant to the end of its claim for each server 8, and 2 for
	// each renewal, of which there may be one more than fit into the time, and 4 for each
	// time that a section extends the lease. The 2 are 4 if the client was away meanwhile. The
	// second is not judged if the client called Acquire for the resource again meanwhile.
	DutySpares Duty = "spares"
)

// GrantedWithin is how long after the end of the context of an Acquire a grant counts as made at that end: locks, clients
// and servers count their timeouts in milliseconds, and clocks that drift round instants.
const GrantedWithin = time.Millisecond

// ToldWithin is how long after the end of a lease its loss counts as announced at that end.
const ToldWithin = 10 * time.Millisecond

// Duties lists the duties. The caller owns the slice.
func Duties() []Duty {
	return []Duty{DutyEnds, DutyWaits, DutyReports, DutyRenews, DutyTells, DutyTries, DutyExplains, DutyKeeps, DutyReturns, DutyWakes, DutySpares}
}

// has reports whether the lock promises a duty.
func (h History) has(d Duty) bool { return slices.Contains(h.Duties, d) }

// misconduct finds the breaches of the duties. A call may break several.
func misconduct(h History) *tally {
	found := &tally{more: "calls that did not end as the lock promises"}
	if h.Timing == nil || len(h.Duties) == 0 {
		return found
	}
	records := holdingsOf(h)
	for _, a := range slices.SortedFunc(slices.Values(h.Attempts), byAsking) {
		if a.Returned == 0 {
			continue
		}
		if h.has(DutyEnds) && h.outlasted(a) {
			found.breach(DutyEnds, func() Reason {
				return Reason{Text: fmt.Sprintf("%s asked for %s at step %d, its context ended %v before Acquire returned at step %d, and nothing kept the lock from returning.",
					a.Client, a.Resource, a.Invoked, h.Timing.when(a.Returned)-a.ContextEnded, a.Returned), At: []Pos{a.Invoked, a.Returned}}
			})
		}
		if h.has(DutyEnds) && h.leftBehind(a) {
			found.breach(DutyEnds, func() Reason {
				return Reason{Text: fmt.Sprintf("%s gave up asking for %s at step %d, and its place in the queue, of step %d, was still there, although nothing had gone wrong.",
					a.Client, a.Resource, a.Returned, a.Enqueued), At: []Pos{a.Returned, a.Enqueued}}
			})
		}
		if h.has(DutyEnds) && h.keyLeft(a, records[holder{a.Client, a.Resource}]) {
			found.breach(DutyEnds, func() Reason {
				return Reason{Text: fmt.Sprintf("%s gave up asking for %s at step %d, and its key was there afterwards, although nothing had gone wrong.",
					a.Client, a.Resource, a.Returned), At: []Pos{a.Returned}}
			})
		}
		if h.has(DutyWaits) && h.gaveUp(a) {
			found.breach(DutyWaits, func() Reason {
				return Reason{Text: fmt.Sprintf("%s asked for %s at step %d, and the lock gave up at step %d, although nothing had gone wrong and the context of Acquire had not ended.",
					a.Client, a.Resource, a.Invoked, a.Returned), At: []Pos{a.Invoked, a.Returned}}
			})
		}
		if h.has(DutyExplains) && a.Unexplained && h.Timing.Steady && h.Timing.Prompt && !h.awayDuring(a.Client, 0, h.Timing.when(a.Returned)) {
			found.breach(DutyExplains, func() Reason {
				return Reason{Text: fmt.Sprintf("%s asked for %s at step %d until its context ended, and the error of step %d does not wrap that of the context.",
					a.Client, a.Resource, a.Invoked, a.Returned), At: []Pos{a.Invoked, a.Returned}}
			})
		}
	}
	for _, t := range h.Tries {
		if h.has(DutyTries) && t.Returned > t.Called+2*h.Timing.Trips && !h.awayDuring(t.Client, t.Called, t.Returned) {
			found.breach(DutyTries, func() Reason {
				return Reason{Text: fmt.Sprintf("%s tried to get %s without waiting, and the answer took %v, although nothing had gone wrong.",
					t.Client, t.Resource, t.Returned-t.Called), At: []Pos{t.Invoked}}
			})
		}
	}
	for _, grants := range grantsByResource(h) {
		for _, g := range grants {
			if h.has(DutyKeeps) {
				for _, what := range g.Unkept {
					found.breach(DutyKeeps, func() Reason {
						return Reason{Text: fmt.Sprintf("%s was granted %s at step %d, and %s.", g.Client, g.Resource, g.Granted, what), At: []Pos{g.Granted}}
					})
				}
			}
			if h.has(DutyEnds) && g.ContextEnded > 0 && h.Timing.when(g.Granted) > g.ContextEnded+GrantedWithin && !h.awayDuring(g.Client, g.ContextEnded, h.Timing.when(g.Granted)) {
				found.breach(DutyEnds, func() Reason {
					return Reason{Text: fmt.Sprintf("%s was granted %s at step %d, %v after the context of its Acquire had ended.",
						g.Client, g.Resource, g.Granted, h.Timing.when(g.Granted)-g.ContextEnded), At: []Pos{g.Granted}}
				})
			}
			if h.has(DutyReports) {
				if what := h.falselyReleased(g, records[holder{g.Client, g.Resource}]); what != "" {
					found.breach(DutyReports, func() Reason {
						return Reason{Text: fmt.Sprintf("%s released %s at step %d, and Release returned no error at step %d, although %s.",
							g.Client, g.Resource, g.Released, g.ReleaseReturned, what), At: []Pos{g.Released, g.ReleaseReturned}}
					})
				}
			}
			if h.has(DutyReports) {
				if what := h.falselyRefused(g, records[holder{g.Client, g.Resource}]); what != "" {
					found.breach(DutyReports, func() Reason {
						return Reason{Text: fmt.Sprintf("%s released %s at step %d, and Release %s.", g.Client, g.Resource, g.Released, what),
							At: []Pos{g.Released, g.ReleaseReturned}}
					})
				}
			}
			if h.has(DutyReports) && h.endsLate(g) {
				found.breach(DutyReports, func() Reason {
					return Reason{Text: fmt.Sprintf("%s released %s at step %d, and the context of its lease had not ended by then.",
						g.Client, g.Resource, g.Released), At: []Pos{g.Released}}
				})
			}
			if h.has(DutyTells) && h.toldLate(g) {
				found.breach(DutyTells, func() Reason {
					return Reason{Text: fmt.Sprintf("The lease of %s on %s, of step %d, ended at step %d by the holder's clock, and the lock did not announce it.",
						g.Client, g.Resource, g.Granted, g.Until), At: []Pos{g.Granted, g.Until}}
				})
			}
			if h.has(DutyRenews) && h.lostNeedlessly(g) {
				found.breach(DutyRenews, func() Reason {
					claim := g.Claim()
					return Reason{Text: fmt.Sprintf("The lease of %s on %s, of step %d, ended at step %d, when %s: nothing had kept the lock from renewing it for a third of a TTL.",
						g.Client, g.Resource, g.Granted, claim.End, claim.Ended), At: []Pos{g.Granted, claim.End}}
				})
			}
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

// outlasted reports whether an attempt returned long after its context had ended.
func (h History) outlasted(a Attempt) bool {
	returned := h.Timing.when(a.Returned)
	return a.ContextEnded > 0 && returned > a.ContextEnded+h.Timing.Trips && !h.awayDuring(a.Client, a.ContextEnded, returned)
}

// leftBehind reports whether an attempt that failed left its place in the queue. One of
// unknown outcome may have joined the queue late.
func (h History) leftBehind(a Attempt) bool {
	return a.Outcome == OutcomeFailed && a.Enqueued > 0 && a.Enqueued <= a.Returned && (a.Left == 0 || a.Left > a.Returned) &&
		h.Timing.Steady && !h.awayDuring(a.Client, 0, h.Timing.when(a.Returned))
}

// keyLeft reports whether an attempt left a key behind.
func (h History) keyLeft(a Attempt, record holdings) bool {
	if !h.Timing.Steady || !h.Timing.InOrder || h.SessionKeys || h.Entry == EntryReentrant ||
		len(h.Timing.Away[a.Client]) > 0 {
		return false
	}
	return slices.ContainsFunc(h.keysOf(a, record), func(s Holding) bool { return s.Span().end() > a.Returned })
}

// endsLate reports whether the context of a lease went on when its release was called.
func (h History) endsLate(g Grant) bool {
	if g.ReleaseReturned == 0 {
		return false
	}
	called := h.Timing.when(g.Released)
	return (g.LeaseEnded == 0 || g.LeaseEnded > called) && !h.awayDuring(g.Client, called, h.Timing.when(g.ReleaseReturned))
}

// gaveUp reports whether an attempt ended before its context.
func (h History) gaveUp(a Attempt) bool {
	return a.ContextEnded == 0 && h.Timing.Steady && h.Timing.Prompt && !h.awayDuring(a.Client, 0, h.Timing.when(a.Returned))
}

// falselyReleased says what contradicts a release without an error; "" if nothing does.
func (h History) falselyReleased(g Grant, record holdings) string {
	switch {
	case !g.ReleaseSucceeded:
		return ""
	case g.Lost > g.Released && !h.awayDuring(g.Client, h.Timing.when(g.Released), h.Timing.when(g.Lost)):
		return "the lock announced the loss of the lease afterwards"
	case !h.Timing.Steady:
		return ""
	}
	had, at := false, false
	for _, s := range record {
		had = had || s.From <= g.Released && s.Span().end() > g.Invoked
		at = at || s.From <= g.ReleaseReturned && s.Span().end() > g.Released
	}
	switch _, kept := record.since(g.Granted, g.ReleaseReturned); {
	case had && !at:
		return "the nodes had given up its key before"
	case kept && h.Entry != EntryReentrant:
		return "the nodes still had its key"
	}
	return ""
}

// falselyRefused says what is wrong with a release that returned an error; "" if nothing is.
func (h History) falselyRefused(g Grant, record holdings) string {
	if g.ReleaseReturned == 0 || !h.Timing.Steady || !h.Timing.Prompt {
		return ""
	}
	if g.ReleaseFailed && !g.ReleaseContextEnded && !h.awayDuring(g.Client, 0, h.Timing.when(g.ReleaseReturned)) {
		if _, kept := record.since(g.Granted, g.Released); kept {
			return fmt.Sprintf("failed at step %d, although nothing had gone wrong and the client still had the lock", g.ReleaseReturned)
		}
	}
	if g.ReleaseContextOver && !g.ReleaseSucceeded && !g.ReleaseNotHeld && !h.awayDuring(g.Client, 0, h.Timing.when(g.ReleaseReturned)) {
		if _, kept := record.since(g.Granted, g.ReleaseReturned); kept {
			return fmt.Sprintf("failed at step %d, since the context of its caller had ended, and the nodes still had its key", g.ReleaseReturned)
		}
	}
	until := g.Granted
	if h.SessionKeys {
		until = g.ReleaseReturned
	}
	if g.ReleaseNotHeld && h.Entry != EntryReentrant && !h.awayDuring(g.Client, 0, h.Timing.when(until)) {
		if _, kept := record.since(g.Granted, g.ReleaseReturned); kept {
			return fmt.Sprintf("returned at step %d that the lock was not held, although the nodes had its key all the time", g.ReleaseReturned)
		}
	}
	return ""
}

// lostNeedlessly reports whether the lock ended a claim although it could have renewed
// the lease.
func (h History) lostNeedlessly(g Grant) bool {
	if g.Claim().Empty() || !h.Timing.Steady || !h.Timing.Prompt {
		return false
	}
	end := h.Timing.when(g.Claim().end())
	return g.endedEarly() && !h.awayDuring(g.Client, end-h.Timing.Lease/3, end)
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
