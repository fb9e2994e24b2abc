package sim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"locksim/faults"
	"locksim/sim/rare"
	"locksim/sim/trace"
)

// Config describes a world. The zero value is a world of one client, without
// servers, with a latency of 1 to 5 ms.
type Config struct {
	// Seed determines every random choice.
	Seed uint64
	// Servers are the kinds of servers that the world has, such as those of
	// packages locksim/sim/redis and locksim/sim/store, in this order.
	Servers []Kind
	// Clients is the number of client processes: c0, c1, … Default 1.
	Clients int
	// Latency is the one-way delay of every link. Default 1 ms to 5 ms.
	Latency Latency
	// ClockStep is the length of the steps in which the clocks of the processes are read: two readings within one step are
	// equal. Timers do not go by steps. Default 0: clocks are read to the nanosecond.
	ClockStep time.Duration
	// Limits bound the run.
	Limits Limits
	// Fork, if not nil, makes the run another one from one of its steps on.
	Fork *Fork
	// StopAt ends the run when the trace has that many events; 0 means never.
	StopAt int
	// PanicCrashes says that a panic in a client's goroutine crashes the client's process, which the trace records, in
	// place of ending the run. A panic of the harness ends the run in any case.
	PanicCrashes bool
	// Untraced leaves the trace empty, to measure the cost of tracing.
	Untraced bool
}

// Fork says from which step on a run is another one. Until then it is the run of [Config.Seed], event by event. What
// has been drawn by then stays: a message under way arrives when it would have arrived, and the bytes that stand for
// crypto/rand, which name owners and decide no delay, stay those of Config.Seed.
type Fork struct {
	// Step is the number of events that the trace has when the runs part; 0 is the start. The fork is made as soon as
	// every goroutine waits, so that events of the same instant may still be equal.
	Step int
	// Seed takes the place of Config.Seed then, for every delay and every generator.
	Seed uint64
	// Then is called at the fork, on the world's goroutine, if it is not nil. It may plan what happens later, by
	// [World.At].
	Then func()
}

// Latency is a range of delays; each message draws one, uniformly.
type Latency struct{ Min, Max time.Duration }

// Valid reports whether the range is neither negative nor reversed.
func (l Latency) Valid() bool { return l.Min >= 0 && l.Max >= l.Min }

const maxClients = 256

func (c Config) withDefaults() Config {
	if c.Clients == 0 {
		c.Clients = 1
	}
	if c.Latency == (Latency{}) {
		c.Latency = Latency{time.Millisecond, 5 * time.Millisecond}
	}
	c.Limits = c.Limits.withDefaults()
	return c
}

func (c Config) validate() error {
	switch {
	case c.Clients < 1 || c.Clients > maxClients:
		return fmt.Errorf("sim: %d clients: give 1 to %d", c.Clients, maxClients)
	case !c.Latency.Valid():
		return fmt.Errorf("sim: latency %v..%v: give a range that is not negative and not reversed", c.Latency.Min,
			c.Latency.Max)
	case c.ClockStep < 0:
		return fmt.Errorf("sim: clocks are read in steps of %v: give a length that is not negative", c.ClockStep)
	case c.Fork != nil && c.Fork.Step < 0:
		return fmt.Errorf("sim: fork at event %d: give a number from 1, or 0 for the start", c.Fork.Step)
	case c.StopAt < 0:
		return fmt.Errorf("sim: stop at event %d: give a number from 1, or 0 for never", c.StopAt)
	}
	for i, k := range c.Servers {
		if k = unnamed(k); k == nil {
			return fmt.Errorf("sim: kind %d of Config.Servers is nil: leave it out, or give one such as redis.Servers{}", i)
		}
		if v, ok := k.(interface{ Validate() error }); ok {
			if err := v.Validate(); err != nil {
				return fmt.Errorf("sim: %w", err)
			}
		}
	}
	return c.Limits.validate()
}

