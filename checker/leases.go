package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// lateGrants counts the grants with an empty claim.
func lateGrants(h History) int {
	count := 0
	for _, g := range h.Grants {
		if g.Claim().Empty() {
			count++
		}
	}
	return count
}

// voidGrants finds the grants that cannot have been meant so. A lease may end
// before Acquire returns, since an answer can be late. But it is counted from
// the request at the earliest, so it cannot have ended when Acquire is called;
// a lock that knows of the loss does not return it; and where nothing is late, it
// outlasts the work that was to be done under it.
func voidGrants(h History) *tally {
	found := &tally{more: "grants without a lease"}
	for _, grants := range grantsByResource(h) {
		for _, g := range grants {
			if g.ExpiredAtCall || g.LostBefore || h.Calm && (g.endedEarly() || g.Taken && g.Doubted > 0 &&
				g.Claim().End == g.Doubted) {
				found.add(func() Reason { return voidReason(g) })
			}
		}
	}
	return found
}

// endedEarly reports whether the lock ended the claim, and not its holder.
func (g Grant) endedEarly() bool {
	end := g.Claim().end()
	return end == g.Until || end == g.Lost || g.Claim().Empty()
}

func voidReason(g Grant) Reason {
	r := Reason{Text: fmt.Sprintf("%s was granted %s%s at step %d with a lease that", g.Client, g.Resource,
		withToken(g.Token), g.Granted), At: []Pos{g.Granted}}
	claim := g.Claim()
	switch {
	case g.ExpiredAtCall:
		r.Text += fmt.Sprintf(" had ended before it called Acquire at step %d: Until must be the instant of the request "+
			"plus the TTL, or the lock must say that its leases have no such end.", g.Invoked)
		r.At = append(r.At, g.Invoked)
	case g.LostBefore:
		r.Text += " the lock knew to be lost by then: it must look at its session, or whatever ends its leases, after the " +
			"last answer, and return an error."
	case claim.Empty():
		r.Text += fmt.Sprintf(" was over by then, since %s, although nothing had gone wrong: the lock excludes nobody.",
			claim.Ended)
	case g.Until == 0:
		r.Text += fmt.Sprintf(" ended at step %d, when %s, although nothing had gone wrong and its holder was still at "+
			"work: renew it in time until its release.", claim.End, claim.Ended)
		r.At = append(r.At, claim.End)
	default:
		r.Text += fmt.Sprintf(" ended at step %d, when %s, although nothing had gone wrong and its holder was still at "+
			"work: is the TTL in the right unit, and does it begin with the request that was granted, not with the call of "+
			"Acquire?", claim.End, claim.Ended)
		r.At, r.Unit = append(r.At, claim.End), true
	}
	return r
}

// revivedClaims finds the grants whose lease began to hold again after another
// grant. The first end of a lease is final for others: they may have the lock
// from then on.
func revivedClaims(h History) *tally {
	found := &tally{more: "leases that began to hold again"}
	for _, grants := range grantsByResource(h) {
		for _, g := range grants {
			if g.Revived == 0 {
				continue
			}
			for _, other := range grants {
				if h.excludes(g, other) && other.ID != g.ID && g.Until < other.Granted && other.Granted < g.Revived &&
					!other.Claim().Empty() {
					found.add(func() Reason { return revivedReason(g, other) })
					break
				}
			}
		}
	}
	return found
}

func revivedReason(g, other Grant) Reason {
	return Reason{
		Text: fmt.Sprintf("The lease of %s on %s had ended at step %d and %s was granted it at step %d, but by step %d the "+
			"lease of %s held again.",
			g.Client, g.Resource, g.Until, other.Client, other.Granted, g.Revived, g.Client),
		At: []Pos{g.Until, other.Granted, g.Revived},
	}
}

// denied finds the attempts that failed in a calm run while the lock was free. A
// lock may refuse to wait, but only for a lock that another client has.
func denied(h History) *tally {
	found := &tally{more: "attempts that failed although the lock was free"}
	if !h.Calm {
		return found
	}
	for _, a := range slices.SortedFunc(slices.Values(h.Attempts), byAsking) {
		if a.Returned == 0 || a.ContextEnded > 0 {
			continue
		}
		asked := pending(a.Invoked, a.Returned)
		busy := slices.ContainsFunc(h.Grants, func(g Grant) bool {
			used := Interval{Start: g.Invoked, End: g.ReleaseReturned}
			return g.Resource == a.Resource && g.Client != a.Client && used.Overlaps(asked)
		}) || slices.ContainsFunc(h.Attempts, func(b Attempt) bool {
			return b.Resource == a.Resource && b.Client != a.Client &&
				pending(b.Invoked, cmp.Or(b.Returned, never)).Overlaps(asked)
		})
		if !busy {
			found.add(func() Reason {
				return Reason{Text: fmt.Sprintf("%s asked for %s at step %d and was refused at step %d, although no other client "+
					"had it or asked for it, and nothing had gone wrong.",
					a.Client, a.Resource, a.Invoked, a.Returned), At: []Pos{a.Invoked, a.Returned}}
			})
		}
	}
	return found
}

