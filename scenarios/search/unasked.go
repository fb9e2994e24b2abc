package search

import (
	"slices"

	"locksim/internal/prose"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// Unasked lists in words what a search in a space that comes from [Discover] does not ask of a lock: what its promise
// does not have. It is empty for a lock of which only the claims are judged.
func Unasked(l subject.Lock, s spaces.Space) []string {
	if l.OnlyClaims() {
		return nil
	}
	if l.TestsFence() {
		return unaskedOfFence(l)
	}
	renews, _ := play.Renews(l, calmScenario(s)) // it was played before
	p := l.Promise
	if renews {
		p.Duties = append(slices.Clone(p.Duties), promise.DutyRenews)
	}
	return p.Unasked(promise.Asks{Renews: renews, Tries: s.Tries, Held: l.Lease == subject.LeaseHeld,
		Notifies: slices.Contains(s.Waits, file.WaitNotify)})
}

// unaskedOfFence are the classes of fault under which a store under test promises nothing.
func unaskedOfFence(l subject.Lock) []string {
	classes := slices.DeleteFunc(promise.Faults(), func(f promise.Fault) bool {
		return slices.Contains(l.Promise.Exclusion, f)
	})
	if len(classes) == 0 {
		return nil
	}
	return []string{"what the store does under " + prose.Commas(classes) + ", which its Faults do not name"}
}
