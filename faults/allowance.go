package faults

import (
	"sync"
	"time"
)

// allowance is how often a toxic may strike, over all of its connections. What
// comes in one instant counts once, on however many connections: the order within
// an instant is not known, so it may not matter. The zero value
// is ready for use, by any number of goroutines.
type allowance struct {
	mu   sync.Mutex
	used int
	last time.Time
}

// take reports whether the toxic may strike now, given how often it may in all.
func (a *allowance) take(now time.Time, limit int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Equal(a.last) {
		return true
	}
	if a.used >= limit {
		return false
	}
	a.used, a.last = a.used+1, now
	return true
}
