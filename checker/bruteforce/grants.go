package bruteforce

import (
	"slices"

	"locksim/checker"
)

// happened reports whether an event with a position had happened by p. The zero
// position means that it did not happen at all.
func happened(event, by checker.Pos) bool { return event != 0 && event <= by }

// "Claim: from Acquire's return to the first of the call of Release, Lost, Until
// and crash, or where its holder could not know better (Doubted)." The interval
// "includes Start and excludes End".
func claims(g checker.Grant, p checker.Pos) bool {
	return happened(g.Granted, p) && !happened(g.Released, p) && !happened(g.Lost, p) && !happened(g.Until, p) &&
		!happened(g.Crashed, p) && !happened(g.Doubted, p)
}

// "Belief: from Acquire's return to the first of those endings that it has
// observed. Release and a crash always count, an observed loss with CareLost and
// CareSteps, an observed end of the validity only with CareSteps."
func believes(g checker.Grant, care checker.Care, p checker.Pos) bool {
	seesLoss := care == checker.CareLost || care == checker.CareSteps
	seesEnd := care == checker.CareSteps
	return happened(g.Granted, p) && !happened(g.Released, p) && !happened(g.Crashed, p) &&
		!(seesLoss && happened(g.LostSeen, p)) && !(seesEnd && happened(g.UntilSeen, p))
}

// beliefEnd is where a belief ends, 0 if it does not.
func beliefEnd(g checker.Grant, care checker.Care) checker.Pos {
	ends := []checker.Pos{g.Released, g.Crashed}
	if care == checker.CareLost || care == checker.CareSteps {
		ends = append(ends, g.LostSeen)
	}
	if care == checker.CareSteps {
		ends = append(ends, g.UntilSeen)
	}
	return first(ends...)
}

// first is the first of several positions that happened, 0 if none did.
func first(all ...checker.Pos) checker.Pos {
	all = slices.DeleteFunc(all, func(p checker.Pos) bool { return p == 0 })
	if len(all) == 0 {
		return 0
	}
	return slices.Min(all)
}

// asks reports whether an Acquire was pending: from its call to its return, 0 if it
// never did.
func asks(invoked, returned, p checker.Pos) bool {
	return happened(invoked, p) && !happened(returned, p)
}

// ended reports whether the client had ended a grant "by a release or a crash, not by
// the end of its validity".
func ended(g checker.Grant, p checker.Pos) bool {
	return happened(g.Released, p) || happened(g.Crashed, p)
}

// bothIn reports whether two grants may be at once: "It lets a client that holds the lock enter it again"
// (EntryReentrant), "That it lets one in is no overlap" (EntryOwnerless), "Lets everyone in" (EntryShared).
func bothIn(h checker.History, a, b checker.Grant) bool {
	again := h.Entry == checker.EntryReentrant || h.Entry == checker.EntryOwnerless
	return h.Entry == checker.EntryShared || again && a.Client == b.Client
}

// "ClaimOverlaps counts pairs of grants of one resource whose claims overlap, of one
// client too unless it may enter the lock again, or enters one without owners." "BeliefOverlaps counts pairs of such
// grants whose holders believed at the same time that they had the lock."
func overlaps(h checker.History, has func(checker.Grant, checker.Pos) bool) int {
	pairs, positions := 0, named(h)
	for i, a := range h.Grants {
		for _, b := range h.Grants[:i] {
			if a.Resource != b.Resource || bothIn(h, a, b) {
				continue
			}
			for _, p := range positions {
				if has(a, p) && has(b, p) {
					pairs++
					break
				}
			}
		}
	}
	return pairs
}

// "TokenRegressions counts grants with a token below that of a grant before them: one
// which had returned before they were asked for or, if both have a claim, one whose
// claim had ended before they returned. Token 0 is no token."
func tokenRegressions(h checker.History) int {
	n := 0
	for _, g := range h.Grants {
		for _, e := range h.Grants {
			if e.Resource != g.Resource || e.Token == 0 || g.Token == 0 || e.Token <= g.Token {
				continue
			}
			if comesBefore(e, g) {
				n++
				break
			}
		}
	}
	return n
}

// comesBefore reports whether a grant "had returned before" another was "asked for or, if both have a claim," its
// "claim had ended before" that one "returned".
func comesBefore(e, g checker.Grant) bool {
	end := claimEnd(e)
	return e.Granted < g.Invoked || hadClaim(e) && hadClaim(g) && end != 0 && end < g.Granted
}

