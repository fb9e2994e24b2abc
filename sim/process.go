package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"locksim/faults"
	"locksim/sim/trace"
)

// ErrCrashed is returned by every seam of a process that has crashed.
var ErrCrashed = errors.New("the process has crashed")

// ErrWorkerDead is returned by [Process.Mark] and [Process.Point] when the
// worker of the process is dead: see [Faults.KillWorker].
var ErrWorkerDead = errors.New("the worker of the process is dead")

// processes are the client machines of a world.
type processes struct {
	w        *World
	clients  []*Process // c0, c1, …
	byName   map[string]*Process
	replaced []*Process // replaced by a restart
	onMark   []func(process string, m trace.Mark)
	running  atomic.Int64 // goroutines of Process.Go
	crashed  bool         // one of them has
	// abandoned says that goroutines remain on purpose: see [World.Abandon].
	abandoned bool
	waiters   atomic.Bool // one of them has a pool that can tell who waits
}

func newProcesses(w *World) *processes {
	return &processes{w: w, byName: map[string]*Process{}}
}

func (ps *processes) find(name string) (*Process, error) {
	if p := ps.byName[name]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("there is no process %q in this world of %d clients", name, len(ps.clients))
}

// launch starts a process on the machine with this clock.
func (ps *processes) launch(name string, incarnation int, c *clock) *Process {
	p := &Process{w: ps.w, name: name, incarnation: incarnation, clock: c}
	p.begin()
	p.gate.init(p)
	p.timers.p = p
	ps.byName[name] = p
	return p
}

// replace starts a process on the machine of a crashed one.
func (ps *processes) replace(old *Process) *Process {
	p := ps.launch(old.name, old.incarnation+1, old.clock)
	ps.replaced = append(ps.replaced, old)
	if i := slices.Index(ps.clients, old); i >= 0 {
		ps.clients[i] = p
	}
	for _, l := range ps.w.net.links {
		if l.p == old {
			l.p = p
		}
	}
	return p
}

// all is every process, including those that a restart has replaced, in no
// order.
func (ps *processes) all() []*Process {
	all := slices.Clone(ps.replaced)
	for _, p := range ps.byName {
		all = append(all, p)
	}
	return all
}

// linger reports whether a process that has not crashed still has work of [Process.Go], and ends by itself.
func (ps *processes) linger() bool {
	return !ps.abandoned && slices.ContainsFunc(ps.all(), func(p *Process) bool {
		return p.running.Load() > 0 &&
			!p.Crashed()
	})
}

func (ps *processes) died() map[life]bool {
	out := map[life]bool{}
	for _, p := range ps.all() {
		if p.Crashed() {
			out[life{p.name, p.incarnation}] = true
		}
	}
	return out
}

// exhausted reports whether a pool of any process may have been exhausted.
func (ps *processes) exhausted() bool {
	for _, p := range ps.all() {
		if slices.ContainsFunc(p.pools, faults.Pool.Dirty) {
			return true
		}
	}
	return false
}

// Process is a client machine: goroutines, a clock, sockets and random streams.
// A crash ends all of them. Its methods are safe for concurrent use by the
// process's own goroutines.
//
// Every read, write, dial, close, clock reading, sleep and mark of a process
// passes a seam. While it is paused nothing passes.
type Process struct {
	w           *World
	name        string
	incarnation int    // 1, and one more after each restart
	clock       *clock // the machine's, which outlives the process
	ctx         context.Context
	look        context.Context // has the labels of [Process.Look]
	cancel      context.CancelFunc
	notice      context.Context // ends when it is asked to end
	notify      context.CancelFunc
	gate        gate
	timers      timers
	sockets     sockets
	global      *lockedSource          // in place of math/rand and math/rand/v2
	entropy     *lockedReader          // in place of crypto/rand
	spins       sync.Map               // stack → time.Duration: when runtime.Gosched was last called there
	workerDead  atomic.Pointer[effect] // nil while the worker lives
	sawWall     atomic.Bool            // the wall clock has been read
	dialsEarly  atomic.Bool            // it has dialled an [Early] server
	running     atomic.Int64           // goroutines of Go
	forgotten   time.Duration          // from when on they do not count, if the process has crashed

	mu      sync.Mutex
	closers []func()
	pools   []faults.Pool
	waiters []*poolWaits // those of the pools that can tell
}

