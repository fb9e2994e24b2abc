//go:build linux

package live

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the clock of the machine that all of its processes share, in nanoseconds.
func monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // it exists on every Linux
	return ts.Nano()
}

// reading says what the clocks of a client show, as a function of the clock of the machine.
type reading struct {
	// From is an instant of the machine, Base what the monotonic clock of the client shows then, in nanoseconds.
	From, Base int64
	// PPM is by how much it runs too fast since then, in millionths.
	PPM int64
	// Wall is by how much the wall clock is ahead of it.
	Wall int64
	// Late is by how much later timers fire.
	Late int64
	// Step is the length of the steps in which both are read; 0 for none. Timers do not go by it.
	Step int64
}

// at is what the monotonic clock shows at an instant of the machine.
func (r reading) at(instant int64) int64 {
	d := instant - r.From
	return r.Base + d + parts(d, r.PPM)
}

// parts is d times n millionths.
func parts(d, n int64) int64 { return d/1e6*n + d%1e6*n/1e6 }

// when is the instant of the machine at which the clock shows a time, as long as its rate stays the same. ok is false
// if it never does.
func (r reading) when(shown int64) (instant int64, ok bool) {
	left := shown - r.Base
	rate := 1e6 + float64(r.PPM)
	if left > 0 && rate <= 0 {
		return 0, false
	}
	if left <= 0 {
		return r.From, true
	}
	late := float64(left) * (1e6 / rate)
	if late > math.MaxInt64/4 {
		return 0, false
	}
	return r.From + int64(math.Ceil(late)), true
}

// clock is a clock of a client. The process of the client has one, and its parent a copy: the parent sets both.
type clock struct {
	mu      sync.Mutex
	now     reading
	changed chan struct{} // closed at the next change
	wall    bool
	looked  func() // called when the wall clock is read; may be nil
}

func newClock(r reading) *clock { return &clock{now: r, changed: make(chan struct{})} }

// set changes what the clock shows from now on.
func (c *clock) set(r reading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = r
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *clock) get() (reading, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now, c.changed
}

// offset is by how much the clock is ahead of the monotonic one.
func (c *clock) offset(r reading) int64 {
	if c.wall {
		return r.Wall
	}
	return 0
}

// Now implements lock.Clock.
func (c *clock) Now() time.Time {
	r, _ := c.get()
	if c.looked != nil {
		c.looked()
	}
	shown := r.at(monotonic()) + c.offset(r)
	if r.Step > 0 {
		shown -= shown % r.Step
	}
	return time.Unix(0, shown)
}

// Sleep implements lock.Clock.
func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d <= 0 {
		return nil
	}
	r, _ := c.get()
	if !c.until(r.at(monotonic())+int64(d), true, ctx.Done(), nil) {
		return ctx.Err()
	}
	return nil
}

// AfterFunc implements lock.Clock.
func (c *clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	r, _ := c.get()
	due := r.at(monotonic()) + int64(max(d, 0))
	over := make(chan struct{})
	var once sync.Once // of the call and its cancellation one takes place
	go func() {
		if c.until(due, true, over, nil) {
			once.Do(func() { go f() })
		}
	}()
	return func() (stopped bool) {
		once.Do(func() { stopped = true; close(over) })
		return stopped
	}
}

// until waits until the monotonic clock shows a time, or one of the channels is closed. It reports whether the time was
// reached. A timer of the client is late if its timers are.
func (c *clock) until(shown int64, timer bool, over, end <-chan struct{}) bool {
	for {
		r, changed := c.get()
		wait := time.Hour // then it looks again
		if instant, ok := r.when(shown); ok {
			if timer {
				instant += r.Late
			}
			if wait = min(wait, time.Duration(instant-monotonic())); wait <= 0 {
				return true
			}
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-changed:
		case <-over:
			t.Stop()
			return false
		case <-end:
			t.Stop()
			return false
		}
		t.Stop()
	}
}