// unnamed is the kind in a [Named].
func unnamed(k Kind) Kind {
	if n, ok := k.(Named); ok {
		return n.Kind
	}
	return k
}

// World is the virtual world of one run. Its methods are for the body of
// [Run], on the world's own goroutine, unless they say otherwise.
//
// Its parts own their state: virtual time with the planned events, the trace,
// the processes, the network with its servers, and the faults in force.
type World struct {
	cfg    Config
	chance chance
	time   *timeline
	trace  *recorder
	procs  *processes
	net    *network
	force  *inForce
	// watched are the keys given to WatchKeys, for servers that a restart creates
	// anew.
	watched []string
	forked  bool // see [Fork]
	unseen  bool // see [World.WatchUnseen]
	halted  bool // see [World.Halt]
	onEnd   func(process string, incarnation int)
	rare    rare.Set
}

// Rare are the rare paths that the run has reached by now. They are no part of the trace.
func (w *World) Rare() rare.Set { return w.rare }

func newWorld(cfg Config, p *pulse) (*World, error) {
	w := &World{cfg: cfg, chance: chance(cfg.Seed), time: newTimeline(cfg.Limits, p)}
	w.seedOthers()
	w.trace = newRecorder(w.time, cfg.Untraced)
	w.procs = newProcesses(w)
	w.net = newNetwork(w)
	w.force = newInForce(w)
	for i := range cfg.Clients {
		w.procs.clients = append(w.procs.clients, w.NewProcess("c"+strconv.Itoa(i)))
	}
	for i, k := range cfg.Servers {
		b := &Builder{w: w, group: i}
		k.Build(b)
		if b.err != nil {
			for _, n := range w.net.nodes {
				n.close()
			}
			return nil, fmt.Errorf("sim: build the servers of kind %T: %w", unnamed(k), b.err)
		}
	}
	for _, n := range w.net.nodes {
		if g, ok := n.server.(Greeted); ok {
			w.net.greeted = g
		}
	}
	return w, nil
}

// Now is the virtual time since the start of the run. Safe for concurrent use.
func (w *World) Now() time.Duration { return w.time.Now() }

// Client is the process c0, c1, …, the new one after a restart. It panics if
// there is no such client.
func (w *World) Client(i int) *Process { return w.procs.clients[i] }

// Clients is the number of client processes at the start.
func (w *World) Clients() int { return len(w.procs.clients) }

// Process finds a process by its name.
func (w *World) Process(name string) (*Process, error) { return w.procs.find(name) }

// NewProcess adds a process to the world. The clients c0, c1, … exist from the
// start; a probe is added here. It panics if the name is taken.
func (w *World) NewProcess(name string) *Process {
	if _, taken := w.procs.byName[name]; taken {
		panic("sim: a second process named " + name)
	}
	return w.procs.launch(name, 1, new(clock))
}

// Node finds a server by its name: r0, s0, or an alias such as primary.
func (w *World) Node(name string) (*Node, error) { return w.net.node(name) }

// Nodes are the servers of the world, in the order in which they were built. The
// caller owns the slice.
func (w *World) Nodes() []*Node { return slices.Clone(w.net.nodes) }

// Address is the address under which a server ("r0", "s0", "primary") is dialled.
func (w *World) Address(name string) (string, error) {
	if h, ok := w.net.hosts[name]; ok {
		return h.address(), nil
	}
	return "", w.net.unknownHost(name)
}

// Faults applies faults to the world.
func (w *World) Faults() *Faults { return &Faults{w: w, felt: func() {}} }

// Heal ends every fault in force, such as a partition. It does not restart what
// has crashed.
func (w *World) Heal() { w.force.endAll() }

// Trace is the trace so far. Do not change it.
func (w *World) Trace() *trace.Trace { return &w.trace.Trace }

// OnMark registers f to be called when a process passes a mark, before the
// process goes on. f runs on the world's goroutine and may apply faults.
func (w *World) OnMark(f func(process string, m trace.Mark)) {
	w.procs.onMark = append(w.procs.onMark, f)
}

