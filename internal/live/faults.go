//go:build linux

package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"

	"locksim/faults"
	"locksim/internal/live/server"
	"locksim/sim/trace"
)

// Faults implements play.Stage. The live world cannot tell when a fault is felt, except for some.
func (w *World) Faults(felt func()) any { return &abilities{w, felt} }

// abilities are what the faults of the live world can do. A fault that needs another one is not played.
type abilities struct {
	w    *World
	felt func()
}

// Of the processes and their clocks.
var _ interface {
	faults.Pauser
	faults.Suspender
	faults.Terminator
	faults.Crasher
	faults.Restarter
	faults.Slower
	faults.WorkerKiller
	faults.PoolExhauster
	faults.ClockJumper
	faults.ClockDrifter
} = (*abilities)(nil)

// Of the network and the servers.
var _ interface {
	faults.Toxifier
	faults.Cutter
	faults.Resetter
	faults.Refuser
	faults.Staller
	faults.Promoter
	faults.Programs
	faults.WriteRefuser
	faults.ErrorReplier
} = (*abilities)(nil)

var _ interface {
	faults.Evictor
	faults.Flusher
	faults.KeyEditor
	faults.FailoverStarter
	faults.ReplicaPromoter
	faults.SlotTaker
} = onServer{}

// lasting is a fault that is in force.
type lasting struct {
	end  func()
	once sync.Once
}

// last ends a fault after d, or when the world is healed if d is 0.
func (w *World) last(d time.Duration, end func()) {
	l := &lasting{end: end}
	w.lasting = append(w.lasting, l)
	if d > 0 {
		w.After(d, func() { l.once.Do(l.end) })
	}
}

// Heal implements play.Stage.
func (w *World) Heal() {
	for _, l := range w.lasting {
		l.once.Do(l.end)
	}
	w.lasting = nil
	w.healedAt = w.beats.Load()
}

// record adds an event of a fault.
func (w *World) record(whom string, what trace.What) { w.add(0, trace.World, whom, what) }

func (w *World) client(name string) (*machine, error) {
	if m := w.machine(name); m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("there is no client %q in this world", name)
}

// Pause implements faults.Pauser, by SIGSTOP.
func (a *abilities) Pause(process string, d time.Duration) error {
	w := a.w
	m, err := w.client(process)
	if err != nil || m.Crashed() {
		return err
	}
	if err := m.pause(); err != nil {
		return fmt.Errorf("pause %s: %w", process, err)
	}
	a.felt()
	w.record(process, trace.Pause{For: d})
	w.last(d, func() {
		if !m.Crashed() {
			w.record(process, trace.Resume{})
			m.resume()
		}
	})
	return nil
}

// Suspend implements faults.Suspender, by SIGSTOP and by the clock that the lock is given.
func (a *abilities) Suspend(process string, d time.Duration) error {
	w := a.w
	m, err := w.client(process)
	if err != nil || m.Crashed() {
		return err
	}
	began, before := monotonic(), int64(0)
	w.setClock(m, func(r *reading) { before, r.PPM = r.PPM, faults.MinPPM })
	if err := m.pause(); err != nil {
		return fmt.Errorf("suspend %s: %w", process, err)
	}
	a.felt()
	w.record(process, trace.Suspend{For: d})
	w.last(d, func() {
		w.setClock(m, func(r *reading) { r.PPM, r.Wall = before, r.Wall+monotonic()-began })
		if !m.Crashed() {
			w.record(process, trace.Wake{})
			m.resume()
		}
	})
	return nil
}

// Crash implements faults.Crasher, by SIGKILL. After a power failure the peers hear nothing.
func (a *abilities) Crash(name string, mode faults.CrashMode) error {
	w := a.w
	if trace.IsServer(name) {
		return a.crashServer(name, mode)
	}
	m, err := w.client(name)
	if err != nil || m.Crashed() {
		return err
	}
	if mode == faults.CrashPower {
		if _, err := w.putToxic("power", faults.Wire{Between: []string{name}},
			func() toxics.Toxic { return new(faults.Drop) }); err != nil {
			return err
		}
	}
	a.felt()
	m.crash()
	w.record(name, trace.Crash{Mode: string(mode)})
	return nil
}

