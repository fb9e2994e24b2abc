// Package bruteforce judges a history a second time, by the definitions alone.
//
// It is written from the documentation: docs/reference/labels-and-facts.md and the comments of the
// exported names of package checker. It shares no code with that package but the
// types of a history and of its facts, and computes each fact in the most literal
// way: it looks at every pair of grants at every position, at every instant for
// the idle time, and at every order of the operations of a small history. Above
// each function is the sentence that it follows. Where package checker has
// another result, one of the two is wrong, or the sentence is not precise.
//
// It is for tests, and slow. It does not judge histories with uncertain instants
// ([checker.History.Within]).
package bruteforce

import (
	"slices"

	"locksim/checker"
)

// Judge returns the label and the facts of a history that checker.Judge accepts.
// none has the facts of the same seed's run without a fence, or is nil.
func Judge(h checker.History, none *checker.Facts) (checker.Label, checker.Facts) {
	if h.Within != nil {
		panic("bruteforce: a history with uncertain instants is not judged")
	}
	var f checker.Facts
	f.ClaimOverlaps = overlaps(h, claims)
	f.BeliefOverlaps = overlaps(h, func(g checker.Grant, p checker.Pos) bool { return believes(g, h.Care, p) })
	if h.Fence != "" {
		onTrial(h, &f)
	} else {
		f.Data, f.LostUpdates, f.TornSections = data(h)
		f.StaleAccepted = staleAccepted(h)
		f.StaleRejected = staleRejected(h)
		f.FalseRejects = falseRejects(h)
	}
	f.Oversold = oversold(h)
	if f.Starved = starved(h); h.Ordered {
		f.StarvedInTurn = f.Starved
	}
	f.TokenRegressions = tokenRegressions(h)
	f.TokenDuplicates = tokenDuplicates(h)
	f.ForeignReleases = foreignReleases(h)
	f.Overtaken = overtaken(h)
	f.Recomputed, f.WorkTwice = repeatedWork(h)
	f.Liveness, f.HungCalls = liveness(h), hungCalls(h)
	f.Grants = len(h.Grants)
	f.Attempts = len(h.Attempts)
	f.Calls = calls(h)
	f.IdleSeconds, f.Overdue = idle(h)
	f.Denied = denied(h)
	f.SelfExcluded = selfExcluded(h)
	f.SelfWaits = selfWaits(h)
	f.LateGrants = lateGrants(h)
	f.VoidGrants = voidGrants(h)
	f.RevivedClaims = revivedClaims(h)
	f.NoticedLateSeconds, f.Misconduct = noticedLate(h)
	f.Misconduct += misconduct(h)
	f.FailedCalls, f.Withheld = failedCalls(h), withheld(h)
	leaders(h, &f)
	f.Panics = len(h.Panics)
	f.Holders = holders(h)
	f.Contended = contended(h)
	f.Operations = len(h.Ops)
	return label(f, none, h.Fence != ""), f
}

// "A run has the first label in this table whose condition holds." Which facts lead to a label say the rows of
// [checker.FactList].
func label(f checker.Facts, none *checker.Facts, fenced bool) checker.Label {
	for _, l := range checker.Labels() {
		switch l {
		// "The data is wrong: an acknowledged write was lost, or a section is torn."
		case checker.Corrupted:
			if f.Data == checker.DataCorrupted {
				return l
			}
		// "The data was not decided, since the run has too many operations."
		case checker.Unknown:
			if f.Data == checker.DataUndecided {
				return l
			}
		// "The fence refused a stale operation and the data is right; in the same seed
		// without a fence it was corrupted."
		case checker.Rescued:
			if f.StaleRejected > 0 && none != nil && none.Data == checker.DataCorrupted {
				return l
			}
		// "No client was ever granted the lock."
		case checker.Untested:
			if f.Grants == 0 {
				return l
			}
		default:
			if slices.ContainsFunc(checker.FactList(), func(row checker.Fact) bool {
				return row.Label == l && row.In(&f) && !(fenced && row.IgnoredOnTrial)
			}) {
				return l
			}
		}
	}
	return checker.Safe
}

// named are the distinct positions that the grants and attempts of a history name,
// in order. An interval begins at one of them, so two intervals that have a
// position in common have one of these in common.
func named(h checker.History) []checker.Pos {
	var all []checker.Pos
	for _, g := range h.Grants {
		all = append(all, g.Invoked, g.Granted, g.Released, g.ReleaseReturned, g.Until, g.Revived, g.Doubted, g.Lost,
			g.LostSeen, g.UntilSeen, g.Crashed)
	}
	for _, a := range h.Attempts {
		all = append(all, a.Invoked, a.Returned)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(p checker.Pos) bool { return p == 0 })
}