// OnEnd registers f to be called when a process ends: it crashes, or exits. f runs on the world's goroutine before any
// code of the process goes on, which it does only in the harness. There is one such f.
func (w *World) OnEnd(f func(process string, incarnation int)) { w.onEnd = f }

// At registers f to be called on the world's goroutine at a virtual time since
// the start of the run, or at once if that has passed.
func (w *World) At(t time.Duration, f func()) {
	w.time.queue.add(max(int64(t), w.time.now()+1), f)
}

// Idle reports whether every goroutine started by [Process.Go] has ended, but for those of
// processes that crashed more than a minute ago: code that no longer runs may wait for ever
// there.
func (w *World) Idle() bool {
	if w.procs.running.Load() == 0 || !w.procs.crashed {
		return w.procs.running.Load() == 0
	}
	return !slices.ContainsFunc(w.procs.all(), func(p *Process) bool {
		return p.running.Load() > 0 && (!p.Crashed() || w.time.elapsed() < p.forgotten)
	})
}

// remembered is how long the code of a crashed process counts as running: any timeout of a client is
// shorter.
const remembered = time.Minute

// Abandon leaves the goroutines of every process that has not ended where they are: each waits for ever at the next
// seam that it passes. It is for the end of a run in which one of them waits or loops for ever: such code may not end
// when the world is closed, and is no [LeakError] then.
func (w *World) Abandon() {
	for _, p := range w.procs.all() {
		if p.running.Load() > 0 && !p.Crashed() {
			p.gate.abandon()
			w.procs.abandoned = true
		}
	}
}

// StandStill ends the run when the body returns, and leaves everything as it is, as [World.Halt] does, without a panic.
func (w *World) StandStill() { w.halted = true }

// Halt ends the run as a panic in a goroutine that the code under test has started does, and for which this was called:
// see [ReadFatal]. The panic is in the trace as the crash of its process. When the body returns, [Run] returns too, and
// leaves everything else as it is: no time passes in that bubble any more, no goroutine of it goes on, and none of them
// ends.
//
// It reports false, and does nothing, if that incarnation of the process has crashed: its code runs only in the
// harness.
func (w *World) Halt(process string, incarnation int, panic string) bool {
	p, err := w.Process(process)
	if err != nil || p.incarnation != incarnation || p.Crashed() {
		return false
	}
	w.Faults().record(p.name, trace.Crash{Mode: string(faults.CrashProcess), Panic: panic})
	w.halted = true
	return true
}

// Quiet reports whether no byte is under way on any link, and no message between
// two servers.
func (w *World) Quiet() bool { return !w.net.busy() }

// RunUntil runs the world, one event at a time, until done reports true. done
// is called when every goroutine is blocked: after each event, after each
// request to the world, and when a goroutine of [Process.Go] has ended. It
// returns a [*LimitError] when a limit is reached first, [ErrStopped] at
// [Config.StopAt], and a [*PanicError] when a client's goroutine panicked.
func (w *World) RunUntil(done func() bool) error {
	w.time.readClock()
	for {
		w.time.settle()
		if err := w.time.failure(); err != nil {
			return err
		}
		w.procs.noteWaits()
		w.fork()
		if w.cfg.StopAt > 0 && w.trace.Len() >= w.cfg.StopAt {
			return ErrStopped
		}
		if done() {
			return nil
		}
		if err := w.time.advance(); err != nil {
			return err
		}
	}
}

// fork makes the run another one, once, if it has come to that step. Every goroutine waits.
func (w *World) fork() {
	f := w.cfg.Fork
	if f == nil || w.forked || w.trace.over || w.trace.Len() < f.Step {
		return
	}
	w.forked, w.chance = true, chance(f.Seed)
	reseedGlobals(f.Seed)
	if f.Then != nil {
		f.Then()
	}
}

