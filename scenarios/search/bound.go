package search

import "math"

// RateBound is the highest rate of violations that runs in a row with so many
// violations are consistent with at 95 %: were it higher, as few of them would
// be seen less than once in twenty times (Clopper and Pearson, one-sided).
// Without any violation it is nearly 3/runs. It speaks of the generator that
// drew the runs and of nothing else. Without runs it is 1.
func RateBound(violations, runs int) float64 {
	if violations >= runs {
		return 1
	}
	low, high := 0.0, 1.0
	for range 60 {
		rate := (low + high) / 2
		if atMost(violations, runs, rate) > 0.05 {
			low = rate
		} else {
			high = rate
		}
	}
	return high
}

// atMost is the probability of at most so many hits in n tries.
func atMost(hits, n int, rate float64) float64 {
	total := 0.0
	for k := 0; k <= hits; k++ {
		total += math.Exp(logChoose(n, k) + float64(k)*math.Log(rate) + float64(n-k)*math.Log1p(-rate))
	}
	return total
}

// logChoose is the logarithm of n over k.
func logChoose(n, k int) float64 {
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}
