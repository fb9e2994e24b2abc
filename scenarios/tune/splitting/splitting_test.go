package splitting_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"locksim/scenarios/tune/splitting"
)

// cases have closed forms: the sum of three exponential parts, as of a delay, a pause and work; a lognormal one, and
// one with a pause in one draw of 1,000.
var cases = []struct {
	name  string
	parts int
	score func(u []float64) float64
	above func(x float64) float64
}{
	{"three exponential parts", 3, func(u []float64) float64 {
		return exponential(u[0]) + exponential(u[1]) + exponential(u[2])
	},
		func(x float64) float64 { return math.Exp(-x) * (1 + x + x*x/2) }},
	{"a lognormal part", 1, func(u []float64) float64 { return math.Exp(.5 * normal(u[0])) },
		func(x float64) float64 { return math.Erfc(math.Log(x)/.5/math.Sqrt2) / 2 }},
	{"an exponential part, and 8 in one draw of 1,000", 2, func(u []float64) float64 {
		if u[1] > .999 {
			return exponential(u[0]) + 8
		}
		return exponential(u[0])
	}, func(x float64) float64 { return .999*math.Exp(-x) + .001*math.Exp(-max(x-8, 0)) }},
}

func exponential(u float64) float64 { return -math.Log(1 - u) }
func normal(u float64) float64      { return math.Sqrt2 * math.Erfinv(2*u-1) }

// levelOf is the level that a share of so many draws exceeds.
func levelOf(above func(float64) float64, share float64) float64 {
	low, high := 0., 1e6
	for range 200 {
		if middle := (low + high) / 2; above(middle) > share {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

func shares(o splitting.Options, climbs int) (all []float64) {
	for i := range climbs {
		o.Seed = uint64(i) + 1
		all = append(all, splitting.Up(o).Share)
	}
	return all
}

// One draw in 10,000,000 is estimated within 30 %, in far less than a minute.
func TestOneInTenMillion(t *testing.T) {
	const want = 1e-7
	for _, c := range cases {
		began := time.Now()
		got, low, high := splitting.Estimate(shares(splitting.Options{Parts: c.parts, Score: c.score,
			Level: levelOf(c.above, want)}, 20), 2)
		t.Logf("%s: %.3g (%.3g to %.3g) in %v", c.name, got, low, high, time.Since(began).Round(time.Millisecond))
		if math.Abs(got/want-1) > .3 {
			t.Errorf("%s: %v, want %v within 30 %%", c.name, got, want)
		}
	}
}

// The intervals have the answer in most of 30 estimates, at shares that need no step, and some.
func TestIntervals(t *testing.T) {
	for _, c := range cases {
		for _, want := range []float64{.3, 1e-4} {
			inside := 0
			for i := range 30 {
				var all []float64
				for j := range 20 {
					all = append(all, splitting.Up(splitting.Options{Parts: c.parts, Score: c.score,
						Level: levelOf(c.above, want), Particles: 200, Seed: uint64(i*100 + j)}).Share)
				}
				if _, low, high := splitting.Estimate(all, 2.1); low <= want && want <= high {
					inside++
				}
			}
			if inside < 25 {
				t.Errorf("%s: %d of 30 intervals have %v", c.name, inside, want)
			}
		}
	}
}

// A climb is the same with the same seed, and another with another. All that it reached is above the level.
func TestClimb(t *testing.T) {
	o := splitting.Options{Parts: 3, Score: cases[0].score, Level: 18, Seed: 7}
	one, two := splitting.Up(o), splitting.Up(o)
	if !reflect.DeepEqual(one, two) {
		t.Error("two climbs of one seed differ")
	}
	if o.Seed = 8; splitting.Up(o).Share == one.Share {
		t.Error("two seeds have one estimate")
	}
	if len(one.Reached) < 100 {
		t.Errorf("it reached the level %d times", len(one.Reached))
	}
	for _, draw := range one.Reached {
		if s := o.Score(draw); s <= o.Level {
			t.Fatalf("%v has a score of %v", draw, s)
		}
	}
}

// A level that no draw exceeds is not reached; scores that are equal, and those of a few values, are no obstacle.
func TestUnreachable(t *testing.T) {
	stairs := func(u []float64) float64 { return math.Floor(u[0] * 1000) }
	for level, want := range map[float64]float64{998: .001, 999: 0, 2000: 0, 499: .5, -1: 1} {
		got, _, _ := splitting.Estimate(shares(splitting.Options{Parts: 1, Score: stairs, Level: level}, 20), 2)
		if math.Abs(got-want) > .15*want {
			t.Errorf("above %v: %v, want %v", level, got, want)
		}
	}
	flat := splitting.Up(splitting.Options{Parts: 1, Score: func([]float64) float64 { return 1 }, Level: 2})
	if flat.Share != 0 || flat.Reached != nil {
		t.Errorf("a score of 1 is above 2 in a share of %v", flat.Share)
	}
}
