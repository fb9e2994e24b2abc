package bruteforce

import "locksim/checker"

// grantOf is the grant under which an operation was sent.
func grantOf(h checker.History, o checker.Op) checker.Grant {
	for _, g := range h.Grants {
		if g.ID == o.Grant {
			return g
		}
	}
	panic("bruteforce: an operation without its grant")
}

// "An operation is stale at some instant when a later grant of the same resource had
// already returned by then. In a reentrant lock, an entry of the same client is no
// later grant if it returned before the client ended the one under which the operation
// was sent."
func stale(h checker.History, o checker.Op, at checker.Pos) bool {
	used := grantOf(h, o)
	for _, g := range h.Grants {
		entry := h.Entry == checker.EntryReentrant && g.Client == o.Client && !ended(used, g.Granted)
		if g.Resource == o.Resource && used.Granted < g.Granted && g.Granted < at && !entry {
			return true
		}
	}
	return false
}

// "StaleAccepted counts stale writes that the store took. A stale read that it
// answered is not counted."
func staleAccepted(h checker.History) int {
	n := 0
	for _, o := range h.Ops {
		if o.Kind == checker.Write && o.Applied != 0 && o.Accepted && stale(h, o, o.Applied) {
			n++
		}
	}
	return n
}

// "StaleRejected counts stale writes that the fence refused, and stale reads too."
func staleRejected(h checker.History) int {
	n := 0
	for _, o := range h.Ops {
		if o.Applied != 0 && !o.Accepted && stale(h, o, o.Applied) {
			n++
		}
	}
	return n
}

// "FalseRejects counts reads and writes that were refused although their client was,
// at the store's instant, a rightful holder." "No client is a rightful holder" where all may be in (EntryShared).
func falseRejects(h checker.History) int {
	n := 0
	if h.Entry == checker.EntryShared {
		return n
	}
	for _, o := range h.Ops {
		if o.Applied != 0 && !o.Accepted && (aloneSince(h, o) || heldSince(h, o)) {
			n++
		}
	}
	return n
}

// "It was one if the grant that it used had a claim, no other grant had one (in a
// reentrant lock: none of another client), and no other client had been granted the
// resource since."
func aloneSince(h checker.History, o checker.Op) bool {
	used := grantOf(h, o)
	if !claims(used, o.Applied) {
		return false
	}
	for _, g := range h.Grants {
		if g.Resource != o.Resource || g.ID == used.ID {
			continue
		}
		own := g.Client == o.Client
		if claims(g, o.Applied) && !(own && h.Entry == checker.EntryReentrant) {
			return false
		}
		if !own && used.Granted < g.Granted && g.Granted < o.Applied {
			return false
		}
	}
	return true
}

// "It was one too, whatever others had been told, if by the record of the nodes it
// had held the lock without a gap since the grant that it used, and still believed in
// that grant: it had not released it, crashed, or stopped at an end that it has
// observed."
func heldSince(h checker.History, o checker.Op) bool {
	used := grantOf(h, o)
	for _, s := range h.Holdings {
		if s.Client == o.Client && s.Resource == o.Resource && s.From <= used.Granted && !happened(s.To, o.Applied) {
			return believes(used, h.Care, o.Applied)
		}
	}
	return false
}
