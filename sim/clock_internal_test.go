package sim

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const year = 365 * 24 * time.Hour

// rate draws a drift: none, a little, or as much as is allowed.
func rate(t *rapid.T) int64 {
	return rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-500, 500), rapid.Int64Range(minDrift, maxDrift)).Draw(t,
		"ppm")
}

func TestClockRates(t *testing.T) {
	for _, tc := range []struct {
		ppm        int64
		now, shown time.Duration
	}{
		{0, year, year},
		{100, time.Second, time.Second + 100*time.Microsecond},
		{-100, time.Second, time.Second - 100*time.Microsecond},
		{million, time.Hour, 2 * time.Hour},
		{-million, time.Hour, 0},
		{maxDrift, 20 * year, 200 * year},
		{1, 1, 1}, // 1.000001 ns, rounded down
		{1, million, million + 1},
	} {
		var c clock
		c.drift(0, tc.ppm)
		if got := c.monotonic(tc.now); got != tc.shown {
			t.Errorf("at %d ppm a clock shows %v after %v, want %v", tc.ppm, got, tc.now, tc.shown)
		}
	}
}

// TestClockMonotonic changes the rate repeatedly: monotonic time follows
// without a step, and jumps of the wall clock do not affect it.
func TestClockMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c clock
		var now, jumped, last time.Duration
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now += time.Duration(rapid.Int64Range(0, int64(year)).Draw(t, "pass"))
			before := c.monotonic(now)
			if before < last {
				t.Fatalf("monotonic time went from %v back to %v", last, before)
			}
			switch rapid.IntRange(0, 1).Draw(t, "do") {
			case 0:
				c.drift(now, rate(t))
			case 1:
				d := time.Duration(rapid.Int64Range(-int64(year), int64(year)).Draw(t, "jump"))
				c.jump(d)
				jumped += d
			}
			if last = c.monotonic(now); last != before {
				t.Fatalf("a change moved monotonic time by %v", last-before)
			}
			if off := c.wall(now) - last; off != jumped {
				t.Fatalf("wall time is %v ahead of monotonic time, jumps were %v", off, jumped)
			}
		}
	})
}

// TestWorldDurationNeverEarly waits for d of a clock: it has advanced by at
// least d, and by less than d one instant before, up to rounding.
func TestWorldDurationNeverEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c clock
		start := time.Duration(rapid.Int64Range(0, int64(10*year)).Draw(t, "start"))
		c.drift(start/2, rate(t))
		c.drift(start, rate(t))
		d := time.Duration(rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, int64(year))).Draw(t, "d"))
		wait := c.worldDuration(d)
		if wait == never {
			return // it stands still, or almost
		}
		if wait >= 10*year {
			wait = 10 * year // beyond that only the direction matters
			if c.monotonic(start+wait)-c.monotonic(start) > d+10 {
				t.Fatalf("%v of the clock pass long before they should", d)
			}
			return
		}
		if got := c.monotonic(start+wait) - c.monotonic(start); got < d {
			t.Fatalf("a timer of %v was early: after %v the clock has advanced by %v", d, wait, got)
		}
		if got := c.monotonic(start+wait-2) - c.monotonic(start); wait > 2 && got > d {
			t.Fatalf("a timer of %v was late: 2 ns before %v the clock has advanced by %v", d, wait, got)
		}
	})
}

// TestScaleIsExact compares with floating point where that is exact enough.
func TestScaleIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		n, num := r.Int64N(1<<30), r.Int64N(10*million)+1
		if got, want := scale(time.Duration(n), num, million), time.Duration(n*num/million); got != want {
			t.Fatalf("%d*%d/1e6 = %d, want %d", n, num, got, want)
		}
	}
}

func TestFrozenClock(t *testing.T) {
	var c clock
	c.drift(time.Second, -million)
	if got := c.monotonic(year); got != time.Second {
		t.Errorf("a clock that stands still went on to %v", got)
	}
	if got := c.worldDuration(1); got != never {
		t.Errorf("1 ns of a clock that stands still takes %v", got)
	}
	c.drift(time.Hour, 0)
	if got := c.monotonic(time.Hour + 1); got != time.Second+1 {
		t.Errorf("a clock that goes on again shows %v", got)
	}
}

func TestDriftOutOfRangePanics(t *testing.T) {
	for _, ppm := range []int64{minDrift - 1, maxDrift + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a drift of %d ppm was accepted", ppm)
				}
			}()
			new(clock).drift(0, ppm)
		}()
	}
}
