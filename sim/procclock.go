package sim

import (
	"cmp"
	"context"
	"slices"
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

// LooksAtWallClock reports whether the process has ever read its wall clock. One
// that has not would not have noticed a jump of it.
func (p *Process) LooksAtWallClock() bool { return p.sawWall.Load() }

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
		c.p.sawWall.Store(true)
		d = c.p.clock.wall(now)
	}
	return c.p.w.start.Round(0).Add(d)
}

// Sleep waits for d of this clock, at least, and returns the context's error
// when it ends first, [ErrCrashed] when the process is no more, and
// context.Canceled when the run is over.
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
	case <-c.p.ctx.Done():
	}
	t.cancelled.Store(true)
	if err := c.passAfter("slept ", d); err != nil {
		return err
	}
	select {
	case <-woken:
		return nil
	default:
		return cmp.Or(ctx.Err(), c.p.ctx.Err())
	}
}

// passAfter is the gate; the seam's name is made only where somebody waits.
func (c *Clock) passAfter(what string, d time.Duration) error {
	if c.p.gate.isOpen() {
		return nil
	}
	return c.p.gate.pass(what + d.String())
}

// AfterFunc calls f on a goroutine of its own after d of this clock, later
// where the process is paused then, never once it has crashed. stop reports
// whether it prevented the call. A panic in f ends the run, as in [Process.Go].
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	t := c.p.timer("after", d, nil)
	t.fire = func() {
		go func() {
			defer c.p.catch()
			if c.passAfter("after ", d) == nil && !t.cancelled.Swap(true) {
				f()
			}
		}()
	}
	c.p.postTimer(t)
	return func() bool { return !t.cancelled.Swap(true) }
}

// Until waits, for the harness, until this clock shows t, stop is closed, or
// the run is over, also while the process is paused or after it has crashed.
// It reports whether the time has come.
func (c *Clock) Until(t time.Time, stop <-chan struct{}) bool {
	for {
		left := t.Sub(c.read())
		if left <= 0 {
			return true
		}
		woken := make(chan struct{})
		timer := c.p.timer(untilLabel, left, func() { close(woken) })
		select {
		case <-woken:
		case <-stop:
			timer.cancelled.Store(true)
			return false
		case <-c.p.w.over:
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

	// For the world's goroutine.
	end   time.Duration // on the process's clock
	due   int64         // the instant for which its event is planned
	place int           // among the process's timers
}

// untilLabel marks the timers of [Clock.Until], which are the harness's.
const untilLabel = "until"

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
	p.w.out.post(entry{where: p.name, rank: rankTimer, seq: uint64(t.d), label: t.label, commit: func() {
		t.end = p.clock.monotonic(p.w.Now()) + t.d
		t.place = len(p.timers)
		p.timers = append(p.timers, t)
		p.planTimer(t)
	}})
}

// farAhead bounds how far ahead a timer is planned, so that one which was
// stopped does not stay for long.
const farAhead = time.Minute

// planTimer plans the event of a timer. An event that was planned for it before
// comes to nothing.
func (p *Process) planTimer(t *procTimer) {
	left := t.end - p.clock.monotonic(p.w.Now())
	due := p.w.now() + int64(min(max(p.clock.worldDuration(left), 1), farAhead))
	t.due = due
	p.w.queue.join(p.name, "timer", due, func() {
		if t.due == due {
			p.timerDue(t)
		}
	})
}

func (p *Process) timerDue(t *procTimer) {
	switch {
	case t.cancelled.Load():
		p.forgetTimer(t)
	case p.clock.monotonic(p.w.Now()) < t.end:
		p.planTimer(t)
	default:
		p.forgetTimer(t)
		p.fireTimer(t)
	}
}

// fireTimer fires a timer that is due, late where the process is slow.
func (p *Process) fireTimer(t *procTimer) {
	if p.lag == 0 || t.label == untilLabel {
		t.fire()
		return
	}
	p.w.queue.join(p.name, "late timer", p.w.now()+int64(p.lag), t.fire)
}

// forgetTimer takes a timer off the list of those that have not fired. The last
// one takes its place.
func (p *Process) forgetTimer(t *procTimer) {
	end := len(p.timers) - 1
	last := p.timers[end]
	p.timers[t.place], last.place = last, t.place
	p.timers[end] = nil
	p.timers = p.timers[:end]
	t.due = 0
}

// replanTimers plans all timers anew when the clock has changed its rate, the
// first to end first: the list is in no order.
func (p *Process) replanTimers() {
	timers := slices.Clone(p.timers)
	slices.SortFunc(timers, func(a, b *procTimer) int { return cmp.Compare(a.end, b.end) })
	for _, t := range timers {
		p.planTimer(t)
	}
}
