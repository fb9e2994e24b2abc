package play

import "slices"

// failsLike is what [Minimize] asks about a scenario that was drawn for a lock
// and made it do what it must not: whether, with the same seed, the lock still
// does the first of that, and every fault strikes.
//
// A lock that is made once and for all keeps its ways whatever a scenario says,
// so a scenario that says something else of it than sc would mislead.
func (l Lock) failsLike(sc *Scenario, broken []Violation, seed uint64) func(*Scenario) bool {
	return func(smaller *Scenario) bool {
		if !l.FollowsSpec && smaller.Lock != sc.Lock {
			return false
		}
		o, still, err := l.Try(smaller, seed)
		return err == nil && len(broken) > 0 && slices.Contains(still, broken[0]) && len(o.NeverFired()) == 0
	}
}