// Terminate implements faults.Terminator. The driver of the client hears of it; the process of its lock is told
// nothing, and is killed in the end.
func (a *abilities) Terminate(process string, grace time.Duration) error {
	w := a.w
	m, err := w.client(process)
	if err != nil || m.Crashed() {
		return err
	}
	a.felt()
	w.record(process, trace.Terminate{Grace: grace})
	m.notify()
	w.last(grace, func() { m.end(trace.Kill) })
	return nil
}

func (a *abilities) crashServer(name string, mode faults.CrashMode) error {
	w := a.w
	s, err := w.server(name)
	if err != nil || s.Down() {
		return err
	}
	w.crashedAs[name] = s.Name()
	name = s.Name()
	var silent *toxic
	if mode == faults.CrashPower {
		if silent, err = w.putToxic("power", faults.Wire{Between: []string{name}},
			func() toxics.Toxic { return new(faults.Drop) }); err != nil {
			return err
		}
	}
	if err := s.Crash(mode); err != nil {
		if silent != nil {
			w.takeToxic(silent)
		}
		w.spared[name] = errors.Is(err, faults.ErrUnable)
		return err
	}
	delete(w.spared, name)
	a.felt()
	w.record(name, trace.Crash{Mode: string(mode)})
	if err := w.loseUnderWay(name); err != nil {
		return err
	}
	w.refuse(name, +1, silent != nil)
	if silent != nil {
		w.dark[name] = silent
		w.last(0, func() { w.takeToxic(silent) })
	}
	return nil
}

// refuse makes a server refuse new connections, or let them wait for ever, or ends that.
func (w *World) refuse(name string, by int, silent bool) {
	w.gateOf(name).shut(by, silent)
	for _, m := range w.alive() {
		m.net.each(func(r *route) {
			switch {
			case r.server != name:
			case silent:
				r.silent += by
			default:
				r.refuses += by
			}
		})
		m.net.announce()
	}
}

// Restart implements faults.Restarter, for servers. Package play restarts clients. Of a name that another server may
// take over, such as that of a leader, the one starts that has crashed under it.
func (a *abilities) Restart(name string) error {
	w := a.w
	if crashed, ok := w.crashedAs[name]; ok {
		delete(w.crashedAs, name)
		name = crashed
	}
	s, err := w.server(name)
	if err != nil {
		return err
	}
	name = s.Name()
	if w.spared[name] {
		return fmt.Errorf("%w: the crash of %s was not played", faults.ErrUnable, name)
	}
	ctx, cancel := context.WithTimeout(w.ctx, starting)
	defer cancel()
	began := monotonic()
	if err := s.Restart(ctx); err != nil {
		return err
	}
	w.wasLate(monotonic() - began - int64(s.Pace().Return))
	a.felt()
	w.record(name, trace.Restart{})
	if silent := w.dark[name]; silent != nil { // connections of before the power failure end
		w.takeToxic(silent)
		delete(w.dark, name)
	}
	if lost := w.lost[name]; lost != nil {
		w.takeToxic(lost)
		delete(w.lost, name)
	}
	w.gateOf(name).reopen()
	for _, m := range w.alive() {
		m.net.each(func(r *route) {
			if r.server == name {
				r.refuses, r.silent = 0, 0
			}
		})
		m.net.announce()
	}
	return nil
}

// KillWorker implements faults.WorkerKiller: the driver of the client ends, and its process lives on.
func (a *abilities) KillWorker(process string) error {
	m, err := a.w.client(process)
	if err != nil || m.Crashed() {
		return err
	}
	a.felt()
	m.workerDead.Store(true)
	a.w.record(process, trace.KillWorker{})
	return nil
}

// setClock changes the clocks of a client, and waits until its process knows.
func (w *World) setClock(m *machine, change func(r *reading)) {
	r, _ := m.clock.get()
	now := monotonic()
	r.Base, r.From = r.at(now), now
	change(&r)
	m.clock.set(r)
	ctx, cancel := context.WithTimeout(m.ctx, asking)
	defer cancel()
	heard := make(chan struct{})
	go func() { defer close(heard); _, _ = m.call(m.ctx, askClock, r, nil) }()
	select {
	case <-heard:
	case <-m.stopped(): // it reads this first when it goes on
	case <-ctx.Done():
	}
}

