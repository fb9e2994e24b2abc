package lock

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestBackoffCeiling(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		b    Backoff
		want []time.Duration // before retries 1, 2, …
	}{
		{Backoff{50 * ms, 200 * ms}, []time.Duration{100 * ms, 200 * ms, 200 * ms}},
		{Backoff{50 * ms, 130 * ms}, []time.Duration{100 * ms, 130 * ms, 130 * ms}},
		{Backoff{50 * ms, 50 * ms}, []time.Duration{50 * ms, 50 * ms}},
		{Backoff{1, 1<<63 - 1}, []time.Duration{2, 4, 8}},
	} {
		for i, want := range tc.want {
			if got := tc.b.ceiling(i + 1); got != want {
				t.Errorf("%v: ceiling before retry %d is %v, want %v", tc.b, i+1, got, want)
			}
		}
		if got := tc.b.ceiling(1 << 30); got != tc.b.Max {
			t.Errorf("%v: ceiling ends at %v", tc.b, got)
		}
	}
}

// TestBackoffDelay draws many delays: all are in the range, and some in every tenth of it.
func TestBackoffDelay(t *testing.T) {
	b := Backoff{50 * time.Millisecond, 200 * time.Millisecond}
	rng := rand.New(rand.NewPCG(1, 2))
	for n, span := range map[int]time.Duration{1: 50 * time.Millisecond, 2: 150 * time.Millisecond,
		9: 150 * time.Millisecond} {
		var tenths [10]int
		for range 1000 {
			above := b.delay(n, rng) - b.Min
			if above < 0 || above > span {
				t.Fatalf("retry %d: delay %v above Min, want at most %v", n, above, span)
			}
			tenths[min(9, above*10/span)]++
		}
		for i, hits := range tenths {
			if hits == 0 {
				t.Errorf("retry %d: no delay in tenth %d of the range", n, i)
			}
		}
	}
}

func TestBackoffRepeatsFromItsSource(t *testing.T) {
	b := Backoff{}.withDefaults()
	one, two := rand.New(newJitter([16]byte{1})), rand.New(newJitter([16]byte{1}))
	other, differs := rand.New(newJitter([16]byte{15: 1})), false
	for n := range 10 {
		d := b.delay(n, one)
		if again := b.delay(n, two); again != d {
			t.Errorf("retry %d: %v and %v from equal seeds", n, d, again)
		}
		differs = differs || b.delay(n, other) != d
	}
	if !differs {
		t.Error("ten equal delays from different seeds")
	}
}
