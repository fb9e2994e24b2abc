package sim

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis returns a client of a node ("r0") with the quiet profile: no retries,
// no identity handshake, one attempt at dialling. It is closed when the run
// is over.
func (p *Process) Redis(node string) *redis.Client {
	opt := QuietRedis()
	opt.Addr = p.w.addressOf(node)
	return p.RedisWith(opt)
}

// RedisWith returns a client with options of the caller's; its dialer is the
// process's. Addr must be a node's name with a port, or an address from
// [World.Address]: go-redis would look another name up in the real DNS.
func (p *Process) RedisWith(opt *redis.Options) *redis.Client {
	o := *opt
	pool := &redisPool{p: p}
	o.Dialer = pool.dial
	pool.client = redis.NewClient(&o)
	p.mu.Lock()
	p.pools = append(p.pools, pool)
	p.mu.Unlock()
	p.OnEnd(func() { _ = pool.client.Close() })
	return pool.client
}

// QuietRedis are the go-redis options with which nothing happens that the
// caller did not ask for. Add an address.
func QuietRedis() *redis.Options {
	return &redis.Options{
		Protocol: 2, DisableIdentity: true, MaintNotificationsConfig: maintenanceOff(),
		MaxRetries: -1, DialerRetries: 1, PipelinePoolSize: -1,
		PoolSize: 16, // the default depends on GOMAXPROCS
		// The default of 32 KiB a connection is most of a run's memory.
		ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10,
		DialTimeout: 5 * time.Second,
	}
}

// StockRedis are the go-redis options as users run them: the defaults. A
// command is sent up to four times, a context's end does not interrupt it
// while it waits for an answer, five seconds at most, and every connection
// begins with a handshake. A SET NX whose answer was lost is sent again, and
// its client then sees its own lock as somebody else's (F27). Add an address.
//
// What differs from the defaults, and why:
//
//   - Maintenance notifications are off: they look names up in the real DNS.
//   - PoolSize is 10, the default of one processor: it follows GOMAXPROCS, and a
//     run must not.
//   - The buffers are of 4 KiB in place of 32, and 128 for pipelines: they would
//     be most of a run's memory.
func StockRedis() *redis.Options {
	const buffer = 4 << 10
	return &redis.Options{
		MaintNotificationsConfig: maintenanceOff(),
		PoolSize:                 10,
		ReadBufferSize:           buffer,
		WriteBufferSize:          buffer,
		PipelineReadBufferSize:   buffer,
		PipelineWriteBufferSize:  buffer,
	}
}