// HeldUntilTold is the history of a lock whose leases have no end that the holder knows, such as a session that the
// servers keep alive: a holder has the lock until it releases it or is told that it has lost it. The history must
// have a Timing.
//
// A holder that is paused, or does not reach the servers, cannot be told. One that runs and reaches them must be told
// within a time that the lock states, its detection bound ([History.Detection]). If another client has a claim
// meanwhile, and for no longer, the claim of the first ends one position before the other begins, but is not empty:
// what is left is its belief (see [Facts.BeliefOverlaps]), and no violation. If the first holder runs and reaches the
// servers for longer than the bound during any overlap, without interruption, all its overlaps stay those of claims.
//
// A lock that puts its holder out by itself is not excused. If a request takes the lock from its holder while the
// claim lasts ([Taking]), the claim goes on for as long as the holder would have had its key, whatever keeps it from
// being told; then it ends. So a grant to another client by then is an overlap of claims. Of several takings the last
// one counts. One of the holder's own process counts from the call of Acquire on, if the client has not had its key
// again by the grant.
//
// A grant can also reach its client when the lock is another's already: the claim of a grant is empty, and ends no
// other claim, if its client was away between its call of Acquire and the grant, another claim with a higher token
// had begun by then, and the holder of the late grant is told within the detection bound.
func (h History) HeldUntilTold(detection time.Duration) History {
	late := map[int]bool{}
	for _, g := range h.Grants {
		late[g.ID] = h.arrivedLate(g, detection)
	}
	told := make([]Grant, len(h.Grants))
	for i, g := range h.Grants {
		told[i] = g
		if late[g.ID] {
			told[i].Doubted = g.Granted
		} else if taking, taken := h.takingOf(g); taken {
			told[i].Taken = true
			if spent := h.Timing.at(taking.Until); spent > 0 {
				told[i].Doubted = max(g.Granted, spent)
			}
		} else if first, excusable := h.rivalsOf(g, late, detection); excusable {
			told[i].Doubted = max(g.Granted+1, first-1)
		}
	}
	h.Grants, h.Detection = told, detection
	return h
}

// takingOf is the last request that took the lock from the holder of a grant while its claim lasted. One that comes
// in the instant of the notice of the loss comes after it.
func (h History) takingOf(g Grant) (last Taking, taken bool) {
	claim := g.Claim()
	for _, t := range h.Takings {
		of := t.Client == g.Client && t.Resource == g.Resource && t.At < claim.end() &&
			!(g.Lost > 0 && h.Timing.when(g.Lost) <= t.Taken)
		during := t.At > g.Granted || t.By == g.Client && t.At > g.Invoked &&
			!slices.ContainsFunc(h.Holdings, func(s Holding) bool {
				return s.Client == g.Client && s.Resource == g.Resource && s.From >= t.At && s.From <= g.Granted
			})
		if of && during && (!taken || t.At > last.At) {
			last, taken = t, true
		}
	}
	return last, taken
}

// at is the first position at an instant or later; 0 if there is none, or if the instant is 0.
func (t *Timing) at(instant time.Duration) Pos {
	i, _ := slices.BinarySearch(t.At, instant)
	if instant == 0 || i == len(t.At) {
		return 0
	}
	return Pos(i + 1)
}

// arrivedLate reports whether the lock was another's when a grant reached its client.
func (h History) arrivedLate(g Grant, detection time.Duration) bool {
	claim, granted := g.Claim(), h.Timing.when(g.Granted)
	if g.Token == 0 || !h.awayDuring(g.Client, h.Timing.when(g.Invoked), granted) ||
		h.Timing.presence(g.Client, Span{granted, h.Timing.when(claim.end())}) > detection {
		return false
	}
	return slices.ContainsFunc(h.Grants, func(other Grant) bool {
		return other.Resource == g.Resource && h.excludes(g, other) && other.Granted < g.Granted && other.Token > g.Token &&
			claim.Overlaps(other.Claim())
	})
}

// rivalsOf looks at the grants to others within the claim of a grant, apart from those that arrived late. first is the
// earliest of them; excusable says that there is one, and that the holder could not
// have been told of any of them within the bound.
func (h History) rivalsOf(g Grant, late map[int]bool, detection time.Duration) (first Pos, excusable bool) {
	claim := g.Claim()
	for _, other := range h.Grants {
		if other.ID == g.ID || late[other.ID] || other.Resource != g.Resource || !h.excludes(g, other) ||
			other.Granted <= g.Granted ||
			!claim.Overlaps(other.Claim()) {
			continue
		}
		if first == 0 || other.Granted < first {
			first = other.Granted
		}
		both := Span{h.Timing.when(other.Granted), h.Timing.when(min(claim.end(), other.Claim().end()))}
		if h.Timing.presence(g.Client, both) > detection {
			return 0, false
		}
	}
	return first, first > 0
}

// presence is the longest time within a span in which a client ran and reached the
// servers.
func (t *Timing) presence(client string, s Span) (longest time.Duration) {
	from := s.From
	for _, a := range joined(absencesOf(t.Away[client])) {
		if a.To <= from {
			continue
		}
		longest = max(longest, min(a.From, s.To)-from)
		from = a.To
	}
	return max(longest, s.To-from)
}