// "TokenDuplicates counts grants with the token of an earlier grant, also of one that
// was pending with them. Of two that returned at one position the one with the lower ID
// is the earlier. An entry into a reentrant lock has the token of the grant that it
// enters: it is no duplicate of grants of its own client if, when it was asked for, one
// of those with that token had not been ended by a release or a crash. In any lock a
// grant is no duplicate of those of its own client either if the release of the last of
// those with that token returned an error other than that the lock was not held, and the
// client had not crashed when it asked again."
func tokenDuplicates(h checker.History) int {
	n := 0
	for _, g := range h.Grants {
		if isDuplicate(h, g) {
			n++
		}
	}
	return n
}

func isDuplicate(h checker.History, g checker.Grant) bool {
	var twins []checker.Grant
	for _, e := range h.Grants {
		earlier := e.Granted < g.Granted || e.Granted == g.Granted && e.ID < g.ID
		if e.Resource == g.Resource && earlier && g.Token != 0 && e.Token == g.Token {
			twins = append(twins, e)
		}
	}
	goesOn := slices.ContainsFunc(twins, func(e checker.Grant) bool {
		last := !slices.ContainsFunc(twins, func(f checker.Grant) bool {
			return f.Client == e.Client && (f.Granted > e.Granted || f.Granted == e.Granted && f.ID > e.ID)
		})
		entered := h.Entry == checker.EntryReentrant && !ended(e, g.Invoked)
		return e.Client == g.Client && (entered || last && e.ReleaseReturned != 0 && !e.ReleaseSucceeded &&
			!e.ReleaseNotHeld && !happened(e.Crashed, g.Invoked))
	})
	if goesOn {
		twins = slices.DeleteFunc(twins, func(e checker.Grant) bool { return e.Client == g.Client })
	}
	return len(twins) > 0
}

// "ForeignReleases counts the keys that a client deleted and another one had set, on
// each node."
func foreignReleases(h checker.History) int {
	n := 0
	for _, d := range h.Deletions {
		if d.Owner != d.By {
			n++
		}
	}
	return n
}

// "LateGrants counts the grants whose claim is empty."
func lateGrants(h checker.History) int {
	n := 0
	for _, g := range h.Grants {
		if !hadClaim(g) {
			n++
		}
	}
	return n
}

// hadClaim reports whether a claim is not empty: then it has its first position.
func hadClaim(g checker.Grant) bool { return claims(g, g.Granted) }

// "VoidGrants counts the grants that cannot have been meant so: their lease ended at
// or before the call of Acquire, or the lock had announced its loss before Acquire
// returned, or, in a calm run, it was lost or ended before their holder released it."
func voidGrants(h checker.History) int {
	n := 0
	for _, g := range h.Grants {
		over := func(p checker.Pos) bool {
			return happened(g.Until, p) || happened(g.Lost, p) || g.Taken && happened(g.Doubted, p)
		}
		endedEarly := false
		for _, p := range named(h) {
			// The lease is over, and at the position before nothing else had ended the claim.
			if over(p) && !happened(g.Released, p-1) && !happened(g.Crashed, p-1) &&
				(g.Taken || !happened(g.Doubted, p-1)) {
				endedEarly = true
			}
		}
		if g.ExpiredAtCall || g.LostBefore || h.Calm && endedEarly {
			n++
		}
	}
	return n
}

// "RevivedClaims counts the grants whose validity was moved into the future again
// after it had ended and then another grant had returned, with a claim; in a reentrant
// lock, one to another client."
func revivedClaims(h checker.History) int {
	n := 0
	for _, g := range h.Grants {
		for _, other := range h.Grants {
			own := other.ID == g.ID || bothIn(h, g, other)
			if other.Resource == g.Resource && !own && hadClaim(other) && g.Until < other.Granted && other.Granted < g.Revived {
				n++
				break
			}
		}
	}
	return n
}

// "Holders counts the clients that have had a claim."
func holders(h checker.History) int {
	clients := map[string]bool{}
	for _, g := range h.Grants {
		if hadClaim(g) {
			clients[g.Client] = true
		}
	}
	return len(clients)
}

