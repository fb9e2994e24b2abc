// Package redisclient makes go-redis clients for a simulated world, for the environment of a lock under test, or for
// anything else that can dial. It compiles no server.
package redisclient

import (
	"context"
	"errors"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
)

// Primary is the name that leads to the first Redis server, or to the replica that
// a failover has promoted.
const Primary = "primary"

// Machine is where a client runs: a locksim/sim.Process, the environment of a lock under test, or anything else that
// can dial.
type Machine interface {
	// Address is the address under which a server ("r0", "primary") is dialled.
	Address(server string) string
	// Dial opens a connection.
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
	// OnEnd registers a function to call at the end of the run.
	OnEnd(func())
}

// New returns a go-redis client of a server ("r0") with the quiet profile: no retries, no identity handshake, one
// attempt to dial. It is closed at the end of the run.
func New(m Machine, server string) *redis.Client {
	opt := Quiet()
	opt.Addr = m.Address(server)
	return With(m, opt)
}

// With returns a go-redis client with the caller's options and the machine's dialer. Addr must be an address from
// the machine, or a server's name with a port: commands of a client with another one get an error.
//
// The client's pool is registered with the machine, so that faults can exhaust it. A client that is created otherwise
// must never exhaust its pool in a program with several runs: go-redis keeps timers of one run for the next, where the
// Go runtime then ends the program.
func With(m Machine, opt *redis.Options) *redis.Client {
	Silence()
	o := *opt
	p := &pool{machine: m}
	o.Dialer = p.dial
	p.client = redis.NewClient(&o)
	p.register(m)
	return p.client
}

// Failover returns a go-redis client that finds the primary by Sentinels, with the caller's options and the
// machine's dialer. SentinelAddrs are names of Sentinels, or addresses from the machine. Otherwise it is as
// [With].
func Failover(m Machine, opt *redis.FailoverOptions) *redis.Client {
	Silence()
	o := *opt
	o.SentinelAddrs = nil
	for _, name := range opt.SentinelAddrs {
		o.SentinelAddrs = append(o.SentinelAddrs, m.Address(name))
	}
	p := &pool{machine: m}
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if slices.Contains(o.SentinelAddrs, addr) { // it does not belong to the pool
			return m.Dial(ctx, network, addr)
		}
		return p.dial(ctx, network, addr)
	}
	p.client = redis.NewFailoverClient(&o)
	p.client.AddHook(inOrder{})
	p.register(m)
	return p.client
}

// register makes the pool known to the machine.
func (p *pool) register(m Machine) {
	p.client.AddHook(count{p})
	if a, ok := m.(interface{ AddPool(faults.Pool) }); ok {
		a.AddPool(p)
	}
	m.OnEnd(func() { _ = p.client.Close() })
}

// QuietFailover are the options of [Quiet] for a client that finds the primary by Sentinels, with one dial at a time:
// go-redis keeps a mutex while it searches for the primary. Add the addresses of the Sentinels, and the name of the
// primary.
func QuietFailover() *redis.FailoverOptions {
	q := Quiet()
	opt := &redis.FailoverOptions{MaxRetries: q.MaxRetries, PoolSize: q.PoolSize, DialTimeout: q.DialTimeout}
	setQuiet(opt)
	set(opt, "MaxConcurrentDials", 1)
	return opt
}

// StockFailover are the default options, as [Stock] has them, with one dial at a time: see [QuietFailover].
func StockFailover() *redis.FailoverOptions {
	opt := &redis.FailoverOptions{PoolSize: Stock().PoolSize}
	setSmallBuffers(opt)
	set(opt, "MaxConcurrentDials", 1)
	return opt
}

// Quiet are the go-redis options with which the client sends only what the caller asks for. Add an address.
func Quiet() *redis.Options {
	opt := &redis.Options{
		MaxRetries:  -1,
		PoolSize:    16, // the default depends on GOMAXPROCS
		DialTimeout: 5 * time.Second,
	}
	setQuiet(opt)
	set(opt, "MaintNotificationsConfig.Mode", "disabled")
	return opt
}

