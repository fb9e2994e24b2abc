package search_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/scenarios/outcome"
)

func TestSeeds(t *testing.T) {
	for name, tt := range map[string]struct {
		first uint64
		n     int
		want  outcome.Seeds
		all   []uint64
		text  string
	}{
		"one":    {7, 1, outcome.Seeds{First: 7, Last: 7}, []uint64{7}, "seed 7"},
		"some":   {1, 3, outcome.Seeds{First: 1, Last: 3}, []uint64{1, 2, 3}, "seeds 1 to 3"},
		"from 0": {0, 2, outcome.Seeds{First: 0, Last: 1}, []uint64{0, 1}, "seeds 0 to 1"},
		"the last": {math.MaxUint64 - 1, 2, outcome.Seeds{First: math.MaxUint64 - 1, Last: math.MaxUint64},
			[]uint64{math.MaxUint64 - 1, math.MaxUint64}, "seeds 18446744073709551614 to 18446744073709551615"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := outcome.NewSeeds(tt.first, tt.n)
			if err != nil || got != tt.want || got.Len() != tt.n || got.String() != tt.text {
				t.Errorf("%+v, %d seeds, %q, %v", got, got.Len(), got, err)
			}
			if diff := cmp.Diff(tt.all, slices.Collect(got.All())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSeedsRefused(t *testing.T) {
	for _, tt := range []struct {
		first uint64
		n     int
	}{{1, 0}, {1, -5}, {1, outcome.MaxSeeds + 1}, {math.MaxUint64, 2}} {
		if got, err := outcome.NewSeeds(tt.first, tt.n); err == nil {
			t.Errorf("%d seeds from %d on: %+v", tt.n, tt.first, got)
		}
	}
}
