package sim

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing/synctest"
	"time"

	"locksim/sim/trace"
)

// timeline is virtual time: the queue of events, the requests of goroutines,
// and the event loop.
type timeline struct {
	start  time.Time
	limits Limits
	outbox *outbox
	queue  *queue
	batch  []entry
	woken  []chan struct{} // to close at the end of the current event
	events int
	// requests counts the requests by where they come from. burst counts the events since the instant second.
	requests map[string]int
	burst    int
	second   int64
	// instant is the current virtual time, for the world's goroutine.
	instant int64
	pulse   *pulse
	// unblocked tells settle that a goroutine may have been unblocked.
	unblocked bool
	still     bool // the latest event has certainly unblocked no goroutine
	joins     bool // some server is a [Joiner]
	// closed is closed at the end of the run.
	closed chan struct{}
	failed atomic.Pointer[error]
}

func newTimeline(limits Limits, p *pulse) *timeline {
	t := &timeline{
		start: bubbleNow(), limits: limits, outbox: newOutbox(), queue: newQueue(), pulse: p,
		requests: map[string]int{}, closed: make(chan struct{}),
	}
	return t
}

// Now is the virtual time since the start of the run. Safe for concurrent use.
func (t *timeline) Now() time.Duration { return bubbleNow().Sub(t.start) }

// now is Now for the world's goroutine, in the queue's unit. Time passes only
// while that goroutine sleeps.
func (t *timeline) now() int64 { return t.instant }

func (t *timeline) elapsed() time.Duration { return time.Duration(t.instant) }

func (t *timeline) readClock() { t.instant = int64(t.Now()) }

// fail keeps the first failure of the harness or of a client's goroutine.
// Safe for concurrent use.
func (t *timeline) fail(err error) {
	t.failed.CompareAndSwap(nil, &err)
	t.outbox.nudge()
}

func (t *timeline) failure() error {
	if err := t.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// settle waits until every goroutine is blocked and no request is left. Most
// requests only plan an event; after one that unblocks a goroutine at once it
// waits again.
func (t *timeline) settle() {
	for t.unblocked, t.still = !t.still, false; ; {
		if t.unblocked {
			synctest.Wait()
		}
		t.batch = t.outbox.take(t.batch)
		if len(t.batch) == 0 {
			return
		}
		if t.joins {
			t.batch = joinWrites(t.batch)
		}
		t.unblocked = false
		for i := range t.batch {
			t.requests[t.batch[i].where]++
			t.batch[i].act()
			t.unblocked = t.unblocked || t.batch[i].rank == rankNode
		}
	}
}

// waitBlocked waits, during an event, until every goroutine is blocked.
func (t *timeline) waitBlocked() { synctest.Wait() }

// markUnblocked notes that the request being committed unblocks a goroutine.
func (t *timeline) markUnblocked() { t.unblocked = true }

// advance lets virtual time pass up to the next event and delivers it. It
// returns early, without a delivery, when a timer of the code under test fires
// first and makes a request.
func (t *timeline) advance() error {
	limit := int64(t.limits.Virtual)
	at, ok := t.queue.next()
	if !ok || at > limit {
		at = limit
	}
	now := t.now()
	if wait := at - now; wait > 0 {
		t.outbox.sleep(time.Duration(wait))
		t.readClock()
		t.pulse.beat()
		return nil // timers of the Go runtime that are due at this instant fire first
	}
	if now >= limit {
		return t.limitReached("virtual time", t.limits.Virtual.String())
	}
	if t.events >= t.limits.Events {
		return t.limitReached("events", strconv.Itoa(t.limits.Events))
	}
	if now-t.second >= int64(time.Second) {
		t.second, t.burst = now, 0
	}
	if t.burst++; t.limits.Burst > 0 && t.burst > t.limits.Burst {
		return t.limitReached("events within a second", strconv.Itoa(t.limits.Burst))
	}
	t.deliver()
	return nil
}

func (t *timeline) deliver() {
	t.events++
	t.pulse.beat()
	e := t.queue.pop()
	t.still = e.happen() && len(t.woken) == 0
	t.queue.recycle(e)
	for _, done := range t.woken {
		close(done)
	}
	t.woken = t.woken[:0]
}

// wakeAfter closes done at the end of the current event, so that no goroutine
// runs during it.
func (t *timeline) wakeAfter(done chan struct{}) { t.woken = append(t.woken, done) }

func (t *timeline) limitReached(what, limit string) error {
	e := &LimitError{What: what, Limit: limit, At: t.elapsed()}
	by := map[string]int{}
	for where, n := range t.requests {
		from, _, _ := strings.Cut(where, ">")
		by[from] += n
	}
	for _, from := range slices.Sorted(maps.Keys(by)) {
		if !trace.IsServer(from) && by[from] > e.Requests {
			e.Busiest, e.Requests = from, by[from]
		}
	}
	return e
}
