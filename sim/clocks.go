package sim

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"locksim/sim/trace"
)

// Clock is the time of one process, and fits lock.Clock. Reading it, and the
// end of a sleep, are seams: a paused process neither reads nor wakes. It is
// safe for concurrent use. [Process.Look] is the exception.
type Clock struct {
	p    *Process
	wall bool
}

// Clock is the process's monotonic time, as time.Since measures it in Go. The
// locks of package lock measure leases by it. It drifts with the process's
// clock and never jumps.
func (p *Process) Clock() *Clock { return &Clock{p: p} }

// WallClock is the process's wall time, which jumps when it is set. It is for
// code that measures by wall time, which a lock should not (F21).
func (p *Process) WallClock() *Clock { return &Clock{p: p, wall: true} }

// LooksAtWallClock reports whether the process has ever read its wall clock.
// Without that, no jump of it can affect the process.
func (p *Process) LooksAtWallClock() bool { return p.sawWall.Load() }

// Now is the process's time: the bubble's start plus the time that this clock has counted since, in whole steps of
// [Config.ClockStep]. It has no monotonic reading, unless the program is [Overlaid]: then the clock of [Process.Clock]
// reads as time.Now does, with the wall time beside.
func (c *Clock) Now() time.Time {
	if !c.p.gate.isOpen() && !c.p.looks() {
		_ = c.p.gate.pass("clock") // a crashed process may read it: it can no longer act on it
	}
	c.p.clock.used(c.wall)
	return c.read()
}

// Peek is Now for the harness: it does not wait while the process is paused.
func (c *Clock) Peek() time.Time { return c.read() }

func (c *Clock) read() time.Time {
	if c.wall {
		c.p.sawWall.Store(true)
	}
	if overlayAt != nil && !c.wall {
		return overlayAt(c.p.readings(c.p.w.time.start.UnixNano() + int64(c.p.w.time.Now())))
	}
	d := c.counted()
	return c.p.w.time.start.Round(0).Add(d - c.p.w.intoStep(d))
}

// counted is the time that the clock has counted since the start of the run.
func (c *Clock) counted() time.Duration {
	now := c.p.w.time.Now()
	if c.wall {
		return c.p.clock.wall(now)
	}
	return c.p.clock.monotonic(now)
}

// intoStep is how far a clock is in its present step when it has counted d since the start of the run.
func (w *World) intoStep(d time.Duration) time.Duration {
	step := int64(w.cfg.ClockStep)
	if step == 0 {
		return 0
	}
	return time.Duration((w.time.start.UnixNano() + int64(d)) % step)
}

// Sleep waits for at least d of this clock. It returns the context's error when
// that ends first, [ErrCrashed] when the process has crashed, and
// context.Canceled when the run is over.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.p.gate.pass("sleep"); err != nil {
		return err
	}
	woken := make(chan struct{})
	t := c.p.timers.make("sleep", max(d, 0), func() { close(woken) })
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

// passAfter passes the gate; the seam's name is built only where a goroutine
// waits.
func (c *Clock) passAfter(what string, d time.Duration) error {
	if c.p.gate.isOpen() {
		return nil
	}
	return c.p.gate.pass(what + d.String())
}

// AfterFunc calls f on its own goroutine after d of this clock: later if the
// process is paused then, never if it has crashed. stop reports whether it
// prevented the call. A panic in f ends the run, as in [Process.Go].
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	t := c.p.timers.make("after", d, nil)
	t.fire = func() {
		go func() {
			c.p.adopt()
			if c.passAfter("after ", d) == nil && !t.cancelled.Swap(true) {
				c.p.guarded(f)
			}
		}()
	}
	c.p.timers.post(t)
	return func() bool { return !t.cancelled.Swap(true) }
}

