package search

import (
	"slices"

	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/spaces"
)

// Unasked lists in words what a search in a space that comes from [Discover] does not ask of a lock: what its promise
// does not have. It is empty for a lock of which only the claims are judged.
func Unasked(l play.Lock, s spaces.Space) []string {
	if l.OnlyClaims() {
		return nil
	}
	renews, _ := l.Renews(calmScenario(s)) // it was played before
	p := l.Promise
	if renews {
		p.Duties = append(slices.Clone(p.Duties), promise.DutyRenews)
	}
	return p.Unasked(promise.Asks{Renews: renews, Tries: s.Tries, Held: l.Lease == play.LeaseHeld,
		Notifies: slices.Contains(s.Waits, file.WaitNotify)})
}