// "Contended counts the Acquires, of both outcomes, that were pending while another
// client had a claim on the resource. One that never returned counts as pending only
// when it was called."
func contended(h checker.History) int {
	n, positions := 0, named(h)
	pendingDuringClaim := func(client string, resource checker.Resource, invoked, returned checker.Pos) bool {
		for _, g := range h.Grants {
			if g.Resource != resource || g.Client == client {
				continue
			}
			for _, p := range positions {
				if (p == invoked || returned != 0 && asks(invoked, returned, p)) && claims(g, p) {
					return true
				}
			}
		}
		return false
	}
	for _, g := range h.Grants {
		if pendingDuringClaim(g.Client, g.Resource, g.Invoked, g.Granted) {
			n++
		}
	}
	for _, a := range h.Attempts {
		if pendingDuringClaim(a.Client, a.Resource, a.Invoked, a.Returned) {
			n++
		}
	}
	return n
}

// "Denied counts the attempts that returned in a calm run although no other client
// asked for the lock meanwhile, or had been granted it and had not returned from
// releasing it."
func denied(h checker.History) int {
	if !h.Calm {
		return 0
	}
	n, positions := 0, named(h)
	for _, a := range h.Attempts {
		if a.Returned == 0 || a.ContextEnded != 0 {
			continue
		}
		free := true
		for _, p := range positions {
			if p != a.Invoked && !asks(a.Invoked, a.Returned, p) {
				continue
			}
			for _, g := range h.Grants {
				if g.Resource == a.Resource && g.Client != a.Client &&
					(p == g.Invoked || asks(g.Invoked, g.Granted, p) || happened(g.Granted, p) && !happened(g.ReleaseReturned, p)) {
					free = false
				}
			}
			for _, b := range h.Attempts {
				if b.Resource == a.Resource && b.Client != a.Client && (p == b.Invoked || asks(b.Invoked, b.Returned, p)) {
					free = false
				}
			}
		}
		if free {
			n++
		}
	}
	return n
}

// "Overtaken counts the grants of a fair lock that came before one which had joined
// the queue earlier and was still waiting, whether it waited for a grant or gave up later.
// Waiters that had left the queue or given up are passed over, and so are those of
// which it is not known when they joined it or, without a grant, left it. A grant that is not
// known to have waited joined when it was asked for. Grants with an empty claim count
// on neither side: it is not known when the node made them."
func overtaken(h checker.History) int {
	if h.Queue != checker.QueueFair {
		return 0
	}
	n := 0
	for _, g := range h.Grants {
		joined := g.Enqueued
		if joined == 0 {
			joined = g.Invoked
		}
		passed := false
		for _, w := range h.Grants {
			if w.Resource == g.Resource && w.Enqueued != 0 && w.Enqueued < joined && g.Granted < w.Granted && hadClaim(w) {
				passed = true
			}
		}
		for _, w := range h.Attempts {
			if w.Resource == g.Resource && w.Enqueued != 0 && w.Enqueued < joined && g.Granted < w.Returned &&
				g.Granted < w.Left {
				passed = true
			}
		}
		if passed && hadClaim(g) {
			n++
		}
	}
	return n
}

// "SelfWaits counts the Acquires that waited for their own client, of a lock that its clients enter again, with owners
// or without, on a prompt network. The client had a claim on the resource when it called, by an earlier grant. The
// Acquire had no grant while that claim lasted. From its call to its return or to the end of that claim, and at most to
// the first trouble, it took longer than Trips."
func selfWaits(h checker.History) (n int) {
	enters := h.Entry == checker.EntryOwnerless || h.Entry == checker.EntryReentrant
	if !enters || h.Timing == nil || !h.Timing.Prompt {
		return 0
	}
	waited := func(client string, resource checker.Resource, invoked, returned checker.Pos, granted bool) bool {
		for _, g := range h.Grants {
			if g.Client != client || g.Resource != resource || !claims(g, invoked) ||
				granted && claims(g, returned) {
				continue
			}
			p := invoked // the first position at which the claim or the wait is over
			for claims(g, p) && p != returned && int(p) < len(h.Timing.At) {
				p++
			}
			if min(at(h, p), h.Timing.Undisturbed)-at(h, invoked) > h.Timing.Trips {
				return true
			}
		}
		return false
	}
	for _, a := range h.Attempts {
		if waited(a.Client, a.Resource, a.Invoked, a.Returned, false) {
			n++
		}
	}
	for _, g := range h.Grants {
		if waited(g.Client, g.Resource, g.Invoked, g.Granted, true) {
			n++
		}
	}
	return n
}
