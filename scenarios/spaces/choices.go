package spaces

import "math/rand/v2"

// Choices are the numbers from which a scenario is drawn. [Seeded] makes them from
// a seed; a property test or a fuzzer brings its own, which it can shrink: a
// smaller number draws something simpler.
type Choices interface {
	// Below returns a number from 0 to n-1. n is at least 1.
	Below(n int) int
}

// Seeded returns choices that depend on the seed alone. They are not safe for
// concurrent use.
func Seeded(seed uint64) Choices {
	return seeded{rand.New(rand.NewPCG(seed, 0x6c6f636b73696d))}
}

type seeded struct{ dice *rand.Rand }

func (s seeded) Below(n int) int { return s.dice.IntN(n) }
