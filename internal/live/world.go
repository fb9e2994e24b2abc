//go:build linux

package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/live/guard"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/store"
	"locksim/sim/trace"
)

// storeName is the protected resource, which the parent itself serves.
const storeName = store.Name

// World is one run on real servers and processes. It is a [play.Stage]: one goroutine uses it.
type World struct {
	scenario *file.Scenario // at its scale
	lock     subject.Lock
	seed     uint64
	dir      string // where its processes work
	servers  servers
	ctx      context.Context // ends when the run is over
	end      context.CancelFunc

	toxiproxy *toxiproxy.ApiServer
	silence   net.Listener // accepts nothing
	gates     []*gate      // of Sentinels, and of those that they watch; of the nodes of a Redis Cluster
	sources   int          // how many gates there were
	began     int64        // on the clock of the machine
	do        chan func()
	failed    chan error
	running   atomic.Int64 // goroutines of machines
	late      atomic.Int64 // the longest time by which a timer of the parent, or a server that starts again, was late
	beats     atomic.Int64 // how often that was looked at

	// What follows is for the goroutine that uses the world.
	trace     trace.Trace
	store     *store.Store
	decided   []play.Decision
	onMark    []func(string, trace.Mark)
	clients   []*machine
	former    []*machine // crashed, and replaced by a restart; and the probe
	toxics    []*toxic
	numbers   int
	dark      map[string]*toxic // of servers whose power has failed: they answer nothing
	lost      map[string]*toxic // of crashed servers that have a gate: what is under way from them
	spared    map[string]bool   // servers whose crash this world cannot play
	crashedAs map[string]string // the server that has crashed under a name, and was not restarted under it
	told      map[string]string // the server behind the name primary for a client, r0 if it is not here
	lasting   []*lasting
	watched   []string // the keys of the lock
	healedAt  int64    // in beats
}

