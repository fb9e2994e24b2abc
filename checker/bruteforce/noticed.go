package bruteforce

import (
	"slices"
	"time"

	"locksim/checker"
)

// noticedLate is the longest time that a loss was noticed late, in seconds, and the number of losses that were noticed
// too late.
//
// "NoticedLateSeconds is the longest time after the loss of a lock in which its holder could have been told and was
// not. The time ends at the first of the call of Release, Lost, Until and crash, and by the record too where the next
// Holding of the client begins. Of it the longest part counts in which the client was not away. A grant that none of
// these ends does not count."
//
// "Misconduct counts the grants of which, on steady servers and a prompt network, a loss by the record of the nodes was
// noticed later than Detection and twice Trips allow."
func noticedLate(h checker.History) (seconds float64, tooLate int) {
	if h.Timing == nil {
		return 0, 0
	}
	var longest time.Duration
	for _, g := range h.Grants {
		late, recorded, known := noticedAfter(h, g)
		if !known {
			continue
		}
		longest = max(longest, late)
		if recorded && h.Detection != 0 && h.Timing.Steady && h.Timing.Prompt && late-h.Detection > 2*h.Timing.Trips {
			tooLate++
		}
	}
	return longest.Seconds(), tooLate
}

// noticedAfter is how long after the loss of a grant its holder could have been told and was not, and whether the
// record of the nodes has the loss. known is false if the grant was not lost, or does not count.
func noticedAfter(h checker.History, g checker.Grant) (late time.Duration, recorded, known bool) {
	if h.Entry == checker.EntryShared { // there is no lock to lose
		return 0, false, false
	}
	lost, instant, recorded := lossOf(h, g)
	ends := []checker.Pos{g.Released, g.Lost, g.Until, g.Crashed}
	for _, s := range h.Holdings {
		if recorded && s.Client == g.Client && s.Resource == g.Resource && s.From > g.Granted {
			ends = append(ends, s.From)
		}
	}
	over := first(ends...)
	if lost == 0 || over == 0 || over < lost {
		return 0, recorded, false
	}
	return longestPresence(h, g.Client, instant, at(h, over)), recorded, true
}

// lossOf is where a lock was lost, the instant of that, and whether the record of the nodes says so.
//
// "By the record of the nodes, the lock of a grant is lost at the end of the Holding of its client that has the
// position of the grant in it, at the instant Ended if it has one. Where the record has no holding of the resource, or
// does not say when the lock is lost, it is lost at the first later grant to another client that has a claim."
func lossOf(h checker.History, g checker.Grant) (lost checker.Pos, instant time.Duration, recorded bool) {
	if !h.ManyKeys && slices.ContainsFunc(h.Holdings, func(s checker.Holding) bool { return s.Resource == g.Resource }) {
		for _, s := range h.Holdings {
			if s.Client == g.Client && s.Resource == g.Resource && happened(s.From, g.Granted) && !happened(s.To, g.Granted) {
				if instant = s.Ended; instant == 0 && s.To != 0 {
					instant = at(h, s.To)
				}
				return s.To, instant, true
			}
		}
		return 0, 0, true
	}
	for _, other := range h.Grants {
		if other.Resource == g.Resource && other.Client != g.Client && other.Granted > g.Granted && hadClaim(other) {
			lost = first(lost, other.Granted)
		}
	}
	if lost != 0 {
		instant = at(h, lost)
	}
	return lost, instant, false
}
