package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locksim/internal/prose"
	"locksim/lock"
)

// load is so many clients, each of which asks for one of so many keys again and again: the keys are dealt in turn.
type load struct {
	Clients int `json:"clients"`
	Keys    int `json:"keys"`
}

// loads are those of every lock.
var loads = []load{{1, 1}, {8, 1}, {64, 1}, {64, 64}}

// String is "64 clients on 1 key".
func (l load) String() string {
	return fmt.Sprintf("%s on %s", prose.Count(l.Clients, "client"), prose.Count(l.Keys, "key"))
}

// alone says that each client has a key of its own.
func (l load) alone() bool { return l.Keys >= l.Clients }

// times say how long a cell is measured.
type times struct {
	// Warm is the time before the window, Window that in which grants count, Base the window of the SETs beside a cell.
	Warm, Window, Base time.Duration
	// Work is how long a client has a key that others want.
	Work time.Duration
}

// sample is one grant and its release.
type sample struct {
	acquire, release time.Duration
	handover         time.Duration // from the last call of a release to the grant; 0 for the first grant of a key
	ended            time.Time
}

// cell is what was measured of a lock under a load.
type cell struct {
	Seconds float64 `json:"seconds"` // the length of the window
	Grants  int     `json:"grants"`  // that were released in the window
	Served  int     `json:"served"`  // the clients with a grant in the window
	Failed  int     `json:"failed"`  // the calls that returned an error, from the beginning on
	Acquire latency `json:"acquire"`
	Release latency `json:"release"`
	// Handover is the time from the call of a release to the next client's grant. It is 0 where each has its own key.
	Handover latency `json:"handover"`
	Traffic  traffic `json:"traffic"` // of all clients in the window
}

// rate is the grants in a second.
func (c cell) rate() float64 { return float64(c.Grants) / c.Seconds }

// latency has percentiles, in nanoseconds.
type latency struct {
	P50 time.Duration `json:"p50"`
	P99 time.Duration `json:"p99"`
}

func latencyOf(times []time.Duration) latency {
	return latency{P50: percentile(50, times), P99: percentile(99, times)}
}

// run lets each client acquire its key and release it, again and again, and measures the second part of that. There is
// a lock for each client. The name begins that of each key. A client whose call fails goes on: Redlock fails on a busy
// machine. The error is the first of these, if no client was granted a lock in the window.
//
// Where clients share a key they take turns: one that has released asks again when another one has been granted the
// key, and that one works for a while, so that it is refused. Otherwise one or two clients would find the key free
// again and again, before any waiter has asked, and nothing would be measured of waiting.
func (l load) run(ctx context.Context, lockers []lock.Locker, name string, t times, tap *tap) (cell, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	keys := make([]*turns, l.Keys)
	for i := range keys {
		keys[i] = newTurns(fmt.Sprintf("%s:%d", name, i))
	}
	var all sync.WaitGroup
	clients := make([]client, len(lockers))
	for i, locker := range lockers {
		clients[i] = client{locker: locker, key: keys[i%l.Keys], alone: l.alone(), work: t.Work}
		all.Go(func() { clients[i].repeat(ctx) })
	}
	pause(ctx, t.Warm)
	from, before := time.Now(), tap.traffic()
	pause(ctx, t.Window)
	to, after := time.Now(), tap.traffic()
	stop()
	all.Wait()
	c := within(clients, from, to)
	c.Traffic = after.since(before)
	if c.Grants > 0 {
		return c, nil
	}
	for _, one := range clients {
		if len(one.failed) > 0 {
			return c, fmt.Errorf("%w within %v: %w", errNone, t.Window, one.failed[0])
		}
	}
	return c, fmt.Errorf("%w within %v", errNone, t.Window)
}

// errNone is returned when nothing can be said of a lock.
var errNone = errors.New("no client was granted the lock")

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// within is a cell of the samples of each client that ended in a window.
func within(clients []client, from, to time.Time) cell {
	c := cell{Seconds: to.Sub(from).Seconds()}
	var acquire, release, handover []time.Duration
	for _, one := range clients {
		c.Failed += len(one.failed)
		before := len(acquire)
		for _, s := range one.samples {
			if !s.ended.Before(from) && s.ended.Before(to) {
				acquire, release = append(acquire, s.acquire), append(release, s.release)
				if s.handover > 0 {
					handover = append(handover, s.handover)
				}
			}
		}
		if len(acquire) > before {
			c.Served++
		}
	}
	c.Grants, c.Acquire, c.Release, c.Handover = len(acquire), latencyOf(acquire), latencyOf(release), latencyOf(handover)
	return c
}

// turns is a key, and who was granted it.
type turns struct {
	name string

	mu    sync.Mutex
	next  chan struct{} // closed with the next grant
	freed time.Time     // the last call of a release
}

func newTurns(name string) *turns { return &turns{name: name, next: make(chan struct{})} }

// granted tells the client that had the key before, and returns what tells of the next grant, and how long this one
// took after the last call of a release.
func (k *turns) granted(at time.Time) (next <-chan struct{}, handover time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.next)
	k.next = make(chan struct{})
	if !k.freed.IsZero() {
		handover = at.Sub(k.freed)
	}
	return k.next, handover
}

// releases notes the call of a release.
func (k *turns) releases(at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.freed = at
}

// client is one of a load, and what it has measured.
type client struct {
	locker lock.Locker
	key    *turns
	alone  bool // its key is wanted by no other
	work   time.Duration

	samples []sample
	failed  []error
}

// repeat acquires and releases until the context ends.
func (c *client) repeat(ctx context.Context) {
	for ctx.Err() == nil {
		s, next, err := c.turn(ctx)
		switch {
		case ctx.Err() != nil: // what it returned comes of that
		case err != nil:
			c.failed = append(c.failed, err)
		default:
			c.samples = append(c.samples, s)
		}
		if next == nil {
			continue
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
}

// turn is one acquire with its release. Nothing but the two calls is timed. If others want the key, next tells when
// one of them has it. A release that fails is tried once more.
func (c *client) turn(ctx context.Context) (s sample, next <-chan struct{}, err error) {
	asked := time.Now()
	lease, err := c.locker.Acquire(ctx, c.key.name)
	granted := time.Now()
	if err != nil {
		return s, nil, err
	}
	if !c.alone {
		next, s.handover = c.key.granted(granted)
		pause(ctx, c.work)
		c.key.releases(time.Now())
	}
	freed := time.Now()
	if err = lease.Release(ctx); err != nil {
		return s, next, errors.Join(err, lease.Release(ctx))
	}
	s.ended = time.Now()
	s.acquire, s.release = granted.Sub(asked), s.ended.Sub(freed)
	return s, next, nil
}
