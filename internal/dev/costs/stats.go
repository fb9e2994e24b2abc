package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/internal/prose"
)

// percentile is the least of some times that so many percent of them do not exceed. It sorts them; of none it is 0.
func percentile(percent int, times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	rank := (percent*len(times) + 99) / 100 // rounded up
	return times[max(rank, 1)-1]
}

// spread is the figures of some rounds.
type spread struct {
	Median, Least, Most float64
}

// spreadOf is the spread of one figure of each round. Of an even number the median is the mean of the middle two; of
// none all are 0.
func spreadOf(rounds []float64) spread {
	if len(rounds) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(rounds))
	n := len(sorted)
	return spread{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Least: sorted[0], Most: sorted[n-1]}
}

// String is "3.20 [3.05, 3.41]".
func (s spread) String() string {
	return figure(s.Median) + " [" + figure(s.Least) + ", " + figure(s.Most) + "]"
}

// figure is a number with three significant digits, such as 0.0143, 3.20 and 12,300; a dash for 0 and for no number.
func figure(x float64) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	rounded := strconv.FormatFloat(x, 'e', 2, 64) // 9.999 is 1.00e+01
	_, exponent, _ := strings.Cut(rounded, "e")
	tens, _ := strconv.Atoi(exponent)
	x, _ = strconv.ParseFloat(rounded, 64)
	if tens >= 2 {
		return prose.Thousands(int(x))
	}
	return strconv.FormatFloat(x, 'f', 2-tens, 64)
}
