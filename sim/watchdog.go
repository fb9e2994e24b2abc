package sim

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// This file is the only one of the package that runs on the wall clock: it
// watches the bubble from outside.

// pulse counts the events of a bubble. The zero value is ready to use.
type pulse struct{ n atomic.Uint64 }

func (p *pulse) beat() { p.n.Add(1) }

// FrozenError is returned when a bubble makes no progress: one of its
// goroutines is blocked on something outside virtual time, mostly a sync.Mutex
// whose holder waits for simulated I/O.
type FrozenError struct {
	// After is the wall-clock time without any event.
	After time.Duration
	// Reason names the goroutine that causes it, if it can be identified.
	Reason string
	// Stacks are the stacks of the bubble's goroutines.
	Stacks string
}

func (e *FrozenError) Error() string {
	return fmt.Sprintf("the run is frozen: no event for %v of wall-clock time\n%s\n%s", e.After, e.Reason, e.Stacks)
}

// awaitDone waits for done. It returns false when the pulse does not change for
// the length of patience.
func awaitDone(p *pulse, patience time.Duration, done <-chan struct{}) bool {
	tick := time.NewTicker(patience / 4)
	defer tick.Stop()
	last, still := p.n.Load(), 0
	for {
		select {
		case <-done:
			return true
		case <-tick.C:
		}
		now := p.n.Load()
		if now != last {
			last, still = now, 0
			continue
		}
		if still++; still >= 4 {
			return false
		}
	}
}

func frozen(after time.Duration, all []goroutine) error {
	return &FrozenError{After: after, Reason: findCause(all), Stacks: stacks(all)}
}

// findCause finds the goroutines that wait for a mutex, and its likely holder:
// a goroutine of the bubble that is blocked in simulated I/O below a function
// of the same package.
func findCause(all []goroutine) string {
	var waits, holds []string
	for _, waiter := range all {
		if !waitsForMutex(waiter) {
			continue
		}
		at := callerOf(waiter, "sync.(*Mutex).", "sync.(*RWMutex).", "internal/sync.")
		waits = append(waits, fmt.Sprintf("goroutine %s waits for a mutex in %s", waiter.id, at))
		holds = append(holds, holders(all, waiter, packageOf(at))...)
	}
	if len(waits) == 0 {
		return "no goroutine of it waits for a mutex: one of them loops without blocking, or is blocked outside the bubble"
	}
	if len(holds) == 0 {
		holds = []string{"its holder cannot be identified in the stacks below"}
	}
	return strings.Join(append(waits, holds...), "\n") + "\na mutex must not be held across simulated I/O or sleep: use a channel as the lock, or release it first"
}

// worldFrame is a frame of the world's goroutine, which waits for the others.
const worldFrame = "locksim/sim.(*bubble).runWorld"

func waitsForMutex(g goroutine) bool {
	return strings.HasPrefix(g.state, "sync.Mutex.Lock") || strings.HasPrefix(g.state, "sync.RWMutex.")
}

func holders(all []goroutine, waiter goroutine, pkg string) []string {
	var out []string
	for _, g := range all {
		if waitsForMutex(g) || pkg == "" || slices.Contains(frames(g), worldFrame) {
			continue
		}
		if f := frameOf(g, pkg); f != "" {
			out = append(out, fmt.Sprintf("goroutine %s, blocked in %s (%s), likely holds it across simulated I/O", g.id, f, g.state))
		}
	}
	return out
}
