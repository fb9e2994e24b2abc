package main

import (
	"slices"
	"time"
)

// The shares of a spread: from the low one to the high one.
const (
	low  = 0.1
	high = 0.9
)

// quantile returns the value below which a share q of the values lies, from 0 to 1: the one nearest to it.
func quantile[T time.Duration | float64](values []T, q float64) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

// ratios divides the times of two contenders round by round.
func ratios(times, by []time.Duration) []float64 {
	all := make([]float64, len(times))
	for round := range times {
		all[round] = float64(times[round]) / float64(by[round])
	}
	return all
}
