package checker

import (
	"cmp"
	"slices"
)

// acquire is the pending time of a grant or an attempt, and how long its client
// was in the way of others: until the end of the claim.
type acquire struct {
	client            string
	pending, inTheWay Interval
}

// contended counts the acquires that were pending while another client was in
// the way.
func contended(h History) int {
	count := 0
	for _, acquires := range acquiresByResource(h) {
		rivals := rivalsOf(acquires)
		for _, a := range acquires {
			if slices.ContainsFunc(rivals, func(r rival) bool { return r.client != a.client && r.inTheWay(a.pending) }) {
				count++
			}
		}
	}
	return count
}

func acquiresByResource(h History) map[string][]acquire {
	all := make(map[string][]acquire)
	for _, g := range h.Grants {
		a := acquire{client: g.Client, pending: pending(g.Invoked, g.Granted)}
		a.inTheWay = a.pending
		if c := g.Claim(); !c.Empty() {
			a.inTheWay.End = c.End
		}
		all[g.Resource] = append(all[g.Resource], a)
	}
	for _, t := range h.Attempts {
		p := pending(t.Invoked, t.Returned)
		all[t.Resource] = append(all[t.Resource], acquire{client: t.Client, pending: p, inTheWay: p})
	}
	return all
}

// pending spans at least the invocation. For an attempt that never returned it
// spans no more: its end is unknown, and contention must not be overcounted.
func pending(invoked, returned Pos) Interval {
	return Interval{Start: invoked, End: max(returned, invoked+1)}
}

// rival is one client's acquires of a resource.
type rival struct {
	client string
	starts []Pos // sorted
	reach  []Pos // reach[i] is the latest end among those up to starts[i]
}

func rivalsOf(acquires []acquire) []rival {
	byClient := make(map[string][]Interval)
	for _, a := range acquires {
		byClient[a.client] = append(byClient[a.client], a.inTheWay)
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

// inTheWay reports whether one of the client's spans overlaps p.
func (r rival) inTheWay(p Interval) bool {
	begun, _ := slices.BinarySearch(r.starts, p.end())
	return begun > 0 && r.reach[begun-1] > p.Start
}
