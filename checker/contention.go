package checker

import (
	"cmp"
	"slices"
)

// acquire is the pending time of a grant or an attempt, with the claim that
// followed, which keeps others out; it is empty for an attempt.
type acquire struct {
	client         string
	pending, claim Interval
}

// contended counts the acquires that were pending while another client had a
// claim: they were kept out. A claim that is empty keeps nobody out.
func contended(h History) int {
	count := 0
	for _, acquires := range acquiresByResource(h) {
		rivals := rivalsOf(acquires)
		for _, a := range acquires {
			if slices.ContainsFunc(rivals, func(r rival) bool { return r.client != a.client && r.claims(a.pending) }) {
				count++
			}
		}
	}
	return count
}

func acquiresByResource(h History) map[Resource][]acquire {
	all := make(map[Resource][]acquire)
	for _, g := range h.Grants {
		all[g.Resource] = append(all[g.Resource], acquire{g.Client, pending(g.Invoked, g.Granted), g.Claim()})
	}
	for _, t := range h.Attempts {
		all[t.Resource] = append(all[t.Resource], acquire{t.Client, pending(t.Invoked, t.Returned), nothing})
	}
	return all
}

// nothing is an empty interval.
var nothing = Interval{Start: 1, End: 1}

// pending spans at least the invocation. For an attempt that never returned it
// spans no more: its end is unknown, and contention must not be overcounted.
func pending(invoked, returned Pos) Interval {
	return Interval{Start: invoked, End: max(returned, invoked+1)}
}

// rival is one client's claims on a resource.
type rival struct {
	client string
	starts []Pos // sorted
	reach  []Pos // reach[i] is the latest end among those up to starts[i]
}

func rivalsOf(acquires []acquire) []rival {
	byClient := make(map[string][]Interval)
	for _, a := range acquires {
		if !a.claim.Empty() {
			byClient[a.client] = append(byClient[a.client], a.claim)
		}
	}
	var rivals []rival
	for client, spans := range byClient {
		slices.SortFunc(spans, func(a, b Interval) int { return cmp.Compare(a.Start, b.Start) })
		r := rival{client: client}
		furthest := Pos(0)
		for _, s := range spans {
			furthest = max(furthest, s.end())
			r.starts, r.reach = append(r.starts, s.Start), append(r.reach, furthest)
		}
		rivals = append(rivals, r)
	}
	return rivals
}

// claims reports whether one of the client's claims overlaps p.
func (r rival) claims(p Interval) bool {
	begun, _ := slices.BinarySearch(r.starts, p.end())
	return begun > 0 && r.reach[begun-1] > p.Start
}

// holders counts the clients that have had a claim.
func holders(h History) int {
	clients := make(map[string]bool)
	for _, g := range h.Grants {
		if !g.Claim().Empty() {
			clients[g.Client] = true
		}
	}
	return len(clients)
}
