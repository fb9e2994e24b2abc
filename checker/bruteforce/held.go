package bruteforce

import (
	"slices"
	"time"

	"locksim/checker"
)

// HeldUntilTold is the history of a lock whose leases are held until their holders are told of their loss.
//
// "A holder that is paused, or does not reach the servers, cannot be told. One that runs and reaches them must be
// told within a time that the lock states, its detection bound. If another client has a claim meanwhile, and for no
// longer, the claim of the first ends one position before the other begins, but is not empty. If the first holder
// runs and reaches the servers for longer than the bound during any overlap, without interruption, all its overlaps
// stay those of claims."
//
// "The claim of a grant is empty, and ends no other claim, if its client was away between its call of Acquire and the
// grant, another claim with a higher token had begun by then, and the holder of the late grant is told within the
// detection bound."
//
// "If a request takes the lock from its holder while the claim lasts, the claim goes on for as long as the holder
// would have had its key, whatever keeps it from being told; then it ends. Of several takings the last one counts."
func HeldUntilTold(h checker.History, detection time.Duration) checker.History {
	told := slices.Clone(h.Grants)
	for i, g := range h.Grants {
		if late(h, g, detection) {
			told[i].Doubted = g.Granted
			continue
		}
		if t := taken(h, g); t != nil {
			told[i].Taken = true
			for p := len(h.Timing.At); p > 0 && t.Until > 0; p-- {
				if h.Timing.At[p-1] >= t.Until {
					told[i].Doubted = max(checker.Pos(p), g.Granted)
				}
			}
			continue
		}
		first, excused := checker.Pos(0), true
		for _, other := range h.Grants {
			if late(h, other, detection) {
				continue
			}
			if other.Resource != g.Resource || other.Granted <= g.Granted || bothIn(h, g, other) {
				continue
			}
			if !claims(g, other.Granted) || !hadClaim(other) {
				continue // they do not overlap
			}
			if first == 0 || other.Granted < first {
				first = other.Granted
			}
			if couldBeTold(h, g, other) > detection {
				excused = false
			}
		}
		if first != 0 && excused {
			told[i].Doubted = max(first-1, g.Granted+1)
		}
	}
	h.Grants, h.Detection = told, detection
	return h
}

// "A request takes the lock from its holder while the claim lasts. One of the holder's own process counts from the
// call of Acquire on, if the client has not had its key again by the grant. One that comes in the instant of the
// notice of the loss comes after it."
func taken(h checker.History, g checker.Grant) *checker.Taking {
	var last *checker.Taking
	for i, t := range h.Takings {
		if t.Client != g.Client || t.Resource != g.Resource || last != nil && last.At >= t.At {
			continue
		}
		told := g.Lost != 0 && at(h, g.Lost) <= t.Taken
		over := false
		for _, end := range []checker.Pos{g.Released, g.Lost, g.Until, g.Crashed, g.Doubted} {
			over = over || happened(end, t.At)
		}
		began := g.Granted < t.At
		if t.By == t.Client && g.Invoked < t.At {
			began = true
			for _, s := range h.Holdings {
				if s.Client == t.Client && s.Resource == t.Resource && !(s.From < t.At) && !(g.Granted < s.From) {
					began = t.At > g.Granted
				}
			}
		}
		if began && !told && !over {
			last = &h.Takings[i]
		}
	}
	return last
}

// late reports whether a client that was away was granted what another had by then.
func late(h checker.History, g checker.Grant, detection time.Duration) bool {
	away := false
	for _, s := range h.Timing.Away[g.Client] {
		away = away || !(s.To < at(h, g.Invoked) || at(h, g.Granted) < s.From)
	}
	if !hadClaim(g) || !away || couldBeTold(h, g, g) > detection {
		return false
	}
	for _, other := range h.Grants {
		own := bothIn(h, g, other)
		if !own && other.Resource == g.Resource && 0 < g.Token && g.Token < other.Token && other.Granted < g.Granted &&
			claims(other, g.Granted) {
			return true
		}
	}
	return false
}

// couldBeTold is the longest time, while both have a claim, in which the holder of g
// ran and reached the servers without interruption.
func couldBeTold(h checker.History, g, other checker.Grant) time.Duration {
	last := h.Timing.At[len(h.Timing.At)-1]
	end := last
	for _, c := range []checker.Grant{g, other} {
		if e := first(c.Released, c.Lost, c.Until, c.Crashed, c.Doubted); e != 0 {
			end = min(end, at(h, e))
		}
	}
	return longestPresence(h, g.Client, at(h, other.Granted), end)
}

// longestPresence is the longest time within another in which a client ran and reached the servers without
// interruption.
func longestPresence(h checker.History, client string, begin, end time.Duration) time.Duration {
	instants := []time.Duration{begin, end}
	for _, s := range h.Timing.Away[client] {
		for _, t := range []time.Duration{s.From, s.To} {
			if begin < t && t < end {
				instants = append(instants, t)
			}
		}
	}
	slices.Sort(instants)
	away := func(from, to time.Duration) bool {
		return slices.ContainsFunc(h.Timing.Away[client], func(s checker.Absence) bool {
			return s.From <= from &&
				to <= s.To
		})
	}
	var longest, present time.Duration
	for i := 1; i < len(instants); i++ {
		from, to := instants[i-1], instants[i]
		if away(from, from) {
			present = 0
		}
		if !away(from, to) {
			present += to - from
		}
		longest = max(longest, present)
	}
	return longest
}
