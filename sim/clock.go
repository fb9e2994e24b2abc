package sim

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// clock is the clock of one machine. It maps the world's time to the
// machine's: monotonic time runs at its own rate, wall time is monotonic time
// plus an offset that jumps. All arithmetic is on integers, so that it is the
// same on every machine, and exact to the nanosecond over decades.
type clock struct {
	pace atomic.Pointer[pace]

	mu            sync.Mutex
	jumps, drifts effects     // not felt so far
	unfelt        atomic.Bool // there are some
}

// pace is how a clock runs since its last change. It never changes itself, so that
// timers of the runtime can read it, which must not wait.
type pace struct {
	base   time.Duration // the world's time at the last change of rate
	mono   time.Duration // the clock's monotonic time at base
	ppm    int64         // how much faster it runs, in parts per million
	offset time.Duration // the sum of the wall-clock jumps, and of the times asleep
	asleep int           // how many suspensions of the machine are in force
	since  time.Duration // the world's time at which the first of them began
}

// rate is how many millionths of the world's time the clock counts.
func (p *pace) rate() int64 {
	if p.asleep > 0 {
		return 0
	}
	return million + p.ppm
}

// steady is the pace of a clock that no fault has struck.
var steady pace

func (c *clock) paced() *pace { return cmp.Or(c.pace.Load(), &steady) }

const (
	million = 1_000_000
	// A clock may run at any rate from standing still to ten times too fast.
	minDrift, maxDrift = -million, 9 * million
	// never is how long any duration takes on a clock that stands still.
	never = time.Duration(1) << 62
)

// scale is d*num/den, rounded down, without overflow for a d of decades:
// neither num nor den is above ten million.
func scale(d time.Duration, num, den int64) time.Duration {
	n := int64(d)
	return time.Duration(n/den*num + n%den*num/den)
}

// monotonic is the clock's monotonic time when the world's is now.
func (c *clock) monotonic(now time.Duration) time.Duration { return c.paced().monotonic(now) }

func (p *pace) monotonic(now time.Duration) time.Duration {
	return p.mono + scale(now-p.base, p.rate(), million)
}

// wall is the clock's wall time, as the time since the run's start.
func (c *clock) wall(now time.Duration) time.Duration {
	p := c.paced()
	return p.monotonic(now) + p.offset
}

// jump moves the wall clock; monotonic time is not touched. It is for the world's
// goroutine.
func (c *clock) jump(d time.Duration) {
	next := *c.paced()
	next.offset += d
	c.pace.Store(&next)
}

// sleep lets the machine sleep from now on: monotonic time stands still. It is for the
// world's goroutine.
func (c *clock) sleep(now time.Duration) {
	next := *c.paced()
	next.mono, next.base = next.monotonic(now), now
	if next.asleep++; next.asleep == 1 {
		next.since = now
	}
	c.pace.Store(&next)
}

// wake ends a sleep. After the last of them monotonic time goes on where it has stopped, and
// the wall clock has counted on. It is for the world's goroutine.
func (c *clock) wake(now time.Duration) {
	next := *c.paced()
	next.mono, next.base = next.monotonic(now), now
	if next.asleep--; next.asleep == 0 {
		next.offset += now - next.since
	}
	c.pace.Store(&next)
}

// whenUsed calls felt, once, when the clock is used: see [clock.used].
func (c *clock) whenUsed(wall bool, felt func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wall {
		c.jumps.begin(felt)
	} else {
		c.drifts.begin(felt)
	}
	c.unfelt.Store(true)
}

// used says that the process goes by the clock, by the wall clock where wall is
// set: what has happened to it is felt.
func (c *clock) used(wall bool) {
	if !c.unfelt.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drifts.once()
	if wall {
		c.jumps.once()
	}
	c.unfelt.Store(len(c.jumps) > 0)
}

// drift changes the rate from now on. It panics on a rate outside minDrift to
// maxDrift. It is for the world's goroutine.
func (c *clock) drift(now time.Duration, ppm int64) {
	if ppm < minDrift || ppm > maxDrift {
		panic(fmt.Sprintf("sim: a clock drifts by %d ppm: give %d (it stands still) to %d", ppm, minDrift, maxDrift))
	}
	next := *c.paced()
	next.mono, next.base, next.ppm = next.monotonic(now), now, ppm
	c.pace.Store(&next)
}

// worldDuration is how long d of this clock takes in the world's time at the
// present rate, rounded up: a timer is never early.
func (c *clock) worldDuration(d time.Duration) time.Duration {
	switch rate := c.paced().rate(); rate {
	case million:
		return d
	case 0:
		return never
	default:
		return min(scale(d, million, rate), never-1) + 1
	}
}
