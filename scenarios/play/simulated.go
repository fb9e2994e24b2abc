package play

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/outcome"
	"locksim/scenarios/subject"
	"locksim/sim"
	"locksim/sim/rare"
	"locksim/sim/redis"
	protected "locksim/sim/store"
	"locksim/sim/trace"
)

// This file makes a simulated world of a scenario. It is the only one of the
// package that imports package sim.

// StoreKind is the kind of the store, in what a trace says of its servers.
const StoreKind = "store"

// Frozen is returned when a run made no progress on the wall clock. The run cannot end: its goroutines remain in this
// process.
type Frozen = sim.FrozenError

// Leak is returned when goroutines of the lock remained after a run.
type Leak = sim.LeakError

// Limit is returned when a run came to one of its limits.
type Limit = sim.LimitError

// simulated is the result of a simulated run.
type simulated struct {
	trace   *trace.Trace
	virtual time.Duration
	rare    rare.Set
}

// simulate plays in a simulated world. The world ends with body.
func (p *play) simulate(seed uint64, mode fence.Mode, stopAt int, body func(w Stage) error) (*simulated, error) {
	p.mode = mode
	c := p.config(seed, mode, stopAt)
	if f := p.fork; f != nil {
		c.Fork = &sim.Fork{Step: f.Step, Seed: f.Seed, Then: func() { p.schedule.redraw(f) }}
	}
	var turns atomic.Int64
	res, err := sim.Run(c, func(w *sim.World) error {
		s := newSimWorld(w)
		s.count = &turns
		return body(s)
	})
	if frozen, ok := errors.AsType[*Frozen](err); ok && frozen.Deadlock != "" && turns.Load() > 0 {
		return nil, &deadlocked{Frozen: frozen, turn: int(turns.Load())}
	}
	if res == nil {
		return nil, err
	}
	return &simulated{res.Trace, res.Virtual, res.Rare}, err
}

// deadlocked is the error of a run in which the lock waits for itself for ever.
type deadlocked struct {
	*Frozen
	turn int // the last one, after which it was frozen
}

// Unwrap returns the error of the run.
func (d *deadlocked) Unwrap() error { return d.Frozen }

// simulate plays in a simulated world that is not judged, for some virtual time at most.
func (s *student) simulate(limit time.Duration, body func(w Stage) error) error {
	c := s.config(lessonSeed, fence.None, 0)
	c.PanicCrashes = false // it has no judge
	c.Limits.Virtual = limit
	_, err := sim.Run(c, func(w *sim.World) error { return body(newSimWorld(w)) })
	return err
}

func (p *play) config(seed uint64, mode fence.Mode, stopAt int) sim.Config {
	w := p.sc.World
	c := sim.Config{
		Seed: seed, Clients: w.Clients, Latency: sim.Latency(w.Latency), ClockStep: w.ClockStep,
		Limits: sim.Limits{Virtual: p.runLimit(), Burst: burst}, StopAt: stopAt, PanicCrashes: true,
	}
	if n := max(w.Redis, p.lock.Count(server.Redis.Name)); n > 0 {
		c.Servers = append(c.Servers, named(subject.RedisKind(), redis.Servers{
			Nodes: n, Replicas: w.Replicas, Lag: sim.Latency(w.Lag), Persistence: redis.Persistence(w.Persistence),
			Snapshot:    w.Snapshot,
			MinReplicas: w.MinReplicas, MaxLag: w.MaxLag, Reuse: subject.Shared[redis.Reuse](p.lock.Lock),
			Protected: p.lock.inRedis(),
		}))
	}
	for _, s := range p.lock.Servers {
		if s.Kind.Make != nil {
			c.Servers = append(c.Servers, named(s.Kind, s.Kind.Make(max(s.Count, w.Count(s.Kind.Name)))))
		}
	}
	c.Servers = append(c.Servers, sim.Named{Kind: protected.Server{Fencing: mode}, Name: StoreKind, Role: trace.RoleStore})
	return c
}

// named is what a world is built of, with what the servers are.
func named(k subject.ServerKind, of sim.Kind) sim.Kind {
	return sim.Named{Kind: of, Name: k.Name, Role: k.Role()}
}

// burst is far more events than the world delivers within a second, unless a client loops: some 200 for each
// millisecond in which messages take a few microseconds.
const burst = 500_000

// loopOf says in a sentence which client loops, if a run ended because of too many events.
func loopOf(err error) (says string, loops bool) {
	limit, ok := errors.AsType[*sim.LimitError](err)
	if !ok || limit.What == "virtual time" {
		return "", false
	}
	return fmt.Sprintf("%s loops without a pause, or asks for ever: it had made %s requests when the run was ended at "+
		"its limit of %s %s, at %v.",
		cmp.Or(limit.Busiest, "The world"), prose.Thousands(limit.Requests), limit.Limit, limit.What,
		limit.At.Round(time.Millisecond)), true
}

// stopped reports whether a run was stopped at the event asked for.
func stopped(err error) bool { return errors.Is(err, sim.ErrStopped) }

// Unseeded is lines of advice about the global sources of random numbers that do not
// follow the seed in this program, and empty if all do.
func Unseeded() string {
	if sim.Overlaid() {
		return ""
	}
	advice := "\nmath/rand/v2, and a reader of crypto/rand that a library has kept, follow the seed in a program that " +
		"is built with: locksim overlay"
	if !sim.GlobalRandSeedable() {
		advice = "\nmath/rand cannot be seeded in this program: put \"//go:debug randseednop=0\" into its main package or " +
			"test file" + advice
	}
	return advice
}

// simWorld is a simulated world as a [Stage].
type simWorld struct {
	w        *sim.World
	machines map[*sim.Process]Machine
	turns    int // of RunUntil
	last     int // the one after which the run stops; 0 for none
	onTurn   func(n int)
	count    *atomic.Int64 // of the turns, for who looks from outside; nil for nobody
}

func newSimWorld(w *sim.World) *simWorld {
	return &simWorld{w: w, machines: map[*sim.Process]Machine{}}
}

func (w *simWorld) At(t time.Duration, f func()) { w.w.At(t, f) }

func (w *simWorld) After(d time.Duration, f func()) { w.w.At(w.w.Now()+d, f) }

func (w *simWorld) OnMark(f func(client string, m trace.Mark)) { w.w.OnMark(f) }

// RunUntil counts its turns, each of which ends when every goroutine waits.
func (w *simWorld) RunUntil(done func() bool) error {
	over := false
	err := w.w.RunUntil(func() bool {
		w.turns++
		if w.count != nil {
			w.count.Store(int64(w.turns))
		}
		if w.onTurn != nil {
			w.onTurn(w.turns)
		}
		over = w.turns == w.last
		return over || done()
	})
	if over && err == nil {
		return sim.ErrStopped
	}
	return err
}

func (w *simWorld) Idle() bool { return w.w.Idle() }

func (w *simWorld) Quiet() bool { return w.w.Quiet() }

func (w *simWorld) Heal() { w.w.Heal() }

func (w *simWorld) Abandon() { w.w.Abandon() }

func (w *simWorld) Trace() *trace.Trace { return w.w.Trace() }

// machine is the [Machine] of a process, one for each.
func (w *simWorld) machine(p *sim.Process) Machine {
	m := w.machines[p]
	if m == nil {
		m = &simMachine{Process: p, store: StoreOver(protected.NewClient(p))}
		w.machines[p] = m
	}
	return m
}

func (w *simWorld) Clients() []Machine {
	all := make([]Machine, w.w.Clients())
	for i := range all {
		all[i] = w.machine(w.w.Client(i))
	}
	return all
}

func (w *simWorld) Join(name string) (Machine, error) { return w.machine(w.w.NewProcess(name)), nil }

func (w *simWorld) Revive(name string) (Machine, error) {
	p, err := w.w.Faults().Revive(name)
	if err != nil {
		return nil, err
	}
	return w.machine(p), nil
}

func (w *simWorld) Now() time.Duration { return w.w.Now() }

func (w *simWorld) Faults(felt func()) any { return w.w.Faults().WhenFelt(felt) }

func (w *simWorld) Ground() Ground { return simGround{w.w} }

// simGround is the [Ground] of a simulated world.
type simGround struct{ *sim.World }

func (g simGround) Servers() []ServerState {
	var out []ServerState
	primary, _ := g.Node(subject.Primary) // nil in a world without Redis, or with a Redis Cluster
	servers := g.Trace().Servers
	for _, n := range g.Nodes() {
		is, _ := servers.Find(n.Name())
		if is.Role == trace.RoleStore {
			continue
		}
		s := ServerState{Server: is, Asked: n == primary || is.Family == "", Down: n.Down(), Connections: n.Connections()}
		if r, ok := n.Server().(sim.Ranked); ok {
			s.Follows, _ = r.Role()
			s.Asked = s.Asked || primary == nil && s.Follows == "primary"
		}
		if k, ok := n.Server().(sim.Keyed); ok {
			s.Keys, s.Listed = k.Keys(), true
		}
		if k, ok := n.Server().(sim.SessionLocker); ok {
			s.Keys = k.SessionLocks()
		}
		out = append(out, s)
	}
	return out
}

func (g simGround) Decisions() []Decision {
	var out []Decision
	for _, d := range protected.Of(g.World).Decisions() {
		out = append(out, Decision{At: checker.Pos(d.Step), Decision: d.Decision})
	}
	for _, e := range g.Trace().Events { // of the data that a lock brings along
		if d, ok := e.What.(trace.Decision); ok && e.Actor != protected.Name {
			out = append(out, Decision{At: checker.Pos(e.N), Decision: d})
		}
	}
	return out
}

func (g simGround) Value(resource, register string) string {
	for _, n := range g.Nodes() {
		if d, ok := n.Server().(interface {
			Value(resource, register string) string
		}); ok {
			if v := d.Value(resource, register); v != "" {
				return v
			}
		}
	}
	return protected.Of(g.World).Value(resource, register)
}

// simMachine is a process of a simulated world as a [Machine].
type simMachine struct {
	*sim.Process
	store subject.Store
}

func (m *simMachine) Clock() lock.Clock { return m.Process.Clock() }

func (m *simMachine) WallClock() lock.Clock { return m.Process.WallClock() }

func (m *simMachine) Store() subject.Store { return m.store }

func (m *simMachine) Mark(mark trace.Mark) (checker.Pos, error) {
	n, err := m.Process.Mark(mark)
	return checker.Pos(n), err
}

func (m *simMachine) Observe(mark trace.Mark) checker.Pos {
	return checker.Pos(m.Process.Observe(mark))
}

func (m *simMachine) View() View { return simView{m.Process} }

// simView is the [View] of a process of a simulated world.
type simView struct{ *sim.Process }

func (w simView) Now() time.Time { return w.Clock().Peek() }

func (w simView) Until(t time.Time, stop <-chan struct{}) bool { return w.Clock().Until(t, stop) }

// settingOf adds to a state what only a simulated world has.
func settingOf(s *outcome.State, w Stage, resources []string) {
	sw, ok := w.(*simWorld)
	if !ok {
		return
	}
	s.At, s.Flights = sw.w.Now(), sw.w.Flights()
	s.Store = protected.Of(sw.w).Cells()
	for _, resource := range resources {
		s.Highest = max(s.Highest, protected.Of(sw.w).Highest(resource))
	}
}
