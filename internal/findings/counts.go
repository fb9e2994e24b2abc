package main

import (
	"fmt"
	"math"
	"strings"
)

// counts are numbers of runs; 0 is a search that found nothing.
type counts []int

// missed is how many searches found nothing.
func (c counts) missed() int {
	n := 0
	for _, runs := range c {
		if runs == 0 {
			n++
		}
	}
	return n
}

// String is "41, 22, –".
func (c counts) String() string {
	var out []string
	for _, runs := range c {
		if runs == 0 {
			out = append(out, "–")
			continue
		}
		out = append(out, fmt.Sprint(runs))
	}
	return strings.Join(out, ", ")
}

// logMean is the mean of the logarithms of the counts; a search that found nothing
// counts as one that would have found something in the next run.
func (c counts) logMean(most int) float64 {
	total := 0.0
	for _, runs := range c {
		if runs == 0 {
			runs = most + 1
		}
		total += math.Log(float64(runs))
	}
	return total / float64(len(c))
}

// ratio is by how much more runs the second needs than the first, as geometric
// means.
func ratio(first, second counts, most int) float64 {
	return math.Exp(second.logMean(most) - first.logMean(most))
}
