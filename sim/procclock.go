package sim

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Clock is the time of one process, and fits lock.Clock. Reading it, and the
// end of a sleep, are seams: a paused process neither reads nor wakes. It is
// safe for concurrent use.
type Clock struct {
	p    *Process
	wall bool
}

// Clock is the process's monotonic time: what time.Since measures in Go, and
// what our locks count their leases by. It drifts with the process's clock
// and never jumps.
func (p *Process) Clock() *Clock { return &Clock{p: p} }

// WallClock is the process's wall time, which jumps when somebody sets it.
// It is for code that judges by wall time, which a lock should not (F21).
func (p *Process) WallClock() *Clock { return &Clock{p: p, wall: true} }

// Now is the process's time, without a monotonic reading: it is the bubble's
// start plus what this clock has counted since.
func (c *Clock) Now() time.Time {
	_ = c.p.gate.pass("clock") // a crashed process may look, it can tell nobody
	return c.read()
}

// Peek is Now for the harness: it does not wait while the process is paused.
func (c *Clock) Peek() time.Time { return c.read() }

func (c *Clock) read() time.Time {
	now := c.p.w.Now()
	d := c.p.clock.monotonic(now)
	if c.wall {
		d = c.p.clock.wall(now)
	}
	return c.p.w.start.Round(0).Add(d)
}

// Sleep waits for d of this clock, at least, and returns the context's error
// when it ends first, [ErrCrashed] when the process is no more.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.p.gate.pass("sleep"); err != nil {
		return err
	}
	woken := make(chan struct{})
	t := c.p.timer("sleep", d, func() { close(woken) })
	select {
	case <-woken:
	case <-ctx.Done():
		t.cancelled.Store(true)
	}
	if err := c.p.gate.pass(fmt.Sprintf("slept %v", d)); err != nil {
		return err
	}
	select {
	case <-woken:
		return nil
	default:
		return ctx.Err()
	}
}

// AfterFunc calls f on a goroutine of its own after d of this clock, later
// where the process is paused then, never once it has crashed. stop reports
// whether it prevented the call.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	t := c.p.timer("after", d, nil)
	t.fire = func() {
		go func() {
			if c.p.gate.pass(fmt.Sprintf("after %v", d)) != nil || t.cancelled.Swap(true) {
				return
			}
			f()
		}()
	}
	c.p.postTimer(t)
	return func() bool { return !t.cancelled.Swap(true) }
}

// Until waits, for the harness, until this clock shows t or stop is closed,
// also while the process is paused. It reports whether the time has come.
func (c *Clock) Until(t time.Time, stop <-chan struct{}) bool {
	for {
		left := t.Sub(c.read())
		if left <= 0 {
			return true
		}
		woken := make(chan struct{})
		timer := c.p.timer("until", left, func() { close(woken) })
		select {
		case <-woken:
		case <-stop:
			timer.cancelled.Store(true)
			return false
		}
	}
}

// procTimer is a timer of a process.
type procTimer struct {
	label     string
	d         time.Duration
	fire      func() // on the world's goroutine
	cancelled atomic.Bool
}

// timer makes a timer; with a function it starts at once.
func (p *Process) timer(label string, d time.Duration, fire func()) *procTimer {
	t := &procTimer{label: label, d: d, fire: fire}
	if fire != nil {
		p.postTimer(t)
	}
	return t
}

// postTimer starts a timer. Timers of one process that are due at one instant
// are one event.
func (p *Process) postTimer(t *procTimer) {
	p.w.out.post(entry{where: p.name, rank: rankTimer, label: t.label, commit: func() {
		due := p.w.now() + max(int64(p.clock.worldDuration(t.d)), 1)
		p.w.queue.join(p.name, due, func() {
			if !t.cancelled.Load() {
				t.fire()
			}
		})
	}})
}
