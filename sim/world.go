package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"locksim/lock/fence"
	"locksim/sim/trace"
)

// Config says what a world is made of. The zero value is a world of one
// Redis node and one client on a network of 1 to 5 ms.
type Config struct {
	// Seed decides everything that is random.
	Seed uint64
	// Redis is the number of Redis nodes: r0, r1, … Default 1.
	Redis int
	// Replicas is the number of replicas that r0 has: r0a, r0b, r0c. Default 0.
	Replicas int
	// Lag is how long r0 keeps what it replicates before it sends it, on top of
	// the latency of the link; each message draws its own. Default none.
	Lag Latency
	// Persistence is what a Redis node keeps over a crash. Default none.
	Persistence Persistence
	// Snapshot is how often a node saves a snapshot, by its own clock, where
	// Persistence is rdb. Default 60 s.
	Snapshot time.Duration
	// Clients is the number of client processes: c0, c1, … Default 1.
	Clients int
	// Latency is the one-way delay of every link. Default 1 ms to 5 ms.
	Latency Latency
	// Fencing is the rule by which the store s0 judges tokens. Default none.
	Fencing fence.Mode
	// Limits bound the run.
	Limits Limits
	// StopAt ends the run when the trace has that many events; 0: never.
	StopAt int
	// Untraced leaves the trace empty. For measuring the price of tracing.
	Untraced bool
}

// Latency is a range of delays; each message draws one, uniformly.
type Latency struct{ Min, Max time.Duration }

func (l Latency) wrong() bool { return l.Min < 0 || l.Max < l.Min }

const (
	maxNodes    = 64
	maxReplicas = 3
	maxClients  = 256
)

func (c Config) withDefaults() Config {
	if c.Redis == 0 {
		c.Redis = 1
	}
	if c.Clients == 0 {
		c.Clients = 1
	}
	if c.Latency == (Latency{}) {
		c.Latency = Latency{time.Millisecond, 5 * time.Millisecond}
	}
	if c.Fencing == "" {
		c.Fencing = fence.None
	}
	c.Persistence = cmp.Or(c.Persistence, PersistNone)
	c.Snapshot = cmp.Or(c.Snapshot, time.Minute)
	c.Limits = c.Limits.withDefaults()
	return c
}

func (c Config) validate() error {
	switch {
	case c.Redis < 1 || c.Redis > maxNodes:
		return fmt.Errorf("sim: %d Redis nodes: give 1 to %d", c.Redis, maxNodes)
	case c.Clients < 1 || c.Clients > maxClients:
		return fmt.Errorf("sim: %d clients: give 1 to %d", c.Clients, maxClients)
	case c.Latency.wrong():
		return fmt.Errorf("sim: latency %v..%v: give a range that is not negative and not reversed", c.Latency.Min, c.Latency.Max)
	case c.Replicas < 0 || c.Replicas > maxReplicas:
		return fmt.Errorf("sim: %d replicas: give 0 to %d", c.Replicas, maxReplicas)
	case c.Lag.wrong():
		return fmt.Errorf("sim: replication lag %v..%v: give a range that is not negative and not reversed", c.Lag.Min, c.Lag.Max)
	case !slices.Contains(Persistences(), c.Persistence):
		return fmt.Errorf("sim: persistence %q: give one of %q", c.Persistence, Persistences())
	case c.Snapshot < 0:
		return fmt.Errorf("sim: a snapshot every %v: give a length of time", c.Snapshot)
	case c.StopAt < 0:
		return fmt.Errorf("sim: stop at event %d: give a number from 1, or 0 for never", c.StopAt)
	}
	if _, err := fence.ParseMode(string(c.Fencing)); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	return c.Limits.validate()
}

// World is the virtual world of one run. Its methods are for the body of
// [Run], on the world's own goroutine, unless they say otherwise.
type World struct {
	cfg    Config
	start  time.Time
	out    *outbox
	queue  *queue
	trace  trace.Trace
	timer  *time.Timer
	batch  []entry
	woken  []chan struct{} // to be closed at the end of the present event
	events int
	pulse  pulse
	// stirred tells settle that goroutines may run again.
	stirred bool
	// running counts the goroutines of Process.Go.
	running atomic.Int64
	// over is closed when the run is.
	over chan struct{}

	clients []*Process
	procs   map[string]*Process
	nodes   []*RedisNode // r0, r1, …
	family  []*RedisNode // r0 and its replicas, whichever of them is the primary
	primary primary
	store   *Store
	links   map[string]*link
	wires   []*nodeLink // between the nodes of the family
	watched map[string]bool
	changes []KeyChange
	hosts   map[string]host
	points  []func(process, kind, label string)
	force   inForce
	former  []*Process // whom a restart has replaced

	failed atomic.Pointer[error]
}

