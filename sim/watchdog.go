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
	// Brief is the reason in a line, without what differs from process to process, such as the numbers of goroutines.
	Brief string
	// Deadlock says in a sentence why the code under test waits for itself for ever, as in a real process; "" if it may
	// wait only because virtual time stands still.
	Deadlock string
	// Loops says that one of the goroutines still runs: it takes a processor from whatever this process does next.
	Loops bool
	// Stacks are the stacks of the bubble's goroutines.
	Stacks string
}

// frozenRuns counts the runs of this process that were frozen.
var frozenRuns atomic.Int64

// Spent reports whether a run of this process was frozen. Its goroutines remain as they are for as long as the process
// lives: it can make further runs, and a process that can be replaced should be.
func Spent() bool { return frozenRuns.Load() > 0 }

func (e *FrozenError) Error() string {
	return fmt.Sprintf("the run is frozen: no event for %v of wall-clock time\n%s\n%s", e.After, e.Reason, e.Stacks)
}

// slower is how many times as long a run may go without an event while one of its goroutines can run: on a machine that
// has much else to do, a step of a thousand goroutines takes long.
const slower = 6

// looksEvery is how often a run is looked at that may be in a deadlock of its own, which needs no patience.
const looksEvery = 100 * time.Millisecond

// awaitDone waits for done. It returns false when the pulse does not change for the length of patience, or while the
// run is busy for several times as long, or at once if it is certain that nothing goes on.
func awaitDone(p *pulse, patience time.Duration, done <-chan struct{}, busy, certain func() bool) bool {
	tick, look := time.NewTicker(patience/4), time.NewTicker(looksEvery)
	defer tick.Stop()
	defer look.Stop()
	last, still, seen := p.n.Load(), 0, uint64(0)
	for {
		select {
		case <-done:
			return true
		case <-look.C:
			now := p.n.Load()
			if now == seen && certain() {
				return false
			}
			seen = now
			continue
		case <-tick.C:
		}
		now := p.n.Load()
		if now != last {
			last, still = now, 0
			continue
		}
		if still++; still >= 4*slower || still >= 4 && !busy() {
			return false
		}
	}
}

func frozen(after time.Duration, all []goroutine) error {
	frozenRuns.Add(1)
	return &FrozenError{After: after, Reason: findCause(all), Brief: briefCause(all), Deadlock: ownDeadlock(all),
		Loops: slices.ContainsFunc(all, canRun), Stacks: stacks(all)}
}

// briefCause is the first goroutine that waits for a mutex, by its function, and what likely holds it.
func briefCause(all []goroutine) string {
	var lines []string
	for _, waiter := range all {
		if !waitsForMutex(waiter) {
			continue
		}
		at := callerOf(waiter, "sync.", "internal/sync.")
		line := fmt.Sprintf("frozen: a goroutine %swaits for a mutex in %s", waiter.ofProcess(), at)
		var holders []string
		for _, g := range all {
			if f := frameOf(g, packageOf(at)); mayHold(g, waiter, f) {
				holders = append(holders, f)
			}
		}
		if len(holders) > 0 {
			line += ", which one in " + slices.Min(holders) + " may hold"
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return "frozen: no goroutine waits for a mutex: one loops without blocking, or is blocked outside the bubble"
	}
	return slices.Min(lines)
}

// findCause finds the goroutines that wait for a mutex, and its likely holder: a
// goroutine of the same process that is blocked below a function of the same package. If there is none, a call that
// has returned has left the mutex locked: the code under test may be in a deadlock of its own.
func findCause(all []goroutine) string {
	var lines []string
	across, left, searches := false, false, false
	for _, waiter := range all {
		if !waitsForMutex(waiter) {
			continue
		}
		at := callerOf(waiter, "sync.", "internal/sync.")
		searches = searches || strings.Contains(at, failoverSearch)
		lines = append(lines, fmt.Sprintf("%s waits for a mutex in %s", waiter.name(), at))
		holds := holders(all, waiter, packageOf(at))
		lines = append(lines, holds...)
		across = across || slices.ContainsFunc(holds, func(h string) bool { return strings.HasSuffix(h, acrossIO) })
		if len(holds) == 0 {
			left = true
			lines = append(lines, "no other goroutine "+waiter.ofProcess()+"is blocked in that package: probably a call that "+
				"has returned, such as one that failed, has left the mutex locked, or this call locks it twice")
		}
	}
	if len(lines) == 0 {
		return "no goroutine of it waits for a mutex: one of them loops without blocking, or is blocked outside the bubble"
	}
	switch {
	case searches:
		lines = append(lines, "go-redis keeps this mutex while it looks for a Sentinel, and virtual time stands still "+
			"while a goroutine waits for a mutex: set MaxConcurrentDials to 1, and call Close when no command of the client "+
			"is under way, such as by OnEnd. A real process would only wait: the lock is not at fault")
	case across:
		lines = append(lines, "a mutex must not be held across simulated I/O or sleep: use a channel as the lock, or "+
			"release it first")
	}
	if left {
		lines = append(lines, "this may be a deadlock of the lock's own, in which a real process would wait for ever too: "+
			"look for a way through the code that returns without Unlock")
	}
	return strings.Join(lines, "\n")
}

// failoverSearch is in the names of the functions of go-redis that search for the primary.
const failoverSearch = "(*sentinelFailover)."

// canRun reports whether a goroutine waits for nothing but a processor.
func canRun(g goroutine) bool {
	return strings.HasPrefix(g.state, "run") || strings.HasPrefix(g.state, "syscall")
}

// name is the goroutine in a sentence: "goroutine 9 of c0".
func (g goroutine) name() string { return strings.TrimSpace("goroutine " + g.id + " " + g.ofProcess()) }

// ofProcess is "of c0 ", or "" for a goroutine of no process.
func (g goroutine) ofProcess() string {
	if g.process == "" {
		return ""
	}
	return "of " + g.process + " "
}

// worldFrame is a frame of the world's goroutine, which waits for the others.
const worldFrame = "locksim/sim.(*bubble).runWorld"

func waitsForMutex(g goroutine) bool {
	return strings.HasPrefix(g.state, "sync.Mutex.Lock") || strings.HasPrefix(g.state, "sync.RWMutex.")
}

// mayHold reports whether a goroutine with the frame f in the package of a mutex may hold it while another one waits.
func mayHold(g, waiter goroutine, f string) bool {
	return f != "" && g.id != waiter.id && g.process == waiter.process && !slices.Contains(frames(g), worldFrame)
}

const acrossIO = " across simulated I/O"

// holders are sentences about the goroutines that may have the mutex for which one waits.
func holders(all []goroutine, waiter goroutine, pkg string) []string {
	var out []string
	for _, g := range all {
		f := frameOf(g, pkg)
		switch {
		case pkg == "" || !mayHold(g, waiter, f):
		case !waitsForMutex(g):
			out = append(out, fmt.Sprintf("%s, blocked in %s (%s), likely holds it"+acrossIO, g.name(), f, g.state))
		case mutexOf(g) != mutexOf(waiter):
			out = append(out, fmt.Sprintf("%s, which waits for another mutex in %s, likely holds it: a deadlock of the "+
				"lock's own", g.name(), f))
		}
	}
	return out
}

// mutexOf is the address of the mutex for which a goroutine waits, as its stack has it.
func mutexOf(g goroutine) string {
	for line := range strings.Lines(g.text) {
		if _, args, ok := strings.Cut(line, "lockSlow("); ok {
			return strings.TrimRight(args, "?)\n")
		}
	}
	return ""
}
