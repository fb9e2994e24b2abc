// Package splitting estimates rare shares: how many of a great many draws have a score above a level, where no number
// of draws that can be made has one.
//
// It is multilevel splitting with a fixed effort (Kahn and Harris 1951; as subset simulation Au and Beck 2001).
// Particles are drawn, and the tenth with the highest scores is kept; from it come as many particles as before, each by
// moves that leave the distribution of the draws as it is and are refused if they do not exceed the highest score that
// was not kept; and so on, until the level is reached. The share is the product of the shares that were kept. The moves
// are those of Crank and Nicolson, on draws that are made normal. All that is random comes from the seed.
//
// The particles of one climb depend on one another. So the interval of an estimate is that of several climbs: see
// [Estimate].
package splitting

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Options say what is estimated, and with how much effort.
type Options struct {
	// Parts is how many numbers a draw has, each from 0 to below 1. Required.
	Parts int
	// Score is the score of a draw. It must not keep the slice. Required.
	Score func(draw []float64) float64
	// Level is what the score is to exceed.
	Level float64
	// Particles is how many particles a climb has. Default: 1000.
	Particles int
	// Moves is how many moves a particle makes at each step. Default: 10.
	Moves int
	// Seed is the seed of the climb.
	Seed uint64
}

// Climb is one climb to the level.
type Climb struct {
	// Share is its estimate of the share of draws above the level; 0 if it did not reach it.
	Share float64
	// Reached are its draws above the level.
	Reached [][]float64
}

const (
	kept     = .1  // the share of particles that a step keeps
	mostStep = 400 // steps, after which a share is below what a float64 has
	// correlation is how much of a normal number a move leaves.
	correlation = .8
)

// particle is a draw, as normal numbers.
type particle struct {
	normal []float64
	score  float64
}

// Up makes one climb.
func Up(o Options) Climb {
	if o.Particles == 0 {
		o.Particles = 1000
	}
	if o.Moves == 0 {
		o.Moves = 10
	}
	random := rand.New(rand.NewPCG(o.Seed, 0x73706c6974))
	draw := make([]float64, o.Parts)
	score := func(normal []float64) float64 {
		for i, z := range normal {
			draw[i] = uniform(z)
		}
		return o.Score(draw)
	}
	all := make([]particle, o.Particles)
	for i := range all {
		all[i].normal = make([]float64, o.Parts)
		for j := range all[i].normal {
			all[i].normal[j] = random.NormFloat64()
		}
		all[i].score = score(all[i].normal)
	}
	share := 1.
	for range mostStep {
		above := slices.DeleteFunc(slices.Clone(all), func(p particle) bool { return p.score <= o.Level })
		if float64(len(above)) >= kept*float64(len(all)) {
			c := Climb{Share: share * float64(len(above)) / float64(len(all))}
			for _, p := range above {
				reached := make([]float64, o.Parts)
				for i, z := range p.normal {
					reached[i] = uniform(z)
				}
				c.Reached = append(c.Reached, reached)
			}
			return c
		}
		least, best := next(all)
		if len(best) == 0 {
			break // there is no way up
		}
		share *= float64(len(best)) / float64(len(all))
		all = split(best, len(all), least, o.Moves, score, random)
	}
	return Climb{}
}

// next is the score that the particles of a step have to exceed, and those that do: so that the product of their shares
// is right on average, the score is that of a particle that is not kept (Bréhier, Lelièvre and Rousset 2015). There is
// none if all particles have one score.
func next(all []particle) (least float64, best []particle) {
	scores := make([]float64, len(all))
	for i, p := range all {
		scores[i] = p.score
	}
	slices.Sort(scores)
	at := max(len(scores)-max(int(kept*float64(len(scores))), 1)-1, 0)
	for at > 0 && scores[at] == scores[len(scores)-1] {
		at--
	}
	least = scores[at]
	for _, p := range all {
		if p.score > least {
			best = append(best, p)
		}
	}
	return least, best
}

// split makes as many particles of the best ones, each of which has moved.
func split(best []particle, n int, least float64, moves int, score func([]float64) float64, random *rand.Rand,
) []particle {
	all := make([]particle, n)
	step := math.Sqrt(1 - correlation*correlation)
	for i := range all {
		from := best[i%len(best)]
		p := particle{slices.Clone(from.normal), from.score}
		moved := make([]float64, len(p.normal))
		for range moves {
			for j, z := range p.normal {
				moved[j] = correlation*z + step*random.NormFloat64()
			}
			if s := score(moved); s > least {
				copy(p.normal, moved)
				p.score = s
			}
		}
		all[i] = p
	}
	return all
}

// uniform is a normal number as one from 0 to below 1.
func uniform(z float64) float64 { return min(math.Erfc(-z/math.Sqrt2)/2, 1-1e-16) }

// Estimate is the mean of the estimates of independent climbs, and its interval. That is on a logarithmic scale, since
// few climbs are far above the others; z is half its width in standard errors of the mean. Fewer than 20 climbs give an
// interval that is too narrow.
func Estimate(shares []float64, z float64) (mean, low, high float64) {
	for _, s := range shares {
		mean += s / float64(len(shares))
	}
	variance := 0.
	for _, s := range shares {
		variance += (s - mean) * (s - mean) / float64(max(len(shares)-1, 1))
	}
	if mean == 0 {
		return 0, 0, 0
	}
	factor := math.Exp(z * math.Sqrt(variance/float64(len(shares))) / mean)
	return mean, mean / factor, mean * factor
}
