package placing

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"locksim/scenarios/spaces"
)

// Pairs are the pairs of placements of which the second strikes later than the
// first, in the run without faults.
type Pairs struct {
	byTime []Placement
	outage time.Duration
	later  []int // of each placement, the first that strikes later
	upTo   []int // the number of pairs that begin with it or with one before it
	clash  int   // the number of pairs that are impossible
}

// NewPairs counts the pairs of some placements, of which a crash lasts as long as outage: see [Outage].
func NewPairs(all []Placement, outage time.Duration) *Pairs {
	p := &Pairs{byTime: slices.Clone(all), outage: outage}
	slices.SortStableFunc(p.byTime, func(a, b Placement) int { return cmp.Compare(a.at, b.at) })
	total := 0
	for i, first := range p.byTime {
		later := sort.Search(len(p.byTime), func(j int) bool { return p.byTime[j].at > first.at })
		total += len(p.byTime) - later
		p.later, p.upTo = append(p.later, later), append(p.upTo, total)
		p.clash += p.clashes(i)
	}
	return p
}

// clashes counts the impossible pairs that begin with a placement.
func (p *Pairs) clashes(i int) int {
	first, n := p.byTime[i], 0
	if !first.restarts() {
		return 0
	}
	for j := p.later[i]; j < len(p.byTime) && p.byTime[j].at <= first.at+p.outage; j++ {
		if p.clashing(first, p.byTime[j]) {
			n++
		}
	}
	return n
}

// clashing reports whether the second of two placements is a restart of a process
// that is down: it cannot crash, and cannot be restarted twice.
func (p *Pairs) clashing(first, second Placement) bool {
	return first.restarts() && second.restarts() && first.target == second.target && second.at <= first.at+p.outage
}

// Count is the number of pairs.
func (p *Pairs) Count() int {
	if len(p.upTo) == 0 {
		return 0
	}
	return p.upTo[len(p.upTo)-1] - p.clash
}

// Pair is the pair of that number; ok is false for one that clashes.
func (p *Pairs) Pair(n int) (first, second Placement, ok bool) {
	i := sort.SearchInts(p.upTo, n+1)
	before := 0
	if i > 0 {
		before = p.upTo[i-1]
	}
	first, second = p.byTime[i], p.byTime[p.later[i]+n-before]
	return first, second, !p.clashing(first, second)
}

// Sample draws numbers of pairs, each once, or all if there are no more. They
// depend on the seed alone.
func (p *Pairs) Sample(n int, seed uint64) []int {
	if n >= p.Count() {
		return p.every()
	}
	from, drawn := spaces.Seeded(seed), map[int]bool{}
	var out []int
	for len(out) < n {
		k := from.Below(p.upTo[len(p.upTo)-1])
		if _, _, ok := p.Pair(k); ok && !drawn[k] {
			drawn[k] = true
			out = append(out, k)
		}
	}
	return out
}

func (p *Pairs) every() []int {
	var out []int
	for k := range p.Count() + p.clash {
		if _, _, ok := p.Pair(k); ok {
			out = append(out, k)
		}
	}
	return out
}