func newWorld(cfg Config) *World {
	w := &World{
		cfg: cfg, start: time.Now(), out: newOutbox(), queue: newQueue(),
		procs: map[string]*Process{}, links: map[string]*link{}, hosts: map[string]host{},
		over: make(chan struct{}),
	}
	if !cfg.Untraced {
		w.trace.Events = make([]trace.Event, 0, 256)
	}
	w.timer = time.NewTimer(time.Hour)
	w.timer.Stop()
	for i := range cfg.Clients {
		w.clients = append(w.clients, w.NewProcess("c"+strconv.Itoa(i)))
	}
	for i := range cfg.Redis {
		w.nodes = append(w.nodes, newRedisNode(w, i))
	}
	w.store = newStore(w, cfg.Fencing)
	w.replicate()
	return w
}

// Now is the virtual time since the start of the run. Safe for concurrent use.
func (w *World) Now() time.Duration { return time.Since(w.start) }

func (w *World) now() int64 { return int64(w.Now()) }

// Seed is the seed of the run.
func (w *World) Seed() uint64 { return w.cfg.Seed }

// Client is the process c0, c1, …, the new one where it was restarted; it panics
// where there is no such client.
func (w *World) Client(i int) *Process { return w.clients[i] }

// Clients is the number of client processes that the world began with.
func (w *World) Clients() int { return len(w.clients) }

// Redis is the node r0, r1, …; it panics where there is no such node.
func (w *World) Redis(i int) *RedisNode { return w.nodes[i] }

// RedisNodes is the number of Redis nodes.
func (w *World) RedisNodes() int { return len(w.nodes) }

// Node finds a Redis node by its name: r0, r1, …, a replica such as r0a, or
// [Primary].
func (w *World) Node(name string) (*RedisNode, error) {
	if name == Primary {
		return w.primary.node, nil
	}
	if n, ok := w.hosts[name].(*RedisNode); ok {
		return n, nil
	}
	return nil, fmt.Errorf("there is no Redis node %q in this world: it has %s", name, strings.Join(w.nodeNames(), ", "))
}

// Store is the protected resource s0.
func (w *World) Store() *Store { return w.store }

// Process finds a process by its name.
func (w *World) Process(name string) (*Process, error) {
	if p := w.procs[name]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("there is no process %q in this world of %d clients", name, len(w.clients))
}

// Trace is what has happened so far. Do not change it.
func (w *World) Trace() *trace.Trace { return &w.trace }

// Events is the number of events that the world has delivered so far.
func (w *World) Events() int { return w.events }

// OnPoint registers f to be called when a process passes a named point or a
// mark, before the process goes on. f runs on the world's goroutine and may
// apply faults; kind is "point" for named points.
func (w *World) OnPoint(f func(process, kind, label string)) { w.points = append(w.points, f) }

// At registers f to be called on the world's goroutine at a virtual time
// since the start of the run, or at once where that has passed.
func (w *World) At(t time.Duration, f func()) { w.queue.add(max(int64(t), w.now()+1), f) }

// record adds to the trace, on the world's goroutine.
func (w *World) record(actor, kind, peer, text string) int {
	if w.cfg.Untraced {
		return 0
	}
	return w.trace.Add(trace.Event{At: w.Now(), Actor: actor, Kind: kind, Peer: peer, Text: text})
}

// point records what a process passes, and tells who wants to know.
func (w *World) point(process, kind, text string) int {
	n := w.record(process, kind, "", text)
	for _, f := range w.points {
		f(process, kind, text)
	}
	return n
}

// fail keeps the first failure of the harness or of a client's goroutine.
// Safe for concurrent use.
func (w *World) fail(err error) {
	w.failed.CompareAndSwap(nil, &err)
	w.out.nudge()
}

func (w *World) failure() error {
	if err := w.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Idle reports whether every goroutine started by [Process.Go] has ended.
func (w *World) Idle() bool { return w.running.Load() == 0 }

// Quiet reports whether no byte is under way on any link, and no effect of a
// command on its way to a replica.
func (w *World) Quiet() bool {
	for _, l := range w.wires {
		if l.busy() {
			return false
		}
	}
	for _, l := range w.links {
		if l.bytesInFlight() > 0 {
			return false
		}
	}
	return true
}

var errNoBody = errors.New("sim: Run needs a body")