// Slow implements faults.Slower: the timers of the clock that the lock is given fire late.
func (a *abilities) Slow(process string, by, d time.Duration) error {
	w := a.w
	m, err := w.client(process)
	if err != nil || m.Crashed() {
		return err
	}
	a.felt()
	w.record(process, trace.Slow{By: by, For: d})
	w.setClock(m, func(r *reading) { r.Late += int64(by) })
	w.last(d, func() {
		w.record(process, trace.SlowEnd{})
		if !m.Crashed() {
			w.setClock(m, func(r *reading) { r.Late -= int64(by) })
		}
	})
	return nil
}

// JumpClock implements faults.ClockJumper.
func (a *abilities) JumpClock(name string, d time.Duration) error {
	w := a.w
	if trace.IsServer(name) {
		s, err := w.server(name)
		if err != nil {
			return err
		}
		if err := s.JumpClock(d); err != nil {
			return err
		}
		a.felt()
		w.record(s.Name(), trace.ClockJump{By: d})
		return nil
	}
	m, err := w.client(name)
	if err != nil {
		return err
	}
	a.felt()
	w.record(name, trace.ClockJump{By: d})
	w.setClock(m, func(r *reading) { r.Wall += int64(d) })
	return nil
}

// DriftClock implements faults.ClockDrifter.
func (a *abilities) DriftClock(name string, ppm int64, d time.Duration) error {
	w := a.w
	if trace.IsServer(name) {
		s, err := w.server(name)
		if err != nil {
			return err
		}
		if err := s.DriftClock(ppm); err != nil {
			return err
		}
		a.felt()
		w.record(s.Name(), trace.ClockDrift{PPM: ppm})
		w.last(d, func() {
			w.record(s.Name(), trace.ClockDrift{})
			_ = s.DriftClock(0) // it may have crashed
		})
		return nil
	}
	m, err := w.client(name)
	if err != nil {
		return err
	}
	a.felt()
	w.record(name, trace.ClockDrift{PPM: ppm})
	w.setClock(m, func(r *reading) { r.PPM = ppm })
	w.last(d, func() {
		w.record(name, trace.ClockDrift{})
		w.setClock(m, func(r *reading) { r.PPM = 0 })
	})
	return nil
}

// ExhaustPool implements faults.PoolExhauster: the process takes the connections of its own pools.
func (a *abilities) ExhaustPool(process string, d time.Duration) error {
	w := a.w
	m, err := w.client(process)
	if err != nil || m.Crashed() {
		return err
	}
	ctx, release := context.WithCancel(m.ctx)
	go func() { _, _ = m.call(ctx, askExhaust, sleep{}, nil) }()
	var taken exhausted
	select {
	case taken = <-m.taken:
	case <-time.After(asking):
		release()
		return fmt.Errorf("exhaust the pools of %s: its process does not answer", process)
	}
	if taken.Connections == 0 {
		release()
		return fmt.Errorf("exhaust the pools of %s: %w: its lock has told of no pool", process, faults.ErrUnable)
	}
	a.felt()
	w.record(process, trace.Exhaust{Connections: taken.Connections, For: d})
	w.last(d, func() {
		w.record(process, trace.ExhaustEnd{})
		release()
	})
	return nil
}

func (w *World) server(name string) (*server.Server, error) {
	names, err := w.present(name)
	if err != nil {
		return nil, err
	}
	return w.servers.find(names[0])
}

// present are names, with those of a role, such as primary, replaced by the server that has it now.
func (w *World) present(names ...string) ([]string, error) {
	out := slices.Clone(names)
	for i, name := range out {
		if name == "primary" {
			out[i] = w.primaryOf("")
		}
		for _, s := range w.lock.Servers {
			if name == "" || s.Kind.Leader != name {
				continue
			}
			ctx, cancel := context.WithTimeout(w.ctx, asking)
			leader, err := w.servers.group(server.Kind(s.Kind.Name)).Leader(ctx)
			cancel()
			if err != nil {
				return nil, fmt.Errorf("%w: %s: %w", faults.ErrUnable, name, err)
			}
			out[i] = leader.Name()
		}
	}
	return out, nil
}

// wire is a wire with the names of this world, each of which exists.
func (w *World) wire(between, and []string, d faults.Direction) (faults.Wire, error) {
	out := faults.Wire{Direction: cmp.Or(d, faults.DirectionBoth)}
	var errBetween, errAnd error
	out.Between, errBetween = w.present(between...)
	out.And, errAnd = w.present(and...)
	if err := errors.Join(errBetween, errAnd); err != nil {
		return out, err
	}
	for _, name := range slices.Concat(out.Between, out.And) {
		_, noServer := w.server(name)
		if name != storeName && noServer != nil && w.machine(name) == nil {
			return out, fmt.Errorf("there is no client or server %q in this world", name)
		}
	}
	if w.betweenMembers(out) {
		return out, fmt.Errorf("%w: the links between the members of a cluster have no proxies", faults.ErrUnable)
	}
	return out, nil
}

