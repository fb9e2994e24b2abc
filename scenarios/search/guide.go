package search

import (
	"cmp"
	"iter"

	"locksim/checker"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// Drawn are the cases that seeds choose for a lock from a space. Of each ten seeds in a row, a strategy that looks back
// draws the first eight, and varies the nearest of them in the others if it was near: so a case depends on its seed and
// on the runs of the others of its ten, which are played, uncounted, where a search begins in the middle of them.
func Drawn(l subject.Lock, space spaces.Space, seeds outcome.Seeds) iter.Seq[Case] {
	g := &guide{lock: l, space: space, strategy: strategyOf(space)}
	return func(yield func(Case) bool) {
		for seed := range seeds.All() {
			if !yield(g.next(seed)) {
				return
			}
		}
	}
}

// DrawnAlone is the scenario that a seed draws from a space. ok is false if the seed varies the scenario of another
// run, which [Drawn] has to play.
func DrawnAlone(space spaces.Space, seed uint64) (sc *file.Scenario, ok bool) {
	if strategyOf(space).vary != nil && placeOf(seed) >= groupDrawn {
		return nil, false
	}
	return Draw(spaces.Seeded(seed), space), true
}

// placeOf is the place of a seed in its group, from 0.
func placeOf(seed uint64) uint64 { return seed % groupSize }

// The sizes of a group of seeds in a row, and of its part that is drawn.
const (
	groupSize  = 10
	groupDrawn = 8
)

// isNear is the distance, in TTLs, below which a run is worth a variation. A larger one says only how long a backoff
// is.
const isNear = 0.005

// guide makes the cases of consecutive seeds.
type guide struct {
	lock     subject.Lock
	space    spaces.Space
	strategy strategy

	group  uint64 // the first seed of the group
	played uint64 // which of its runs are known: a bit for each place
	near   nearest
}

// nearest is the run of a group that came nearest to a violation.
type nearest struct {
	scenario *file.Scenario // nil for none
	seed     uint64         // with which it was played
	place    uint64
	slack    checker.Slack
	distance float64 // in TTLs
}

func (g *guide) next(seed uint64) Case {
	if g.strategy.vary == nil {
		return Case{Scenario: Draw(spaces.Seeded(seed), g.space), Seed: seed}
	}
	place := placeOf(seed)
	if g.group != seed-place {
		g.group, g.played, g.near = seed-place, 0, nearest{}
	}
	c := Case{Seed: seed, learn: func(t *Trial) { g.learn(place, t) }}
	if place >= groupDrawn {
		for before := range place {
			if g.group+before > 0 && g.played&(1<<before) == 0 { // there is no seed 0
				Play(g.lock, g.next(g.group+before))
			}
		}
		if g.near.scenario != nil {
			if varied := vary(spaces.Seeded(seed), g.strategy, g.space, g.near); varied != nil {
				c.Scenario, c.Run = varied, g.near.seed
				return c
			}
		}
	}
	c.Scenario = Draw(spaces.Seeded(seed), g.space)
	return c
}

// learn keeps a run that is the nearest of its group so far. Of equal ones it keeps the first, in whatever order they
// come.
func (g *guide) learn(place uint64, t *Trial) {
	if g.group+place != t.Seed || g.played&(1<<place) != 0 {
		return // the group is over, or the run is a repetition
	}
	g.played |= 1 << place
	if t.Err != nil || len(t.Violations) > 0 || t.Vacuous != "" {
		return
	}
	s, distance, ok := nearness(t)
	if !ok || distance >= isNear {
		return
	}
	if g.near.scenario == nil || cmp.Or(cmp.Compare(distance, g.near.distance), cmp.Compare(place, g.near.place)) < 0 {
		g.near = nearest{t.Scenario, t.Played(), place, s, distance}
	}
}
