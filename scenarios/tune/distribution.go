package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"locksim/scenarios/outcome/tunings"
)

// Distribution is a distribution of lengths of time. The zero value is 0 always.
type Distribution struct {
	points   []weighted // in order, without two of one value
	above    []float64  // for each point: the share that is above it
	source   string
	measured int
	law      *lognormal // exact, in place of the points; nil for counted durations
}

// weighted is a length of time in seconds, and the share of all that has it.
type weighted struct{ value, weight float64 }

// lognormal has the logarithms, in seconds, of the median, and their standard deviation.
type lognormal struct{ mu, sigma float64 }

// z99 is how many standard deviations 99 in 100 do not exceed.
const z99 = 2.3263478740408408

// above is the share that exceeds x.
func (l lognormal) above(x float64) float64 {
	switch {
	case x <= 0:
		return 1
	case l.sigma == 0:
		if x < math.Exp(l.mu) {
			return 1
		}
		return 0
	}
	return math.Erfc((math.Log(x)-l.mu)/l.sigma/math.Sqrt2) / 2
}

func (l lognormal) quantile(q float64) float64 {
	return math.Exp(l.mu + l.sigma*math.Sqrt2*math.Erfinv(2*q-1))
}

// Counted is the distribution of measured durations. source says where they are from.
func Counted(durations []time.Duration, source string) Distribution {
	sorted := slices.Sorted(slices.Values(durations))
	var points []weighted
	for _, d := range sorted {
		if n := len(points); n > 0 && points[n-1].value == d.Seconds() {
			points[n-1].weight += 1 / float64(len(sorted))
			continue
		}
		points = append(points, weighted{d.Seconds(), 1 / float64(len(sorted))})
	}
	return newDistribution(points, source, len(durations))
}

func newDistribution(points []weighted, source string, measured int) Distribution {
	above := make([]float64, len(points))
	for i := len(points) - 2; i >= 0; i-- {
		above[i] = min(above[i+1]+points[i+1].weight, 1)
	}
	return Distribution{points: points, above: above, source: source, measured: measured}
}

// Lognormal is the lognormal distribution with this median, of which 99 in 100 do not exceed p99. It returns an error
// unless 0 < p50 ≤ p99.
func Lognormal(p50, p99 time.Duration) (Distribution, error) {
	if p50 <= 0 || p99 < p50 {
		return Distribution{}, fmt.Errorf("a median of %v and a P99 of %v: give a median above 0, and a P99 that is not "+
			"below it", p50, p99)
	}
	law := &lognormal{math.Log(p50.Seconds()), math.Log(p99.Seconds()/p50.Seconds()) / z99}
	points := make([]weighted, 1000)
	for i := range points {
		points[i] = weighted{law.quantile((float64(i) + .5) / 1000), .001}
	}
	d := newDistribution(points, fmt.Sprintf("a lognormal distribution through P50 %v and P99 %v", p50, p99), 0)
	d.law = law
	return d, nil
}

// Rare is d in one section of every oneIn, and 0 in the others.
func Rare(d time.Duration, oneIn int) Distribution {
	share := 1 / float64(oneIn)
	points := []weighted{{0, 1 - share}, {d.Seconds(), share}}
	if oneIn == 1 {
		points = points[1:]
	}
	return newDistribution(points, fmt.Sprintf("an assumption: %v in one section of %d", d, oneIn), 0)
}

// evenPoints is how many points a uniform distribution has.
const evenPoints = 9

// Uniform is the uniform distribution between two ends, as so many points.
func Uniform(from, to time.Duration, source string) Distribution {
	var points []weighted
	for i := range evenPoints {
		points = append(points, weighted{from.Seconds() + (to-from).Seconds()*(float64(i)+.5)/evenPoints, 1. / evenPoints})
	}
	if from == to {
		points = []weighted{{from.Seconds(), 1}}
	}
	return newDistribution(points, source, 0)
}

// None is the distribution of what never takes any time. source says why.
func None(source string) Distribution { return newDistribution([]weighted{{0, 1}}, source, 0) }

// exceeding is the share that exceeds x. Beyond what is known of counted durations it is that of tail, or 0 without
// one.
func (d Distribution) exceeding(x float64, tail *lognormal) float64 {
	if d.law != nil {
		return d.law.above(x)
	}
	i, found := slices.BinarySearchFunc(d.points, x, func(p weighted, x float64) int { return cmp.Compare(p.value, x) })
	if !found {
		i--
	}
	switch {
	case i < 0:
		return 1
	case i == len(d.points)-1 && tail != nil:
		return min(tail.above(x), 1/float64(max(d.measured, 1)))
	}
	return d.above[i]
}

// tail continues counted durations above the largest one: the lognormal through their own P50 and P99.
func (d Distribution) tail() *lognormal {
	if d.measured == 0 {
		return nil
	}
	p50 := d.Quantile(.5)
	return &lognormal{math.Log(p50), math.Log(d.Quantile(.99)/p50) / z99}
}

// Quantile is what a share q of all does not exceed, in seconds.
func (d Distribution) Quantile(q float64) float64 {
	if d.law != nil {
		return d.law.quantile(q)
	}
	i := sort.Search(len(d.points), func(i int) bool { return d.above[i] <= 1-q+1e-12 })
	if i == len(d.points) {
		return 0
	}
	return d.points[i].value
}

// largest is the longest that is known. Of a lognormal that is its P99, through which it was drawn.
func (d Distribution) largest() float64 {
	switch {
	case d.law != nil:
		return d.law.quantile(.99)
	case len(d.points) == 0:
		return 0
	}
	return d.points[len(d.points)-1].value
}

func (d Distribution) mean() (m float64) {
	for _, p := range d.points {
		m += p.value * p.weight
	}
	return m
}

// thinned are at most n points: those of the distribution, or as many quantiles of equal weight.
func (d Distribution) thinned(n int) []weighted {
	if len(d.points) <= n {
		return d.points
	}
	out := make([]weighted, n)
	for i := range out {
		out[i] = weighted{d.Quantile((float64(i) + .5) / float64(n)), 1 / float64(n)}
	}
	return out
}

// coarse are at most about n points: the longest half of them as they are, and the others in groups, each as long as
// its longest.
func (d Distribution) coarse(n int) []weighted {
	if len(d.points) <= n {
		return d.points
	}
	short := d.points[:len(d.points)-n/2]
	of := len(short)/(n/2) + 1
	var out []weighted
	for group := range slices.Chunk(short, of) {
		last := weighted{value: group[len(group)-1].value}
		for _, p := range group {
			last.weight += p.weight
		}
		out = append(out, last)
	}
	return append(out, d.points[len(short):]...)
}

// Draw is the length of time of a number from 0 to below 1.
func (d Distribution) Draw(q float64) time.Duration {
	return time.Duration(d.Quantile(q) * float64(time.Second)).Round(time.Microsecond)
}

// Input describes the distribution.
func (d Distribution) Input() tunings.Input {
	return tunings.Input{Source: d.source, Measured: d.measured, P50Seconds: round(d.Quantile(.5)),
		P99Seconds: round(d.Quantile(.99)), LargestSeconds: round(d.largest())}
}

// round is a time to the microsecond.
func round(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }
