package redis

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locksim/faults"
)

// Machine is where a client runs: a locksim/sim.Process, the environment that a lock under
// test is given, or anything else that can dial.
type Machine interface {
	// Address is the address under which a server ("r0", "primary") is dialled.
	Address(server string) string
	// Dial opens a connection.
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
	// OnEnd registers what is to be closed at the end.
	OnEnd(func())
}

// Client returns a go-redis client of a server ("r0") with the quiet profile: no
// retries, no identity handshake, one attempt at dialling. It is closed at the end.
func Client(m Machine, server string) *redis.Client {
	opt := Quiet()
	opt.Addr = m.Address(server)
	return ClientWith(m, opt)
}

// ClientWith returns a go-redis client with options of the caller's; its dialer is
// the machine's. Addr must be an address from the machine, or a server's name with a
// port: go-redis would look another name up in the real DNS.
//
// The world knows the pool of a client that is made here, so that faults can exhaust
// it. One that is made otherwise must never be exhausted where runs follow each
// other in one program: go-redis keeps timers of one run for the next, at which the
// Go runtime ends the program.
func ClientWith(m Machine, opt *redis.Options) *redis.Client {
	quieten()
	o := *opt
	p := &pool{machine: m}
	o.Dialer = p.dial
	p.client = redis.NewClient(&o)
	if a, ok := m.(interface{ AddPool(faults.Pool) }); ok {
		a.AddPool(p)
	}
	m.OnEnd(func() { _ = p.client.Close() })
	return p.client
}

// Quiet are the go-redis options with which nothing happens that the caller did not
// ask for. Add an address.
func Quiet() *redis.Options {
	return &redis.Options{
		Protocol: 2, DisableIdentity: true, MaintNotificationsConfig: maintenanceOff(),
		MaxRetries: -1, DialerRetries: 1, PipelinePoolSize: -1,
		PoolSize: 16, // the default depends on GOMAXPROCS
		// The default of 32 KiB a connection is most of a run's memory.
		ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10,
		DialTimeout: 5 * time.Second,
	}
}

// Stock are the go-redis options as users run them: the defaults. A command is sent
// up to four times, a context's end does not interrupt it while it waits for an
// answer, five seconds at most, and every connection begins with a handshake. A SET
// NX whose answer was lost is sent again, and its client then sees its own lock as
// somebody else's (F27). Add an address.
//
// What differs from the defaults, and why:
//
//   - Maintenance notifications are off: they look names up in the real DNS.
//   - PoolSize is 10, the default of one processor: it follows GOMAXPROCS, and a
//     run must not.
//   - The buffers are of 4 KiB in place of 32, and 128 for pipelines: they would
//     be most of a run's memory.
func Stock() *redis.Options {
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

// maintenanceOff keeps go-redis from asking the server for maintenance
// notifications, which would look names up.
func maintenanceOff() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// pool is the pool of a client: a [faults.Pool].
type pool struct {
	machine Machine
	client  *redis.Client
	open    atomic.Int64 // and those that could not be opened
	most    atomic.Int64
}

// dial is the client's dialer.
func (p *pool) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	n := p.open.Add(1)
	for most := p.most.Load(); n > most && !p.most.CompareAndSwap(most, n); most = p.most.Load() {
	}
	c, err := p.machine.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &pooled{Conn: c, pool: p}, nil
}

// pooled is a connection of a pool.
type pooled struct {
	net.Conn
	pool *pool
}

// Close closes the connection, and counts it off.
func (c *pooled) Close() error {
	err := c.Conn.Close()
	if err == nil {
		c.pool.open.Add(-1)
	}
	return err
}

// Size implements [faults.Pool].
func (p *pool) Size() int { return p.client.Options().PoolSize }

// Take implements [faults.Pool]: it dials where there is no idle connection, and sends a
// PING. Subscriptions have connections of their own.
func (p *pool) Take(ctx context.Context) error {
	c := p.client.Conn()
	err := c.Ping(ctx).Err()
	if err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, c.Close())
}

// Dirty implements [faults.Pool]. A command may have had to wait where as many
// connections as the pool has were open or being opened at once, or so many attempts
// have failed that go-redis dials no more.
func (p *pool) Dirty() bool {
	o := p.client.Options()
	size := min(o.PoolSize, o.MaxConcurrentDials)
	if o.MaxActiveConns > 0 {
		size = min(size, o.MaxActiveConns)
	}
	return p.most.Load() >= int64(size)
}

// quieten keeps go-redis from writing to standard error: it logs failed dials.
var quieten = sync.OnceFunc(func() { redis.SetLogger(noLog{}) })

type noLog struct{}

func (noLog) Printf(context.Context, string, ...any) {}
