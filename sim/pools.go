package sim

import (
	"context"
	"net"
	"runtime"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// redisPool is a go-redis client of a process, with how many connections it
// has had at once.
type redisPool struct {
	p      *Process
	client *redis.Client
	open   atomic.Int64 // and those that could not be opened
	most   atomic.Int64
}

// dial is the client's dialer.
func (r *redisPool) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	n := r.open.Add(1)
	for most := r.most.Load(); n > most && !r.most.CompareAndSwap(most, n); most = r.most.Load() {
	}
	c, err := r.p.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c.(*Conn).onClose = func() { r.open.Add(-1) }
	return c, nil
}

// mayHaveBeenExhausted reports whether a command may have had to wait for a
// connection. Then as many as the pool has were open or being opened at once,
// or so many attempts have failed that go-redis dials no more.
func (r *redisPool) mayHaveBeenExhausted() bool {
	o := r.client.Options()
	size := min(o.PoolSize, o.MaxConcurrentDials)
	if o.MaxActiveConns > 0 {
		size = min(size, o.MaxActiveConns)
	}
	return r.most.Load() >= int64(size)
}

// exhausted reports whether a pool of any process may have been exhausted.
func (w *World) exhausted() bool {
	for _, p := range w.everybody() {
		for _, r := range p.pools {
			if r.mayHaveBeenExhausted() {
				return true
			}
		}
	}
	return false
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
