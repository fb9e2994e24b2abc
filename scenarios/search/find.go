package search

import (
	"locksim/scenarios/play"
)

// Sighting is a run in which a lock did what it must not.
type Sighting struct {
	// Runs is how many runs the search had made by then, this one included.
	Runs int
	// Outcome is what became of the run; its scenario and seed make it again.
	Outcome *play.Outcome
	// Violations are what the lock did.
	Violations []play.Violation
}

// Find plays the scenarios that consecutive seeds draw from a space with a lock, at most so many,
// and asks about each run with a violation whether that is enough. The sighting is
// nil where none was.
//
// Errors are those of [play.Run], and what enough returns.
func Find(l play.Lock, space Space, first uint64, most int, enough func(*Sighting) (bool, error)) (*Sighting, error) {
	for n := range most {
		seed := first + uint64(n)
		o, broken, err := l.Try(Draw(Seeded(seed), space), seed)
		if err != nil {
			return nil, err
		}
		if len(broken) == 0 {
			continue
		}
		seen := &Sighting{Runs: n + 1, Outcome: o, Violations: broken}
		if ok, err := enough(seen); ok || err != nil {
			return seen, err
		}
	}
	return nil, nil
}
