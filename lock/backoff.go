package lock

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Backoff is a range of delays. The delay before the nth retry is drawn uniformly from Min to min(Max, Min·2ⁿ):
// exponential backoff, with jitter over the whole range so that waiters which started together spread out. The jitter
// is "full" above Min and not above 0, since a waiter that repeatedly draws small delays would only load the node.
type Backoff struct {
	// Min is the smallest delay. 0 means [DefaultBackoffMin], or Max if that is smaller.
	Min time.Duration

	// Max is the largest delay. 0 means [DefaultBackoffMax], or Min if that is larger.
	Max time.Duration
}

func (b Backoff) validate() error {
	switch {
	case b.Min < 0 || b.Max < 0:
		return fmt.Errorf("Backoff %v to %v is negative", b.Min, b.Max)
	case b.Max != 0 && b.Min > b.Max:
		return fmt.Errorf("Backoff.Min %v is above Backoff.Max %v", b.Min, b.Max)
	}
	return nil
}

func (b Backoff) withDefaults() Backoff {
	if b.Max == 0 {
		b.Max = max(b.Min, DefaultBackoffMax)
	}
	if b.Min == 0 {
		b.Min = min(b.Max, DefaultBackoffMin)
	}
	return b
}

// delay draws the delay before the nth retry, n from 1.
func (b Backoff) delay(n int, dice *rand.Rand) time.Duration {
	spread := int64(b.ceiling(n) - b.Min)
	return b.Min + time.Duration(dice.Int64N(spread+1))
}

// ceiling is min(Max, Min·2ⁿ).
func (b Backoff) ceiling(n int) time.Duration {
	d := b.Min
	for range n {
		if d > b.Max/2 {
			return b.Max
		}
		d *= 2
	}
	return d
}
