package checker

import "time"

// HeldUntilTold is the history of a lock whose leases have no end that the holder
// knows, such as a session that the servers keep alive: a holder has the lock until
// it releases it or is told that it has lost it. The history must have a Timing.
//
// A holder that is paused, or does not reach the servers, cannot be told. One that
// runs and reaches them must be told within a time that the lock states, its
// detection bound. If another client has a claim meanwhile, and for no longer, the
// claim of the first ends where the other begins: what is left is its belief (see
// [Facts.BeliefOverlaps]), and no violation. An overlap that lasts longer than the
// bound while the first holder runs and reaches the servers stays one of claims.
func (h History) HeldUntilTold(detection time.Duration) History {
	told := make([]Grant, len(h.Grants))
	for i, g := range h.Grants {
		told[i] = g
		if first, excusable := h.rivalsOf(g, detection); excusable {
			told[i].Doubted = max(g.Granted+1, first-1)
		}
	}
	h.Grants = told
	return h
}

// rivalsOf looks at the grants to others within the claim of a grant. first is the
// earliest of them; excusable says that there is one, and that the holder could not
// have been told of any of them within the bound.
func (h History) rivalsOf(g Grant, detection time.Duration) (first Pos, excusable bool) {
	claim := g.Claim()
	for _, other := range h.Grants {
		if other.ID == g.ID || other.Resource != g.Resource || !h.excludes(g, other) || other.Granted <= g.Granted ||
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
	var away []Span
	for _, a := range t.Away[client] {
		away = append(away, a.Span)
	}
	from := s.From
	for _, a := range joined(away) {
		if a.To <= from {
			continue
		}
		longest = max(longest, min(a.From, s.To)-from)
		from = a.To
	}
	return max(longest, s.To-from)
}
