package causes_test

import (
	"math"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/scenarios/outcome/causes"
)

// The band is Wilson's: for 10 of 100 it is known to be 5.52 % to 17.44 %.
func TestBand(t *testing.T) {
	p := causes.NewPoint(1, 0, 100, 10)
	if math.Abs(p.Low-0.0552) > 0.0001 || math.Abs(p.High-0.1744) > 0.0001 {
		t.Errorf("got %v to %v", p.Low, p.High)
	}
	if p := causes.NewPoint(1, 0, 50, 0); p.Low != 0 || p.High < 0.05 {
		t.Errorf("none of 50: %v to %v", p.Low, p.High)
	}
	if p := causes.NewPoint(1, 0, 50, 50); p.High != 1 || p.Low > 0.95 {
		t.Errorf("all of 50: %v to %v", p.Low, p.High)
	}
}

// The sentence says what the curve does, also where it falls on the way.
func TestSays(t *testing.T) {
	for _, tt := range []struct {
		bad  []int // of 100, after the steps 0, 10, 20, …
		want string
	}{
		{[]int{100, 100}, "From the start, all 100 continuations ended as badly (corrupted, or worse)"},
		{[]int{8, 8, 100, 100}, "Until step 10, 1 continuation in 13 ended as badly (corrupted, or worse); after step 20 " +
			"(c1 writes), all 100 continuations did."},
		{[]int{2, 60, 100}, "At the start, 1 continuation in 50 ended as badly (corrupted, or worse); after step 10 (c1 " +
			"writes), 60 of 100 continuations did. From step 20 on, every"},
		{[]int{40, 0, 100}, "After step 10, none of 100 continuations ended as badly (corrupted, or worse); after step 20 " +
			"(c1 writes), all 100 continuations did. It had been more probable before: 40 of 100 continuations after step 0."},
		{[]int{10, 50}, "It was not certain even at the last step that was measured."},
		{[]int{50, 50, 50}, "It became more probable at no step"},
	} {
		c := causes.Curve{Label: checker.Corrupted}
		for i, bad := range tt.bad {
			c.Points = append(c.Points, causes.NewPoint(10*i, 0, 100, bad))
		}
		if c.Conclude(func(int, int) string { return "c1 writes" }); !strings.Contains(c.Says, tt.want) {
			t.Errorf("%v: got %q, want %q", tt.bad, c.Says, tt.want)
		}
	}
}