// Name is c0, c1, …
func (p *Process) Name() string { return p.name }

// Incarnation is 1, and one more after each restart.
func (p *Process) Incarnation() int { return p.incarnation }

// Context ends when the process crashes or the run is over.
func (p *Process) Context() context.Context { return p.ctx }

// Notice ends when the process is asked to end, and with its Context: see [Faults.Terminate].
func (p *Process) Notice() context.Context { return p.notice }

// Exit ends a process that has been asked to end, as at the end of its main function: the
// system closes its sockets. It is for its own goroutines. Without such a request, or after
// a crash, it does nothing.
func (p *Process) Exit() {
	if p.notice.Err() == nil || p.ctx.Err() != nil {
		return
	}
	done := make(chan struct{})
	t := p.w.time
	t.outbox.post(entry{where: p.name, rank: rankPoint, label: "exit", commit: func() {
		t.queue.join(p.name, "exit", t.now()+1, func() {
			p.w.Faults().end(p, trace.Crash{Mode: trace.Exit}, faults.CrashProcess)
			t.wakeAfter(done)
		})
	}})
	<-done
}

// Address is the address under which a server ("r0", "s0", "primary") is
// dialled. An unknown name is returned as it is: dialling it fails.
func (p *Process) Address(server string) string {
	if h, ok := p.w.net.hosts[server]; ok {
		return h.address()
	}
	return server
}

// streamName names a random stream of the process. Each incarnation has its
// own.
func (p *Process) streamName(use string) string { return streamName(p.name, p.incarnation, use) }

func streamName(process string, incarnation int, use string) string {
	if incarnation == 1 {
		return process + "/" + use
	}
	return fmt.Sprintf("%s/%d/%s", process, incarnation, use)
}

// SourceOf is [Process.Source] of the process with a name in the world of a seed, for one that takes its place in
// another world. The first incarnation is 1.
func SourceOf(seed uint64, process string, incarnation int, use string) rand.Source {
	return chance(seed).stream(streamName(process, incarnation, use))
}

// Rand creates a generator for one use of this process. Equal names give
// generators with equal numbers, so give each use its own.
func (p *Process) Rand(use string) *rand.Rand { return rand.New(p.Source(use)) }

// Source is [Process.Rand] for code that wants a source. It is not safe for
// concurrent use.
func (p *Process) Source(use string) rand.Source { return p.w.stream(p.streamName(use)) }

// Entropy creates a source of random bytes for one use of this process, in
// place of crypto/rand.
func (p *Process) Entropy(use string) io.Reader { return p.w.chance.entropy(p.streamName(use)) }

// Go runs f on a goroutine of the process. [World.Idle] waits for it. A panic
// in f ends the run with a [*PanicError] or, by [Config.PanicCrashes], the process, unless it has crashed. So does
// runtime.Goexit, which FailNow and Fatal of a testing.T call.
func (p *Process) Go(f func()) {
	p.running.Add(1)
	p.w.procs.running.Add(1)
	go func() {
		p.adopt()
		defer func() {
			p.running.Add(-1)
			p.w.procs.running.Add(-1)
			p.w.time.outbox.nudge()
		}()
		p.guarded(f)
	}()
}

// errGoexit is the value of a panic for a goroutine that was ended by runtime.Goexit.
var errGoexit = errors.New("runtime.Goexit was called, as FailNow and Fatal of a testing.T do: the goroutine ends " +
	"without a return")