// newWorld starts the servers and the clients of a run. sc is the scenario at its scale.
func newWorld(ctx context.Context, g *guard.Guard, sc *file.Scenario, l subject.Lock, mode fence.Mode,
	seed uint64) (_ *World, err error) {
	w := &World{scenario: sc, lock: l, seed: seed, dir: g.Dir(), toxiproxy: newToxiproxy(),
		do: make(chan func()), failed: make(chan error, 1), store: store.New(mode),
		dark: map[string]*toxic{}, lost: map[string]*toxic{}, spared: map[string]bool{},
		crashedAs: map[string]string{}, told: map[string]string{}}
	w.ctx, w.end = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.silence, err = listen(); err != nil {
		return nil, err
	}
	if err := w.startServers(g); err != nil {
		return nil, err
	}
	shows := reading{From: monotonic(), Base: time.Now().UnixNano(), Step: int64(sc.World.ClockStep)}
	var all sync.WaitGroup
	w.clients = make([]*machine, sc.World.Clients)
	errs := make([]error, sc.World.Clients)
	for i := range w.clients {
		all.Go(func() { w.clients[i], errs[i] = w.launch(fmt.Sprint("c", i), 1, shows) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	w.began = monotonic()
	go w.measureLoad()
	w.hearSentinels()
	w.hearCluster()
	return w, nil
}

// beat is the time between two looks at how late the machine is.
const beat = 5 * time.Millisecond

// measureLoad finds out how late the machine lets a process run that is due.
func (w *World) measureLoad() {
	for due := monotonic() + int64(beat); ; due = monotonic() + int64(beat) {
		select {
		case <-time.After(beat):
			w.wasLate(monotonic() - due)
			w.beats.Add(1)
		case <-w.ctx.Done():
			return
		}
	}
}

// wasLate says by how much something of the machine was late.
func (w *World) wasLate(by int64) {
	for most := w.late.Load(); by > most && !w.late.CompareAndSwap(most, by); {
		most = w.late.Load()
	}
}

// close ends all processes, servers and proxies of the world.
func (w *World) close() error {
	var all sync.WaitGroup
	for _, m := range w.everyone() {
		all.Go(m.close)
	}
	all.Wait()
	w.end()
	if w.silence != nil {
		_ = w.silence.Close()
	}
	return w.servers.close()
}

// everyone are all machines, running or not.
func (w *World) everyone() []*machine {
	all := slices.Concat(w.clients, w.former)
	return slices.DeleteFunc(all, func(m *machine) bool { return m == nil })
}

// alive are the machines that have not crashed.
func (w *World) alive() []*machine {
	return slices.DeleteFunc(w.everyone(), (*machine).Crashed)
}

// machine is the one of that name that runs, or nil.
func (w *World) machine(name string) *machine {
	for _, m := range w.everyone() {
		if m.name == name {
			return m
		}
	}
	return nil
}

// fail ends the run with an error.
func (w *World) fail(err error) {
	select {
	case w.failed <- err:
	default: // another one was first
	}
}

// inOrder makes the goroutine of the world call f, and waits for it, or for the end of the run.
func (w *World) inOrder(f func()) {
	done := make(chan struct{})
	select {
	case w.do <- func() { f(); close(done) }:
		<-done
	case <-w.ctx.Done():
	}
}

// add adds an event that happened between an instant of the machine and now; 0 is for now.
func (w *World) add(from int64, actor, peer string, what trace.What) (n int) {
	now := monotonic()
	if from == 0 || from > now {
		from = now
	}
	from = max(from, w.began)
	return w.trace.Add(trace.Event{At: time.Duration(from - w.began), Within: time.Duration(now - from), Actor: actor,
		Peer: peer, What: what})
}

// uncertain is the instant from which on a mark may have happened, 0 for the present one. It matters for a grant alone,
// and if the claim or the belief of another client has ended since then: the lock may have granted what was not free
// yet.
func (w *World) uncertain(client string, s trace.Step, from int64) int64 {
	if s != trace.Granted && s != trace.Reentered {
		return 0
	}
	for _, e := range slices.Backward(w.trace.Events) {
		if w.began+int64(e.At+e.Within) < from {
			break
		}
		if m, ok := e.What.(trace.Mark); ok && e.Actor != client {
			switch m.Step {
			case trace.Release, trace.Leave, trace.Until, trace.UntilSeen, trace.Lost, trace.LostSeen:
				return from
			}
		}
	}
	return 0
}

func (w *World) passed(name string, m trace.Mark) {
	for _, f := range w.onMark {
		f(name, m)
	}
}

// listenStore serves the store for a client, which the parent thereby knows.
func (w *World) listenStore(m *machine) (address string, err error) {
	l, err := listen()
	if err != nil {
		return "", err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.serveStore(m.name, c)
		}
	}()
	m.OnEnd(func() { _ = l.Close() })
	return l.Addr().String(), nil
}

// serveStore executes the operations of a connection.
func (w *World) serveStore(client string, c net.Conn) {
	defer func() { _ = c.Close() }()
	for in := bufio.NewReader(c); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		answer := ""
		w.inOrder(func() {
			answer = w.store.Serve(line, func(d trace.Decision) int {
				n := w.add(0, storeName, client, d)
				w.decided = append(w.decided, play.Decision{At: checker.Pos(n), Decision: d})
				return n
			})
		})
		if answer == "" {
			return // the run is over
		}
		if _, err := io.WriteString(c, answer+"\n"); err != nil {
			return
		}
	}
}

// Clients implements play.Stage.
func (w *World) Clients() []play.Machine {
	all := make([]play.Machine, len(w.clients))
	for i, m := range w.clients {
		all[i] = m
	}
	return all
}

// Join implements play.Stage.
func (w *World) Join(name string) (play.Machine, error) {
	r, _ := w.clients[0].clock.get()
	m, err := w.launch(name, 1, reading{From: r.From, Base: r.Base, Step: r.Step})
	if err != nil {
		return nil, err
	}
	w.former = append(w.former, m)
	return m, nil
}

// Revive implements play.Stage. The clocks of a machine outlive its process.
func (w *World) Revive(name string) (play.Machine, error) {
	for i, m := range w.clients {
		if m.name != name {
			continue
		}
		if !m.Crashed() {
			return nil, fmt.Errorf("%s %w: it cannot be restarted", name, faults.ErrRuns)
		}
		r, _ := m.clock.get()
		again, err := w.launch(name, m.incarnation+1, r)
		if err != nil {
			return nil, err
		}
		w.add(0, trace.World, name, trace.Restart{})
		w.former = append(w.former, m)
		w.clients[i] = again
		return again, nil
	}
	return nil, fmt.Errorf("there is no client %q in this world", name)
}

// At implements play.Stage.
func (w *World) At(t time.Duration, f func()) { w.After(t-w.Now(), f) }

// After implements play.Stage.
func (w *World) After(d time.Duration, f func()) { time.AfterFunc(max(d, 0), func() { w.inOrder(f) }) }

// OnMark implements play.Stage.
func (w *World) OnMark(f func(client string, m trace.Mark)) { w.onMark = append(w.onMark, f) }

// RunUntil implements play.Stage: it makes the calls in the order in which they arrive.
func (w *World) RunUntil(done func() bool) error {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for !done() {
		select {
		case f := <-w.do:
			f()
		case <-look.C: // a goroutine may have ended
		case err := <-w.failed:
			return err
		case <-w.ctx.Done():
			return w.ctx.Err()
		}
	}
	return nil
}

// Idle implements play.Stage.
func (w *World) Idle() bool { return w.running.Load() == 0 }

// settled is the number of beats after which a healed network has delivered the bytes that were held: they are in the
// memory of the proxies, which are in this process, and cross loopback. It is not a time, since a machine that stands
// still delivers nothing.
const settled = 30

// Quiet implements play.Stage.
func (w *World) Quiet() bool { return w.beats.Load()-w.healedAt >= settled }

// Abandon implements play.Stage: the processes are killed in any case.
func (*World) Abandon() {}

// Now implements play.Stage.
func (w *World) Now() time.Duration { return time.Duration(monotonic() - w.began) }

// Trace implements play.Stage.
func (w *World) Trace() *trace.Trace { return &w.trace }

// Ground implements play.Stage.
func (w *World) Ground() play.Ground { return ground{w} }

// ground is what no client can see.
type ground struct{ w *World }

// WatchKeys implements play.Ground. Real servers do not say who changed a key and when: only an operator looks for
// them.
func (g ground) WatchKeys(keys ...string) { g.w.watched = append(g.w.watched, keys...) }

// WatchUnseen implements play.Ground.
func (g ground) WatchUnseen(keys ...string) { g.WatchKeys(keys...) }

// KeyChanges implements play.Ground.
func (ground) KeyChanges() []trace.KeyChange { return nil }

// Servers implements play.Ground.
func (g ground) Servers() []play.ServerState { return g.w.servers.states(g.w) }

// Decisions implements play.Ground.
func (g ground) Decisions() []play.Decision { return g.w.decided }

// Value implements play.Ground.
func (g ground) Value(resource, register string) string { return g.w.store.Value(resource, register) }