// betweenMembers says that a wire leads between two servers that have no proxy between them.
func (w *World) betweenMembers(wire faults.Wire) bool {
	cluster := func(name string) bool { return trace.IsServer(name) && !w.isRedis(name) && w.gateOf(name) == nil }
	var members int
	for _, s := range w.servers.all() {
		if cluster(s.Name()) {
			members++
		}
	}
	if members < 2 {
		return false
	}
	return slices.ContainsFunc(wire.Between, cluster) && (len(wire.And) == 0 || slices.ContainsFunc(wire.And, cluster)) ||
		len(wire.And) == 0 && slices.ContainsFunc(wire.And, cluster)
}

// Toxify implements faults.Toxifier.
func (a *abilities) Toxify(wire faults.Wire, name string, build func(seed uint64) toxics.Toxic, d time.Duration) error {
	w := a.w
	wire, err := w.wire(wire.Between, wire.And, wire.Direction)
	if err != nil {
		return err
	}
	event := trace.Toxic{Name: name, Between: wire.Between, And: wire.And, Direction: string(wire.Direction), For: d}
	end := trace.ToxicEnd{Name: name, Between: wire.Between}
	if name == (faults.HalfOpen{}).Kind() {
		return a.halfOpen(wire, event, end, d)
	}
	seed := w.seed
	t, err := w.putToxic(name, wire, func() toxics.Toxic { seed++; return build(seed) })
	if err != nil {
		return err
	}
	a.felt()
	w.record(strings.Join(wire.Between, ","), event)
	w.last(d, func() {
		if w.takeToxic(t) {
			w.record(strings.Join(wire.Between, ","), end)
		}
	})
	return nil
}

// halfOpen lets the connections of a wire that are there lose everything, and gives new ones other proxies.
func (a *abilities) halfOpen(wire faults.Wire, event trace.Toxic, end trace.ToxicEnd, d time.Duration) error {
	w := a.w
	var drop []func()
	for _, m := range w.alive() {
		for _, server := range m.servers() {
			if streams(wire, m.name, server) == nil {
				continue
			}
			former, err := m.net.replace(server)
			if err != nil {
				return err
			}
			t := &toxic{name: fmt.Sprint("half-open-", server), wire: wire,
				build: func() toxics.Toxic { return new(faults.Drop) }}
			for _, p := range former {
				if err := t.onto(p, m.name, server); err != nil {
					return err
				}
			}
			drop = append(drop, func() { m.net.drop(server, former) })
		}
	}
	a.felt()
	w.record(strings.Join(wire.Between, ","), event)
	w.last(d, func() {
		w.record(strings.Join(wire.Between, ","), end)
		for _, f := range drop {
			f()
		}
	})
	return nil
}

// servers are the servers that a client has a way to.
func (m *machine) servers() []string {
	var out []string
	m.net.each(func(r *route) { out = append(out, r.server) })
	slices.Sort(out)
	return out
}

// Cut implements faults.Cutter.
func (a *abilities) Cut(p faults.Partition) error {
	w := a.w
	wire, err := w.wire(p.Between, p.And, p.Direction)
	if err != nil {
		return err
	}
	for _, m := range w.alive() {
		m.net.cut(wire, +1)
	}
	t, err := w.putToxic("cut", wire, func() toxics.Toxic {
		if p.Bytes == faults.BytesDrop {
			return new(faults.Drop)
		}
		return new(faults.Hold)
	})
	if err != nil {
		return err
	}
	t.cuts = true // for clients that start from now on
	a.felt()
	w.record(strings.Join(wire.Between, ","), trace.Cut{Between: wire.Between, And: wire.And, Bytes: string(p.Bytes),
		Direction: string(wire.Direction)})
	w.last(p.For, func() {
		if w.takeToxic(t) {
			for _, m := range w.alive() {
				m.net.cut(wire, -1)
			}
			w.record(strings.Join(wire.Between, ","), trace.Heal{Between: wire.Between})
		}
	})
	return nil
}

