package outcome

import (
	"fmt"
	"iter"
	"math"
)

// Seeds are consecutive seeds, both ends included.
type Seeds struct {
	// First is the lowest seed.
	First uint64 `json:"first"`
	// Last is the highest seed.
	Last uint64 `json:"last"`
}

// MaxSeeds is the greatest number of seeds of a matrix.
const MaxSeeds = 1_000_000

// NewSeeds are n seeds from the first one on. The error names the invalid number.
func NewSeeds(first uint64, n int) (Seeds, error) {
	switch {
	case n < 1 || n > MaxSeeds:
		return Seeds{}, fmt.Errorf("%d seeds: give a number from 1 to %d", n, MaxSeeds)
	case first > math.MaxUint64-uint64(n-1):
		return Seeds{}, fmt.Errorf("%d seeds from %d on: there are no seeds beyond %d", n, first, uint64(math.MaxUint64))
	}
	return Seeds{First: first, Last: first + uint64(n-1)}, nil
}

// Len is the number of seeds.
func (s Seeds) Len() int { return int(s.Last-s.First) + 1 }

// All are the seeds in order.
func (s Seeds) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := range uint64(s.Len()) {
			if !yield(s.First + i) {
				return
			}
		}
	}
}

// String is the seeds in words: "seed 7" or "seeds 1 to 20".
func (s Seeds) String() string {
	if s.First == s.Last {
		return fmt.Sprintf("seed %d", s.First)
	}
	return fmt.Sprintf("seeds %d to %d", s.First, s.Last)
}

// Cover reports whether all seeds of other are among these.
func (s Seeds) Cover(other Seeds) bool { return s.First <= other.First && other.Last <= s.Last }

// Parts are the seeds in pieces of at most n.
func (s Seeds) Parts(n int) []Seeds {
	var out []Seeds
	for i := 0; i < s.Len(); i += n {
		out = append(out, Seeds{First: s.First + uint64(i), Last: s.First + uint64(min(i+n, s.Len())-1)})
	}
	return out
}
