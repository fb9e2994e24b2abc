package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ExhaustPool takes every connection of the process's Redis clients, those made
// by [Process.Redis] and [Process.RedisWith] so far: other work of the process
// holds them (F49). It lasts for d, or until [World.Heal] where d is 0. Commands
// then wait for a connection until go-redis gives up, after its PoolTimeout.
// Subscriptions have connections of their own.
//
// The holders come one after another, a nanosecond apart, and go in the same
// order. Each dials where there is no idle connection and sends a PING; one that
// cannot, since the node is unreachable, goes on trying. A connection that is in
// use passes to them when it is free.
func (w *World) ExhaustPool(process string, d time.Duration) error {
	p, err := w.Process(process)
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
	w.record("world", "exhaust", p.name, fmt.Sprintf("%d connections, %s", len(holders), howLong(d)))
	for _, h := range holders {
		w.queue.add(w.now()+1, func() { go h.work() })
	}
	w.lasts(d, func() {
		w.record("world", "exhaust-end", p.name, "")
		for _, h := range holders {
			w.queue.add(w.now()+1, h.release)
		}
	})
	return nil
}

// ErrNoPool is returned by [World.ExhaustPool] when the process has no Redis
// client that was made by [Process.Redis] or [Process.RedisWith].
var ErrNoPool = errors.New("it has no Redis client with a pool that the world knows: make one by Process.Redis or Process.RedisWith")

// holder is work of a process that holds one connection of a pool.
type holder struct {
	pool    *redisPool
	ctx     context.Context // ends when the work is done
	release context.CancelFunc
}

// newHolders makes as many as the process's pools have connections.
func (p *Process) newHolders() []*holder {
	p.mu.Lock()
	pools := slices.Clone(p.pools)
	p.mu.Unlock()
	var all []*holder
	for _, pool := range pools {
		for range pool.client.Options().PoolSize {
			h := &holder{pool: pool}
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
	p := h.pool.p
	defer p.catch()
	for {
		c := h.pool.client.Conn()
		if err := c.Ping(h.ctx).Err(); err == nil {
			<-h.ctx.Done()
		}
		_ = c.Close()
		if p.Clock().Sleep(h.ctx, betweenTries) != nil {
			return
		}
	}
}