// RunFor runs the world for d of virtual time. It returns errors as
// [World.RunUntil] does.
func (w *World) RunFor(d time.Duration) error {
	end, over := w.Now()+d, false
	w.time.queue.add(int64(end), func() { over = true })
	return w.RunUntil(func() bool { return over })
}

// WatchKeys records the changes of these keys from now on, on every server that
// is a [KeyWatcher]: see [World.KeyChanges]. Call it before the workload
// begins. It may be called again for further keys.
func (w *World) WatchKeys(keys ...string) {
	w.watched = append(w.watched, keys...)
	for _, n := range w.net.nodes {
		if k, ok := n.server.(KeyWatcher); ok {
			k.WatchKeys(keys)
		}
	}
}

// WatchUnseen is [World.WatchKeys] for keys that must not show in the trace: what a server records only because keys
// are watched, such as the end of a TTL, is left out, so that the trace is that of a world in which nothing is watched.
func (w *World) WatchUnseen(keys ...string) {
	w.unseen = true
	w.WatchKeys(keys...)
}

// KeyChanges are the changes of the watched keys so far, in order.
func (w *World) KeyChanges() []trace.KeyChange { return w.trace.ground.changes }

// Flights are the directions with bytes under way, in the order of the links'
// names.
func (w *World) Flights() []trace.Flight { return w.net.flights() }

// close ends everything in the bubble. A goroutine that remains belongs to the
// code under test.
func (w *World) close() error {
	w.cfg.StopAt = 0
	w.trace.end()
	w.time.limits.Virtual = w.time.Now() + time.Hour
	w.time.limits.Events, w.time.limits.Burst = w.time.events+1_000_000, 0
	w.time.failed.Store(nil)
	for _, p := range w.procs.all() {
		p.end()
	}
	var err error
	if slices.ContainsFunc(w.procs.all(), func(p *Process) bool { return p.dialsEarly.Load() }) {
		err = w.RunFor(afterSearch)
	}
	for _, p := range w.procs.all() {
		p.closeAll()
	}
	close(w.time.closed)
	err = errors.Join(err, w.RunFor(afterDials))
	for waited := time.Duration(0); w.procs.linger() && waited < lingers && err == nil; waited += time.Second {
		err = w.RunFor(time.Second)
	}
	for _, l := range w.net.links {
		l.kill()
	}
	for _, n := range w.net.nodes {
		n.close()
	}
	w.time.settle()
	time.Sleep(lingers) //nolint:forbidigo // it is in the bubble, and the clocks of the world have stopped
	w.time.settle()
	return err
}

// recorder has the trace and the ground truth.
type recorder struct {
	trace.Trace
	time   *timeline
	off    bool
	over   bool // the run is: what happens while the world is closed is no part of it
	ground groundTruth
}

func newRecorder(t *timeline, off bool) *recorder {
	r := &recorder{time: t, off: off}
	if off {
		return r
	}
	if room := spareEvents.Swap(nil); room != nil {
		r.Events = *room
	} else {
		r.Events = make([]trace.Event, 0, 640)
	}
	return r
}

// spareEvents is the room in which the last run has recorded its events, for the next one: a slice that grows with
// each trace would be a fifth of the memory that runs allocate.
var spareEvents atomic.Pointer[[]trace.Event]

// maxSpareEvents bounds the room that is kept.
const maxSpareEvents = 1 << 16

// end ends the trace: it moves the events to a slice of their own, and leaves their room to the next run.
func (r *recorder) end() {
	if r.over {
		return
	}
	r.off, r.over = true, true
	room := r.Events
	r.Events = slices.Clone(room)
	if cap(room) <= maxSpareEvents {
		clear(room)
		room = room[:0]
		spareEvents.Store(&room)
	}
}

// record adds to the trace, on the world's goroutine, and returns the event's
// number.
func (r *recorder) record(actor, peer string, what trace.What) int {
	if r.off {
		return 0
	}
	return r.Add(trace.Event{At: r.time.elapsed(), Actor: actor, Peer: peer, What: what})
}

var errNoBody = errors.New("sim: Run needs a body")