// Until waits, for the harness, until this clock shows t, stop is closed, or
// the run is over, also while the process is paused or after it has crashed. It
// reports whether the clock has reached t.
func (c *Clock) Until(t time.Time, stop <-chan struct{}) bool {
	for {
		left := t.Sub(c.read())
		if left <= 0 {
			return true
		}
		if step := c.p.w.cfg.ClockStep; step > 0 { // up to the step that shows t, from here
			left = (left+step-1)/step*step - c.p.w.intoStep(c.counted())
		}
		woken := make(chan struct{})
		timer := c.p.timers.make(untilLabel, left, func() { close(woken) })
		select {
		case <-woken:
		case <-stop:
			timer.cancelled.Store(true)
			return false
		case <-c.p.w.time.closed:
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
	due   int64         // the instant of its planned event
	index int           // index in timers.all
}

// untilLabel marks the timers of [Clock.Until], which belong to the harness.
const untilLabel = "until"

// timers are the pending timers of a process. All methods but make and post are
// for the world's goroutine.
type timers struct {
	p    *Process
	all  []*procTimer
	lag  time.Duration // how late they fire
	lags effects       // why
}

// make creates a timer. With a function it starts at once.
func (ts *timers) make(label string, d time.Duration, fire func()) *procTimer {
	t := &procTimer{label: label, d: d, fire: fire}
	if fire != nil {
		ts.post(t)
	}
	return t
}

// post starts a timer. Timers of one process that are due at one instant are one
// event.
func (ts *timers) post(t *procTimer) {
	p := ts.p
	p.w.time.outbox.post(entry{where: p.name, rank: rankTimer, seq: uint64(t.d), label: t.label, commit: func() {
		t.end = p.clock.monotonic(p.w.time.elapsed()) + t.d
		t.index = len(ts.all)
		ts.all = append(ts.all, t)
		ts.plan(t)
	}})
}

// farAhead bounds how far ahead a timer is planned, so that a stopped timer is
// removed soon.
const farAhead = time.Minute

// plan plans the event of a timer. An event that was planned for it before has
// no effect.
func (ts *timers) plan(t *procTimer) {
	p := ts.p
	left := t.end - p.clock.monotonic(p.w.time.elapsed())
	due := p.w.time.now() + int64(min(max(p.clock.worldDuration(left), 1), farAhead))
	t.due = due
	p.w.time.queue.join(p.name, "timer", due, func() {
		if t.due == due {
			ts.isDue(t)
		}
	})
}

func (ts *timers) isDue(t *procTimer) {
	switch {
	case t.cancelled.Load():
		ts.remove(t)
	case ts.p.clock.monotonic(ts.p.w.time.elapsed()) < t.end:
		ts.plan(t)
	default:
		ts.remove(t)
		ts.fire(t)
	}
}

// fire fires a due timer, with the lag of a slow process.
func (ts *timers) fire(t *procTimer) {
	if t.label == untilLabel {
		t.fire()
		return
	}
	ts.p.clock.used(false)
	if ts.lag == 0 {
		t.fire()
		return
	}
	ts.lags.felt()
	q := ts.p.w.time.queue
	q.join(ts.p.name, "late timer", ts.p.w.time.now()+int64(ts.lag), t.fire)
}

// lookAgain ends the waits of [Clock.Until], which then begin anew: they may be for an
// instant of the wall clock.
func (ts *timers) lookAgain() {
	for i := len(ts.all) - 1; i >= 0; i-- {
		if t := ts.all[i]; t.label == untilLabel {
			ts.remove(t)
			t.fire()
		}
	}
}

// remove removes a timer from the list. The last one moves to its index.
func (ts *timers) remove(t *procTimer) {
	end := len(ts.all) - 1
	last := ts.all[end]
	ts.all[t.index], last.index = last, t.index
	ts.all[end] = nil
	ts.all = ts.all[:end]
	t.due = 0
}

// planAll plans all timers anew when the clock has changed its rate, by their
// ends: the list is in no order.
func (ts *timers) planAll() {
	all := slices.Clone(ts.all)
	slices.SortFunc(all, func(a, b *procTimer) int { return cmp.Compare(a.end, b.end) })
	for _, t := range all {
		ts.plan(t)
	}
}

// jumpClock moves the process's wall clock. Its monotonic time is unaffected,
// and so is a lock that measures by it.
func (p *Process) jumpClock(d time.Duration) {
	p.w.trace.record(trace.World, p.name, trace.ClockJump{By: d})
	p.clock.jump(d)
	if Overlaid() {
		p.timers.lookAgain()
	}
}

// driftClock changes the rate of both clocks of the process. Pending timers
// follow it.
func (p *Process) driftClock(ppm int64) {
	p.w.trace.record(trace.World, p.name, trace.ClockDrift{PPM: ppm})
	p.clock.drift(p.w.time.elapsed(), ppm)
	p.timers.planAll()
}

// whenClockUsed calls felt when the process next reads one of its clocks or a
// timer of it fires; where wall is set, when it reads its wall clock.
func (p *Process) whenClockUsed(wall bool, felt func()) { p.clock.whenUsed(wall, felt) }
