package sim

import (
	"strconv"
	"sync/atomic"
	"testing/synctest"
	"time"
)

// timeline is virtual time: what is to happen when, what goroutines have asked
// the world for, and the loop in which one thing happens after another.
type timeline struct {
	start  time.Time
	limits Limits
	out    *outbox
	queue  *queue
	batch  []entry
	woken  []chan struct{} // to be closed at the end of the present event
	events int
	// instant is the present virtual time, for the world's goroutine.
	instant int64
	pulse   *pulse
	// stirred tells settle that goroutines may run again.
	stirred bool
	joins   bool // some server wants writes joined
	// over is closed when the run is.
	over   chan struct{}
	failed atomic.Pointer[error]
}

func newTimeline(limits Limits, p *pulse) *timeline {
	t := &timeline{
		start: time.Now(), limits: limits, out: newOutbox(), queue: newQueue(), pulse: p,
		over: make(chan struct{}),
	}
	return t
}

// Now is the virtual time since the start of the run. Safe for concurrent use.
func (t *timeline) Now() time.Duration { return time.Since(t.start) }

// now is Now for the world's goroutine, in the queue's terms. No time passes while
// that works: only its sleep lets some pass.
func (t *timeline) now() int64 { return t.instant }

// passed is now as a length of time.
func (t *timeline) passed() time.Duration { return time.Duration(t.instant) }

// look takes the time.
func (t *timeline) look() { t.instant = int64(t.Now()) }

// fail keeps the first failure of the harness or of a client's goroutine.
// Safe for concurrent use.
func (t *timeline) fail(err error) {
	t.failed.CompareAndSwap(nil, &err)
	t.out.nudge()
}

func (t *timeline) failure() error {
	if err := t.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// settle waits until every goroutine is blocked and nobody has a request
// left. Most requests only plan an event; after those that stir a goroutine
// at once it waits again.
func (t *timeline) settle() {
	for t.stirred = true; ; {
		if t.stirred {
			synctest.Wait()
		}
		t.batch = t.out.take(t.batch)
		if len(t.batch) == 0 {
			return
		}
		if t.joins {
			t.batch = joinWrites(t.batch)
		}
		t.stirred = false
		for i := range t.batch {
			t.batch[i].act()
			t.stirred = t.stirred || t.batch[i].rank == rankNode
		}
	}
}

// still waits until every goroutine is blocked, in the middle of an event.
func (t *timeline) still() { synctest.Wait() }

// stir says that a request which is being committed lets goroutines run.
func (t *timeline) stir() { t.stirred = true }

// advance lets virtual time pass up to the next event and delivers it. It
// returns early, with nothing delivered, when a timer of the code under test
// fires first and asks something of the world.
func (t *timeline) advance() error {
	limit := int64(t.limits.Virtual)
	at, ok := t.queue.next()
	if !ok || at > limit {
		at = limit
	}
	now := t.now()
	if wait := at - now; wait > 0 {
		t.out.sleep(time.Duration(wait))
		t.look()
		t.pulse.beat()
		return nil // timers of others that were due at this instant go first
	}
	if now >= limit {
		return t.limitReached("virtual time", t.limits.Virtual.String())
	}
	if t.events >= t.limits.Events {
		return t.limitReached("events", strconv.Itoa(t.limits.Events))
	}
	t.deliver()
	return nil
}

// deliver lets the next event happen.
func (t *timeline) deliver() {
	t.events++
	t.pulse.beat()
	e := t.queue.pop()
	e.happen()
	t.queue.recycle(e)
	for _, done := range t.woken {
		close(done)
	}
	t.woken = t.woken[:0]
}

// wakeAfter closes done at the end of the present event, so that nobody runs
// while the world is still at work on it.
func (t *timeline) wakeAfter(done chan struct{}) { t.woken = append(t.woken, done) }

func (t *timeline) limitReached(what, limit string) error {
	return &LimitError{What: what, Limit: limit, At: t.passed()}
}
