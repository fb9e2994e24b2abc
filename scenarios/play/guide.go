package play

import (
	"math/rand/v2"
	"slices"
)

// guide makes new choices out of those that have led to something new: a fault
// that struck a client in a phase of the lock's protocol in which none of its
// kind had struck one before, with the others where they were.
type guide struct {
	dice   *rand.Rand
	seen   map[feature]bool
	corpus [][]int
}

func newGuide(seed uint64) *guide {
	return &guide{dice: rand.New(rand.NewPCG(seed, 0x6775696465)), seen: map[feature]bool{}}
}

// choices are those of an earlier scenario with changes or, as often, fresh ones.
func (g *guide) choices(fresh Choices) Choices {
	if len(g.corpus) == 0 || g.dice.IntN(2) == 0 {
		return fresh
	}
	kept := slices.Clone(g.corpus[g.dice.IntN(len(g.corpus))])
	for range 1 + g.dice.IntN(4) {
		kept = g.mutate(kept)
	}
	return &replayed{kept, fresh}
}

// learn keeps the choices of a run that has shown something new.
func (g *guide) learn(o *Outcome, made []int) {
	if g.news(o) {
		g.corpus = append(g.corpus, made)
	}
}

// news reports whether a run has shown something new, and remembers all of it.
func (g *guide) news(o *Outcome) bool {
	before := len(g.seen)
	for _, m := range o.Modes {
		if m.Trace == nil {
			continue
		}
		for _, f := range featuresOf(m.Trace) {
			g.seen[f] = true
		}
	}
	return len(g.seen) > before
}

// largest is more than any choice that a scenario is drawn by has to offer.
const largest = 1 << 10

// mutate changes a choice, puts one in, or cuts some out.
func (g *guide) mutate(kept []int) []int {
	if len(kept) == 0 {
		return kept
	}
	at := g.dice.IntN(len(kept))
	switch g.dice.IntN(6) {
	case 0:
		return slices.Insert(kept, at, g.dice.IntN(largest))
	case 1:
		return slices.Delete(kept, at, min(at+1+g.dice.IntN(8), len(kept)))
	case 2:
		return kept[:at] // and fresh ones from there on
	}
	kept[at] = g.dice.IntN(largest)
	return kept
}