// guarded calls f, and reports a panic or a Goexit of the process.
func (p *Process) guarded(f func()) {
	returned := false
	defer func() {
		r := recover()
		if r == nil && !returned {
			r = errGoexit
		}
		if r == nil || p.Crashed() {
			return
		}
		e := &PanicError{Actor: p.name, Value: r, Stack: string(debug.Stack())}
		where := e.where()
		if !p.w.cfg.PanicCrashes || p.w.trace.over || where == "" {
			p.w.time.fail(e)
			return
		}
		p.w.time.outbox.post(entry{where: p.name, rank: rankNode, label: "panic", commit: func() {
			p.w.Faults().end(p, trace.Crash{Mode: string(faults.CrashProcess), Panic: e.text() + ", " + where},
				faults.CrashProcess)
		}})
	}()
	f()
	returned = true
}

// OnEnd registers f to be called when the run is over, for clients that have to
// be closed. A crash does not call it.
func (p *Process) OnEnd(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closers = append(p.closers, f)
}

func (p *Process) end() {
	p.gate.end()
	p.Do(p.cancel)
}

// closeAll closes what the process has opened, on separate goroutines, since a close
// may make requests to the world.
func (p *Process) closeAll() {
	p.mu.Lock()
	closers := p.closers
	p.closers = nil
	p.mu.Unlock()
	for _, f := range closers {
		go func() {
			p.adopt()
			p.guarded(f)
		}()
	}
}

// Crashed reports whether the process has crashed.
func (p *Process) Crashed() bool { return p.gate.isCrashed() }

// Paused reports whether the process is paused.
func (p *Process) Paused() bool { return p.gate.state.Load() == gatePaused }

// alive returns the error of a dead worker.
func (p *Process) alive() error {
	if dead := p.workerDead.Load(); dead != nil {
		dead.felt()
		return ErrWorkerDead
	}
	return nil
}

// Point is a named point of the code under test or of the workload, at which a
// schedule can apply a fault although no virtual time passes there: "c0 has
// just checked its lease". It returns [ErrCrashed] when the process has
// crashed, and [ErrWorkerDead] when its worker is dead.
func (p *Process) Point(label string) error {
	_, err := p.Mark(trace.Mark{Step: trace.Point, Label: label})
	return err
}

// Mark is a point that adds an event to the trace. It returns the event's
// number, and errors as [Process.Point] does: with a number if the process
// crashed or its worker died after the event was added.
func (p *Process) Mark(m trace.Mark) (int, error) {
	label := markLabel(m)
	if err := cmp.Or(p.passMark("mark ", label), p.alive()); err != nil {
		return 0, err
	}
	n := p.note(m, label, true)
	return n, cmp.Or(p.passMark("marked ", label), p.alive())
}

func (p *Process) passMark(what, label string) error {
	if p.gate.isOpen() {
		return nil
	}
	return p.gate.pass(what + label)
}

// markLabel distinguishes marks of one instant.
func markLabel(m trace.Mark) string {
	return string(m.AppendText(append([]byte(m.Step.String()), ' ')))
}

// Observe adds an event to the trace without passing the gate: an observation
// of the harness, also while the process is paused.
func (p *Process) Observe(m trace.Mark) int { return p.note(m, markLabel(m), false) }

// note asks the world to record a mark at an instant of its own. With
// canSilence, nothing is recorded if the process has crashed by then, or its
// worker is dead.
func (p *Process) note(m trace.Mark, label string, canSilence bool) int {
	var n int
	done := make(chan struct{})
	t := p.w.time
	t.outbox.post(entry{where: p.name, rank: rankPoint, label: label, commit: func() {
		t.queue.join(p.name, label, t.now()+1, func() {
			if !canSilence || !p.Crashed() && p.workerDead.Load() == nil {
				n = p.w.trace.record(p.name, "", m)
				for _, f := range p.w.procs.onMark {
					f(p.name, m)
				}
			}
			t.wakeAfter(done)
		})
	}})
	<-done
	return n
}