// Reset implements faults.Resetter: the proxy of the pair closes all of its connections, and new ones have another
// proxy.
func (a *abilities) Reset(process, node string) error {
	w := a.w
	m, err := w.client(process)
	if err != nil || m.Crashed() {
		return err
	}
	names, err := w.present(node)
	if err != nil {
		return err
	}
	former, err := m.net.replace(names[0])
	if err != nil {
		return err
	}
	m.net.drop(names[0], former)
	a.felt()
	w.record(process, trace.Reset{Client: process, Server: names[0]})
	return nil
}

// Refuse implements faults.Refuser.
func (a *abilities) Refuse(node string, d time.Duration) error {
	w := a.w
	names, err := w.present(node)
	if err != nil {
		return err
	}
	if _, err := w.wire(names, nil, faults.DirectionBoth); err != nil && !errors.Is(err, faults.ErrUnable) {
		return err
	}
	a.felt()
	w.record(names[0], trace.Refuse{For: d})
	w.refuse(names[0], +1, false)
	w.last(d, func() {
		w.record(names[0], trace.RefuseEnd{})
		w.refuse(names[0], -1, false)
	})
	return nil
}

// Stall implements faults.Staller, by SIGSTOP of the server.
func (a *abilities) Stall(node string, d time.Duration) error {
	w := a.w
	s, err := w.server(node)
	if err != nil || s.Down() {
		return err
	}
	if err := s.Stall(); err != nil {
		return err
	}
	a.felt()
	w.record(s.Name(), trace.Stall{For: d})
	w.last(d, func() {
		w.record(s.Name(), trace.StallEnd{})
		if !s.Down() {
			_ = s.Resume()
		}
	})
	return nil
}

// Promote implements faults.Promoter, by REPLICAOF. What is under way to the replica is lost.
func (a *abilities) Promote(f faults.Failover) error {
	w := a.w
	g := w.servers.redis()
	if g == nil {
		return fmt.Errorf("%w: only Redis has replicas here", faults.ErrUnable)
	}
	ctx, cancel := context.WithTimeout(w.ctx, asking)
	defer cancel()
	if to, err := w.server(f.To); err == nil && (to.Down() || g.Primary() == to) {
		role := "primary"
		if to.Down() {
			role = "down"
		}
		w.record(f.To, trace.NotPromoted{Role: role})
		return nil
	}
	p, err := g.Promote(ctx, f)
	if err != nil {
		return err
	}
	a.felt()
	w.record(f.To, trace.Promote{Old: p.Old, Fate: string(f.Old), Told: f.Clients, Follows: p.Of > 0, Has: p.Has,
		Of: p.Of})
	if old, err := w.server(p.Old); err == nil && old.Down() {
		w.refuse(p.Old, +1, false)
	}
	for _, m := range w.alive() {
		if len(f.Clients) > 0 && !slices.Contains(f.Clients, m.name) {
			continue
		}
		w.told[m.name] = f.To
		m.net.follow(f.To)
	}
	w.told[trace.Probe], w.told[""] = f.To, f.To
	return nil
}

func (a *abilities) redisOf(node string) (*server.Server, context.Context, context.CancelFunc, error) {
	s, err := a.w.server(node)
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(a.w.ctx, asking)
	return s, ctx, cancel, nil
}

// Program implements faults.Programs.
func (a *abilities) Program(node string) (program any, felt func(), err error) {
	s, err := a.w.server(node)
	if err != nil {
		return nil, nil, err
	}
	return onServer{a.w, s}, a.felt, nil
}

// onServer has what faults ask a real server for.
type onServer struct {
	w *World
	*server.Server
}

