package sim

import (
	"sync"
	"time"
)

// clock is the clock of one machine. It maps the world's time to the
// machine's: monotonic time runs at its own rate, wall time is monotonic time
// plus an offset that jumps. All arithmetic is on integers, so that it is the
// same on every machine.
type clock struct {
	mu     sync.Mutex
	base   time.Duration // the world's time at the last change of rate
	mono   time.Duration // this clock's monotonic time at base
	ppm    int64         // how much faster it runs, in parts per million
	offset time.Duration // what wall-clock jumps have added up to
}

// scale is d*num/den without overflow for every d of interest (ppm are small).
func scale(d time.Duration, num, den int64) time.Duration {
	n, k := int64(d), den
	return time.Duration(n/k*num + n%k*num/k)
}

const million = 1_000_000

// monotonic is the clock's monotonic time when the world's is now.
func (c *clock) monotonic(now time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at(now)
}

func (c *clock) at(now time.Duration) time.Duration {
	return c.mono + scale(now-c.base, million+c.ppm, million)
}

// wall is the clock's wall time, as the time since the run's start.
func (c *clock) wall(now time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at(now) + c.offset
}

// jump moves the wall clock; monotonic time is not touched.
func (c *clock) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// drift changes the rate from now on.
func (c *clock) drift(now time.Duration, ppm int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mono, c.base, c.ppm = c.at(now), now, ppm
}

// worldDuration is how long d of this clock takes in the world's time,
// rounded up: a timer is never early.
func (c *clock) worldDuration(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ppm == 0 {
		return d
	}
	return scale(d, million, million+c.ppm) + 1
}
