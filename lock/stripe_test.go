package lock_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"locksim/lock"
)

// TestStripeIsStable shows that processes, machines and versions agree. These values never change. They were computed
// independently, in another language, from the documentation of Stripe.
func TestStripeIsStable(t *testing.T) {
	for _, c := range []struct {
		key  string
		n    int
		want int
	}{
		{"", 64, 59}, {"a", 64, 32}, {"user:1", 64, 19}, {"user:2", 64, 22}, {"order:42", 64, 43}, {"order:42", 63, 42},
		{"order:42", 1, 0}, {"żółw", 1000, 581},
		{"user:1", math.MaxInt32, 645046129},
	} {
		if got := lock.Stripe(c.key, c.n); got != c.want {
			t.Errorf("Stripe(%q, %d) = %d, want %d", c.key, c.n, got, c.want)
		}
	}
}

// TestStripeSpreads shows that for typical keys the segments are as equal as with random numbers. With k keys per
// segment the chi-squared statistic has a mean of n-1 and a deviation of about √(2n).
func TestStripeSpreads(t *testing.T) {
	for _, name := range []string{"%d", "user:%d", "order:%08d", "%x", "%d:balance", "tenant/7/item/%d/stock"} {
		for _, n := range []int{2, 3, 7, 16, 64, 100, 1000, 1024} {
			t.Run(fmt.Sprintf("%s over %d", name, n), func(t *testing.T) {
				const each = 100
				counts := make([]float64, n)
				for i := range each * n {
					counts[lock.Stripe(fmt.Sprintf(name, i), n)]++
				}
				var chi float64
				for _, count := range counts {
					chi += (count - each) * (count - each) / each
				}
				if limit := float64(n-1) + 5*math.Sqrt(2*float64(n)); chi > limit {
					t.Errorf("chi-squared %.0f over %d segments, want at most %.0f", chi, n, limit)
				}
			})
		}
	}
}

func TestStripeIsInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, n := rapid.String().Draw(t, "key"), rapid.IntRange(1, math.MaxInt).Draw(t, "n")
		if got := lock.Stripe(key, n); got < 0 || got >= n {
			t.Errorf("Stripe(%q, %d) = %d", key, n, got)
		}
	})
}

func TestStripeOverNothing(t *testing.T) {
	for _, n := range []int{0, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Stripe over %d segments did not panic", n)
				}
			}()
			lock.Stripe("order:42", n)
		}()
	}
}

func ExampleStripe() {
	for _, user := range []string{"user:1", "user:2", "user:3"} {
		fmt.Printf("users:%d\n", lock.Stripe(user, 64))
	}
	// Output:
	// users:19
	// users:22
	// users:59
}
