package sim

import (
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Process is a client machine: goroutines, a clock, sockets, and a source of
// randomness that end together when it crashes. Its methods are safe for
// concurrent use by the process's own goroutines.
type Process struct {
	w           *World
	name        string
	incarnation int    // 1, and one more after each restart
	clock       *clock // the machine's, which outlives the process
	ctx         context.Context
	cancel      context.CancelFunc
	gate        gate
	workerDead  atomic.Bool
	sawWall     atomic.Bool // somebody has read the wall clock

	// For the world's goroutine.
	timers []*procTimer // that have not fired
	lag    time.Duration

	mu      sync.Mutex
	conns   []*Conn
	closers []func()
	store   *StoreClient
	pools   []*redisPool
}

// NewProcess adds a process to the world, for the world's goroutine. The
// clients c0, c1, … exist from the start; a probe that comes later is added
// here. A name that is taken panics.
func (w *World) NewProcess(name string) *Process {
	if _, taken := w.procs[name]; taken {
		panic("sim: a second process named " + name)
	}
	return w.launch(name, 1, new(clock))
}

// launch starts a process on a machine that has a clock.
func (w *World) launch(name string, incarnation int, c *clock) *Process {
	p := &Process{w: w, name: name, incarnation: incarnation, clock: c}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.gate.init(p)
	w.procs[name] = p
	return p
}

// everybody is all processes, those too that a restart has replaced, in no
// order.
func (w *World) everybody() []*Process {
	all := slices.Clone(w.former)
	for _, p := range w.procs {
		all = append(all, p)
	}
	return all
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
func (p *Process) Source(name string) rand.Source { return p.w.stream(p.streamName(name)) }

// Entropy makes a source of random bytes for one use of this process, to be
// used where production code reads crypto/rand.
func (p *Process) Entropy(name string) io.Reader { return p.w.entropy(p.streamName(name)) }

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
// checked its lease". It returns [ErrCrashed] when the process is no more, and
// [ErrWorkerDead] when its worker is.
func (p *Process) Point(label string) error {
	_, err := p.Mark("point", label)
	return err
}

// Mark is a point that leaves an event of a given kind in the trace, and
// returns the event's number. Errors as for [Process.Point]: with a number
// where the end came when the event was there already.
func (p *Process) Mark(kind, text string) (int, error) {
	if err := cmp.Or(p.gate.pass("mark "+kind+" "+text), p.alive()); err != nil {
		return 0, err
	}
	n := p.note(kind, text, p.silenced)
	return n, cmp.Or(p.gate.pass("marked "+kind+" "+text), p.alive())
}

// silenced reports whether the process's marks come to nothing.
func (p *Process) silenced() bool { return p.Crashed() || p.workerDead.Load() }

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
