package sim

import (
	"strconv"
	"testing/synctest"
	"time"
)

// RunUntil lets the world go on, one event at a time, until done reports
// true. done is asked when every goroutine is blocked: after each event, after
// each request to the world, and when a goroutine of [Process.Go] has ended.
// It returns a [*LimitError] when a limit is reached first, [ErrStopped] at
// [Config.StopAt], and what a client's goroutine panicked with.
func (w *World) RunUntil(done func() bool) error {
	for {
		w.settle()
		if err := w.failure(); err != nil {
			return err
		}
		if w.cfg.StopAt > 0 && w.trace.Len() >= w.cfg.StopAt {
			return ErrStopped
		}
		if done() {
			return nil
		}
		if err := w.advance(); err != nil {
			return err
		}
	}
}

// RunFor lets the world go on for a while. Errors as [World.RunUntil].
func (w *World) RunFor(d time.Duration) error {
	end, over := w.Now()+d, false
	w.queue.add(int64(end), func() { over = true })
	return w.RunUntil(func() bool { return over })
}

// settle waits until every goroutine is blocked and nobody has a request
// left. Most requests only plan an event; after those that stir a goroutine
// at once it waits again.
func (w *World) settle() {
	for w.stirred = true; ; {
		if w.stirred {
			synctest.Wait()
		}
		w.batch = w.out.take(w.batch)
		if len(w.batch) == 0 {
			return
		}
		w.stirred = false
		for i := range w.batch {
			w.batch[i].act()
			w.stirred = w.stirred || w.batch[i].rank == rankNode
		}
	}
}

// still waits until every goroutine is blocked, in the middle of an event.
func (w *World) still() { synctest.Wait() }

// stir says that a request which is being committed lets goroutines run.
func (w *World) stir() { w.stirred = true }

// advance lets virtual time pass up to the next event and delivers it. It
// returns early, with nothing delivered, when a timer of the code under test
// fires first and asks something of the world.
func (w *World) advance() error {
	limit := int64(w.cfg.Limits.Virtual)
	at, ok := w.queue.next()
	if !ok || at > limit {
		at = limit
	}
	if wait := at - w.now(); wait > 0 {
		w.sleep(time.Duration(wait))
		return nil // timers of others that were due at this instant go first
	}
	if w.now() >= limit {
		return w.limitReached("virtual time", w.cfg.Limits.Virtual.String())
	}
	if w.events >= w.cfg.Limits.Events {
		return w.limitReached("events", strconv.Itoa(w.cfg.Limits.Events))
	}
	w.deliver(w.queue.pop())
	return nil
}

func (w *World) sleep(d time.Duration) {
	w.timer.Reset(d)
	select {
	case <-w.timer.C:
	case <-w.out.wake:
		w.timer.Stop()
	}
	w.pulse.beat()
}

func (w *World) deliver(e *event) {
	w.events++
	w.pulse.beat()
	e.fire()
	for _, f := range e.more {
		f()
	}
	for _, done := range w.woken {
		close(done)
	}
	w.woken = w.woken[:0]
}

// wakeAfter closes done at the end of the present event, so that nobody runs
// while the world is still at work on it.
func (w *World) wakeAfter(done chan struct{}) { w.woken = append(w.woken, done) }

func (w *World) limitReached(what, limit string) error {
	return &LimitError{What: what, Limit: limit, At: w.Now()}
}