// Evict implements faults.Evictor.
func (s onServer) Evict(policy faults.EvictionPolicy, keys int) (deleted int, err error) {
	if s.Down() {
		s.w.record(s.Name(), trace.Evict{Policy: string(policy), Role: "down"})
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(s.w.ctx, asking)
	defer cancel()
	gone, err := s.Server.Evict(ctx, policy, keys)
	if err != nil {
		return 0, err
	}
	s.w.record(s.Name(), trace.Evict{Policy: string(policy), Keys: gone})
	return len(gone), nil
}

// Flush implements faults.Flusher. How much the server deletes is not known: it counts as something.
func (s onServer) Flush(what faults.FlushWhat) (deleted int, err error) {
	if s.Down() {
		s.w.record(s.Name(), trace.Flush{What: string(what), Role: "down"})
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(s.w.ctx, asking)
	defer cancel()
	if err := s.Server.Flush(ctx, what); err != nil {
		return 0, err
	}
	s.w.record(s.Name(), trace.Flush{What: string(what)})
	return 1, nil
}

// EditKeys implements faults.KeyEditor.
func (s onServer) EditKeys(how faults.Edit) (done bool, err error) {
	var edited []string
	if !s.Down() {
		ctx, cancel := context.WithTimeout(s.w.ctx, asking)
		defer cancel()
		if edited, err = s.Server.EditKeys(ctx, how, s.w.watched); err != nil {
			return false, err
		}
	}
	s.w.record(s.Name(), trace.Operate{Does: string(how), Of: edited})
	return len(edited) > 0, nil
}

// StartFailover implements faults.FailoverStarter.
func (s onServer) StartFailover() bool {
	if s.Down() {
		return false
	}
	ctx, cancel := context.WithTimeout(s.w.ctx, asking)
	defer cancel()
	answer := "OK"
	err := s.Server.StartFailover(ctx)
	if err != nil {
		answer = err.Error()
	}
	s.w.record(s.Name(), trace.FailoverOrder{Answer: answer})
	return err == nil
}

// ReplacePrimary implements faults.ReplicaPromoter.
func (s onServer) ReplacePrimary(mode faults.FailoverMode) bool {
	if s.Down() {
		return false
	}
	order := "REPLACE ITS PRIMARY"
	switch mode {
	case faults.FailoverForce:
		order += " BY FORCE"
	case faults.FailoverTakeover:
		order += " WITHOUT VOTES"
	}
	return s.ordered(order, func(ctx context.Context) error { return s.Server.ReplacePrimary(ctx, mode) })
}

// ordered orders something of a node of a Redis Cluster, and reports whether it has done it.
func (s onServer) ordered(order string, do func(ctx context.Context) error) bool {
	ctx, cancel := context.WithTimeout(s.w.ctx, asking)
	defer cancel()
	answer := "OK"
	err := do(ctx)
	if err != nil {
		answer = err.Error()
	}
	s.w.record(s.Name(), trace.ClusterOrder{Order: order, Answer: answer})
	return err == nil
}

// TakeSlot implements faults.SlotTaker.
func (s onServer) TakeSlot(until faults.MoveStep) (bool, error) {
	g := s.w.servers.cluster()
	if g == nil {
		return false, fmt.Errorf("%w: %s is no node of a Redis Cluster", faults.ErrUnable, s.Name())
	}
	ctx, cancel := context.WithTimeout(s.w.ctx, asking)
	defer cancel()
	from, err := g.Leader(ctx)
	if err != nil {
		return false, fmt.Errorf("%w: %w", faults.ErrUnable, err)
	}
	order := fmt.Sprintf("TAKE THE SLOT %d OF %s (%s)", g.Slot(), strings.ToUpper(from.Name()), until)
	return s.ordered(order, func(ctx context.Context) error {
		switch {
		case s.Down() || from.Down():
			return errors.New("one of the two does not run")
		case from == s.Server:
			return errors.New("it has the slot")
		}
		return s.Server.TakeSlot(ctx, from, until)
	}), nil
}

// RefuseWrites implements faults.WriteRefuser.
func (a *abilities) RefuseWrites(node string, d time.Duration) error {
	s, ctx, cancel, err := a.redisOf(node)
	if err != nil {
		return err
	}
	defer cancel()
	if s.Down() {
		return nil
	}
	if err := s.RefuseWrites(ctx); err != nil {
		return err
	}
	w := a.w
	a.felt()
	w.record(s.Name(), trace.ReadOnly{For: d})
	w.last(d, func() {
		w.record(s.Name(), trace.ReadOnlyEnd{})
		ctx, cancel := context.WithTimeout(w.ctx, asking)
		defer cancel()
		if !s.Down() {
			_ = s.AcceptWrites(ctx)
		}
	})
	return nil
}

// ReplyError implements faults.ErrorReplier: no real server gives such an answer when it is asked to.
func (a *abilities) ReplyError(node string, answer faults.ReplyError, _ int, _ time.Duration) error {
	return fmt.Errorf("%w: %s is a real server, which cannot be made to answer with the error %s", faults.ErrUnable, node,
		answer)
}
