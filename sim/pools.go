package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"locksim/faults"
	"locksim/sim/trace"
)

// AddPool tells the process of a pool of its connections.
func (p *Process) AddPool(pool faults.Pool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pools = append(p.pools, pool)
}

// ExhaustPool takes every connection of the process's pools that the world knows,
// those so far: other work of the process holds them (F49). It lasts for d, or
// until [World.Heal] where d is 0. Commands then wait for a connection until the
// client library gives up.
//
// The holders come one after another, a nanosecond apart, and go in the same
// order. One that gets no connection, since the server is unreachable, goes on
// trying. A connection that is in use passes to them when it is free.
func (f *Faults) ExhaustPool(process string, d time.Duration) error {
	p, err := f.w.Process(process)
	if err != nil {
		return err
	}
	if err := checkLength("exhausted pools of "+process, d); err != nil {
		return err
	}
	if p.Crashed() {
		return nil // nothing left to work
	}
	holders := p.newHolders()
	if len(holders) == 0 {
		return fmt.Errorf("exhaust the pools of %s: %w", process, ErrNoPool)
	}
	f.record(p.name, trace.Exhaust{Connections: len(holders), For: d})
	q, now := f.w.time.queue, f.w.time.now
	for _, h := range holders {
		q.add(now()+1, func() { go h.work() })
	}
	f.w.force.lasts(d, func() {
		f.record(p.name, trace.ExhaustEnd{})
		for _, h := range holders {
			q.add(now()+1, h.release)
		}
	})
	return nil
}

// ErrNoPool is returned by [Faults.ExhaustPool] when the world knows of no pool of
// the process.
var ErrNoPool = errors.New("it has no client with a pool that the world knows: make its clients by the package of the server's kind, or call AddPool")

// holder is work of a process that holds one connection of a pool.
type holder struct {
	p       *Process
	pool    faults.Pool
	ctx     context.Context // ends when the work is done
	release context.CancelFunc
}

// newHolders makes as many as the process's pools have connections.
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

// betweenTries is how long a holder waits until it tries again.
const betweenTries = 100 * time.Millisecond

// work holds a connection until the work is done.
func (h *holder) work() {
	defer h.p.catch()
	for {
		_ = h.pool.Take(h.ctx) // who gets none tries again
		if h.p.Clock().Sleep(h.ctx, betweenTries) != nil {
			return
		}
	}
}

// forgetTimers empties every sync.Pool of the program. Where a command has
// waited for a connection, go-redis keeps the timer of the wait for the next
// one, in a pool of the whole program. A timer belongs to the bubble in which
// it was made: in the next run it would end the program. A collection moves
// what a pool holds to where the next one drops it.
func forgetTimers() {
	runtime.GC()
	runtime.GC()
}
