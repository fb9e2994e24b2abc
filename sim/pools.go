package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"locksim/faults"
	"locksim/sim/trace"
)

// AddPool registers a pool of connections of the process.
func (p *Process) AddPool(pool faults.Pool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pools = append(p.pools, pool)
	if w, ok := pool.(faults.PoolWaiter); ok {
		p.waiters = append(p.waiters, &poolWaits{pool: w})
		p.w.procs.waiters.Store(true)
	}
}

// poolWaits is a pool that can tell when a command waits for a connection.
type poolWaits struct {
	pool faults.PoolWaiter
	seen int64 // how many such commands are in the trace
}

// noteWaits adds the commands that have begun to wait for a connection to the trace. Every
// goroutine must be blocked.
func (ps *processes) noteWaits() {
	if !ps.waiters.Load() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(ps.byName)) {
		p := ps.byName[name]
		p.mu.Lock()
		waiters := p.waiters
		p.mu.Unlock()
		for _, w := range waiters {
			for waits := w.pool.Waits(); w.seen < waits; w.seen++ {
				ps.w.trace.record(p.name, "", trace.Await{Connections: w.pool.Size()})
			}
		}
	}
}

// ExhaustPool takes every connection of the pools that the process has
// registered so far, as if other work of the process held them (F49), for d, or
// until [World.Heal] where d is 0. Commands then wait for a connection until
// the client library times out.
//
// The holders start one after another, a nanosecond apart, and end in the same
// order. A holder that gets no connection, since the server is unreachable,
// tries again. A connection that is in use passes to a holder when it is free.
func (f *Faults) ExhaustPool(process string, d time.Duration) error {
	p, err := f.w.Process(process)
	if err != nil {
		return err
	}
	if err := checkLength("exhausted pools of "+process, d); err != nil {
		return err
	}
	if p.Crashed() {
		return nil // it does no more work
	}
	holders := p.newHolders()
	if len(holders) == 0 {
		return fmt.Errorf("exhaust the pools of %s: %w", process, ErrNoPool)
	}
	f.record(p.name, trace.Exhaust{Connections: len(holders), For: d})
	before := p.asked()
	q, now := f.w.time.queue, f.w.time.now
	for _, h := range holders {
		q.add(now()+1, func() { go h.p.guarded(h.work) })
	}
	f.w.force.endAfter(d, func() {
		if p.asked() > before {
			f.felt()
		}
		f.record(p.name, trace.ExhaustEnd{})
		for _, h := range holders {
			q.add(now()+1, h.release)
		}
	})
	return nil
}

// asked counts the commands that have asked the process's pools for a connection.
func (p *Process) asked() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	total := int64(0)
	for _, pool := range p.pools {
		total += pool.Asked()
	}
	return total
}

// ErrNoPool is returned by [Faults.ExhaustPool] when the process has registered
// no pool.
var ErrNoPool = errors.New("it has registered no pool: make its clients by the package of the server's kind, or call " +
	"AddPool")

// holder is work of a process that holds one connection of a pool.
type holder struct {
	p       *Process
	pool    faults.Pool
	ctx     context.Context // ends when the work is done
	release context.CancelFunc
}

// newHolders creates one holder for each connection of the process's pools.
func (p *Process) newHolders() []*holder {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*holder
	for _, pool := range p.pools {
		for range pool.Size() {
			h := &holder{p: p, pool: pool}
			h.ctx, h.release = context.WithCancel(p.ctx)
			all = append(all, h)
		}
	}
	return all
}

// betweenTries is the delay between two attempts of a holder.
const betweenTries = 100 * time.Millisecond

func (h *holder) work() {
	for {
		_ = h.pool.Take(h.ctx) // without a connection it tries again
		if h.p.Clock().Sleep(h.ctx, betweenTries) != nil {
			return
		}
	}
}

// forgetTimers empties every sync.Pool of the program. After a command has
// waited for a connection, go-redis keeps the timer of that wait in a pool of
// the whole program. A timer belongs to the bubble in which it was created: its
// use in the next run would end the program. A pool drops its contents after
// two collections.
func forgetTimers() {
	runtime.GC()
	runtime.GC()
}
