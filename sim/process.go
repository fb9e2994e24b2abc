package sim

import (
	"context"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Process is a client machine: goroutines, a clock, sockets, and a source of
// randomness that end together when it crashes. Its methods are safe for
// concurrent use by the process's own goroutines.
type Process struct {
	w      *World
	name   string
	clock  clock
	ctx    context.Context
	cancel context.CancelFunc
	gate   gate

	mu      sync.Mutex
	conns   []*Conn
	closers []func()
	store   *StoreClient
}

// NewProcess adds a process to the world, for the world's goroutine. The
// clients c0, c1, … exist from the start; a probe that comes later is added
// here. A name that is taken panics.
func (w *World) NewProcess(name string) *Process {
	if _, taken := w.procs[name]; taken {
		panic("sim: a second process named " + name)
	}
	p := &Process{w: w, name: name}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.gate.init(p)
	w.procs[name] = p
	return p
}

// Name is c0, c1, …
func (p *Process) Name() string { return p.name }

// Context ends when the process crashes or the run is over.
func (p *Process) Context() context.Context { return p.ctx }

// Seed is the seed of the run.
func (p *Process) Seed() uint64 { return p.w.cfg.Seed }

// Rand makes a generator for one use of this process. Equal names give
// generators with equal numbers, so give each use its own.
func (p *Process) Rand(name string) *rand.Rand { return rand.New(p.Source(name)) }

// Source is [Process.Rand] for code that wants a source. It is not safe for
// concurrent use.
func (p *Process) Source(name string) rand.Source { return p.w.stream(p.name + "/" + name) }

// Entropy makes a source of random bytes for one use of this process, to be
// used where production code reads crypto/rand.
func (p *Process) Entropy(name string) io.Reader { return p.w.entropy(p.name + "/" + name) }

// Go runs f on a goroutine of the process. [World.Idle] waits for it. A panic
// in f ends the run with a [*PanicError], unless the process has crashed: the
// dead do not panic.
func (p *Process) Go(f func()) {
	p.w.running.Add(1)
	go func() {
		defer func() {
			p.w.running.Add(-1)
			p.w.out.nudge()
		}()
		defer p.catch()
		f()
	}()
}

// catch, deferred, reports a panic of the process.
func (p *Process) catch() {
	if r := recover(); r != nil && !p.Crashed() {
		p.w.fail(&PanicError{Actor: p.name, Value: r, Stack: string(debug.Stack())})
	}
}

// OnEnd registers f to run when the run is over, for clients that have to be
// closed. A crash does not run it.
func (p *Process) OnEnd(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closers = append(p.closers, f)
}

// end closes what the process has opened, on goroutines of its own, since
// closing may want something of the world.
func (p *Process) end() {
	p.gate.open()
	p.mu.Lock()
	closers := p.closers
	p.closers = nil
	p.mu.Unlock()
	p.cancel()
	for _, f := range closers {
		go func() {
			defer p.catch()
			f()
		}()
	}
}

// Crashed reports whether the process has crashed.
func (p *Process) Crashed() bool { return p.gate.isCrashed() }

// Point is a named point of the code under test or of the workload, at which
// a schedule may strike although no virtual time passes there: "c0 has just
// checked its lease". It returns [ErrCrashed] when the process is no more.
func (p *Process) Point(label string) error {
	_, err := p.Mark("point", label)
	return err
}

// Mark is a point that leaves an event of a given kind in the trace, and
// returns the event's number.
func (p *Process) Mark(kind, text string) (int, error) {
	if err := p.gate.pass("mark " + kind + " " + text); err != nil {
		return 0, err
	}
	n := p.note(kind, text, p.Crashed)
	return n, p.gate.pass("marked " + kind + " " + text)
}

// Paused reports whether the process is paused.
func (p *Process) Paused() bool { return p.gate.state.Load() == gateShut }

// Observe leaves an event in the trace without passing the gate: what the
// harness sees of a process, even while it is paused.
func (p *Process) Observe(kind, text string) int {
	return p.note(kind, text, func() bool { return false })
}

// note asks the world to record an event at an instant of its own, which it
// does unless the process is silenced by then.
func (p *Process) note(kind, text string, silenced func() bool) int {
	var n int
	done := make(chan struct{})
	label := kind + " " + text
	p.w.out.post(entry{where: p.name, rank: rankPoint, label: label, commit: func() {
		p.w.queue.join(p.name, label, p.w.now()+1, func() {
			if !silenced() {
				n = p.w.point(p.name, kind, text)
			}
			p.w.wakeAfter(done)
		})
	}})
	<-done
	return n
}

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
	o.Dialer = p.Dial
	c := redis.NewClient(&o)
	p.OnEnd(func() { _ = c.Close() })
	return c
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