// setQuiet sets what [Quiet] and [QuietFailover] have in common.
func setQuiet(opt any) {
	set(opt, "Protocol", 2)
	set(opt, "DisableIdentity", true)
	set(opt, "DisableIndentity", true) // its name before 9.8
	set(opt, "DialerRetries", 1)
	set(opt, "PipelinePoolSize", -1)
	// The default of 32 KiB a connection is most of a run's memory.
	set(opt, "ReadBufferSize", 4<<10)
	set(opt, "WriteBufferSize", 4<<10)
}

// Stock are the default go-redis options. A command is sent up to four times, the end of its context does not interrupt
// the wait for a reply, of at most five seconds, and every connection begins with a handshake. A SET NX whose reply was
// lost is sent again, and its client then takes its own key for another client's (F27). Add an address.
//
// The differences from the defaults, and why:
//
//   - PoolSize is 10, the default for one processor: it depends on GOMAXPROCS,
//     and a run must not.
//   - The buffers have 4 KiB in place of 32, and of 128 for pipelines: they
//     would be most of a run's memory.
func Stock() *redis.Options {
	opt := &redis.Options{PoolSize: 10}
	setSmallBuffers(opt)
	return opt
}

func setSmallBuffers(opt any) {
	const buffer = 4 << 10
	for _, name := range []string{"ReadBufferSize", "WriteBufferSize", "PipelineReadBufferSize",
		"PipelineWriteBufferSize"} {
		set(opt, name, buffer)
	}
}

// set sets an option that older versions of go-redis do not have, so that a module which pins one of them builds: what
// a version does not know it does not do either. Name may lead to a field of a structure that the option points to.
func set(opt any, name string, value any) {
	at := reflect.ValueOf(opt)
	for part := range strings.SplitSeq(name, ".") {
		if at.IsNil() {
			at.Set(reflect.New(at.Type().Elem()))
		}
		if at = at.Elem().FieldByName(part); !at.IsValid() {
			return
		}
	}
	at.Set(reflect.ValueOf(value).Convert(at.Type()))
}

// pool is the pool of a client: a [faults.Pool].
type pool struct {
	machine Machine
	client  *redis.Client
	open    atomic.Int64 // open connections, and failed dials
	most    atomic.Int64
	asked   atomic.Int64 // commands
}

// count is a hook that counts the commands of a pool, those of [pool.Take] left out.
type count struct{ pool *pool }

// taking is the key of a context value that marks the commands of [pool.Take].
type taking struct{}

func (c count) command(ctx context.Context) {
	if ctx.Value(taking{}) == nil {
		c.pool.asked.Add(1)
	}
}

// DialHook implements [redis.Hook].
func (count) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements [redis.Hook].
func (c count) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.command(ctx)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (c count) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.command(ctx)
		return next(ctx, cmds)
	}
}

// Asked implements [faults.Pool].
func (p *pool) Asked() int64 { return p.asked.Load() }

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

// Close closes the connection and decrements the count.
func (c *pooled) Close() error {
	err := c.Conn.Close()
	if err == nil {
		c.pool.open.Add(-1)
	}
	return err
}

// Size implements [faults.Pool].
func (p *pool) Size() int { return p.client.Options().PoolSize }

// Take implements [faults.Pool]: it dials if there is no idle connection, and sends a PING. Subscriptions use separate
// connections.
func (p *pool) Take(ctx context.Context) error {
	c := p.client.Conn()
	ctx = context.WithValue(ctx, taking{}, true)
	err := c.Ping(ctx).Err()
	if err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, c.Close())
}

// Dirty implements [faults.Pool]. A command may have waited for a connection if as many as the pool's size were open or
// being opened at once, or if so many dials have failed that go-redis dials no more.
func (p *pool) Dirty() bool {
	o := p.client.Options()
	size := int64(o.PoolSize)
	for _, limit := range []string{"MaxConcurrentDials", "MaxActiveConns"} { // an older version does not have them
		if f := reflect.ValueOf(o).Elem().FieldByName(limit); f.IsValid() && f.Int() > 0 {
			size = min(size, f.Int())
		}
	}
	return p.most.Load() >= size
}

// Silence keeps go-redis from writing to standard error, where it logs failed dials.
var Silence = sync.OnceFunc(func() { redis.SetLogger(noLog{}) })

type noLog struct{}

func (noLog) Printf(context.Context, string, ...any) {}
