package play_test

import (
	"bufio"
	"context"
	crand "crypto/rand"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	protected "locksim/sim/store"
	"locksim/sim/trace"
)

// The driver plays over plain TCP as in a simulated world: with a real miniredis
// and a real listener for the store, on loopback, in real time. Here positions are
// intervals of the machine's clock.
func TestDriverOverTCP(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds of real time")
	}
	for _, tt := range []struct {
		name   string
		change func(sc *file.Scenario)
	}{
		{"calm", func(*file.Scenario) {}},
		{"transfer", func(sc *file.Scenario) {
			sc.Workload.Kind, sc.Workload.Rounds = file.WorkloadTransfer, 3
		}},
	} {
		for _, kind := range []string{"fenced", "single"} {
			t.Run(tt.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				sc, err := file.Load("calm")
				if err != nil {
					t.Fatal(err)
				}
				sc = hurried(sc)
				tt.change(sc)
				l, err := redislocks.Kind(kind)
				if err != nil {
					t.Fatal(err)
				}
				w := newTCPWorld(t, sc.World.Clients)
				run, err := play.On(w, sc, l, fence.None, nil)
				if err != nil {
					t.Fatal(err)
				}
				v := run.Verdict
				if v.Label != checker.Safe || v.Facts.Data != checker.DataRight {
					t.Errorf("label %s: %v", v.Label, v.Reasons)
				}
				if want := sc.World.Clients * sc.Workload.Rounds; v.Facts.Grants != want || v.Facts.Contended == 0 {
					t.Errorf("%d grants, %d contended, want %d and some", v.Facts.Grants, v.Facts.Contended, want)
				}
				if len(run.History.Within) != run.Trace.Len() {
					t.Errorf("%d of %d events have an interval", len(run.History.Within), run.Trace.Len())
				}
			})
		}
	}
}

// hurried is a scenario at a tenth of its times, except for the TTL, so that no
// lease ends early on a slow machine.
func hurried(sc *file.Scenario) *file.Scenario {
	fast := *sc
	w := &fast.Workload
	for _, d := range []*time.Duration{&w.Hold, &w.Think, &w.Stagger, &fast.Lock.Backoff.Min, &fast.Lock.Backoff.Max} {
		*d = (*d / 10).Truncate(time.Millisecond)
	}
	fast.Locks, fast.Expect = nil, nil
	return &fast
}

// tcpWorld is a [play.Stage] of goroutines and sockets. One goroutine does
// everything that needs an order: marks, decisions, planned calls.
type tcpWorld struct {
	began    time.Time
	do       chan func()
	trace    trace.Trace
	onMark   []func(string, trace.Mark)
	running  atomic.Int64
	redis    *miniredis.Miniredis
	store    *protected.Store
	listener net.Listener
	clients  []play.Machine
	decided  []play.Decision
	t        *testing.T
	ends     []func()
	mu       sync.Mutex
}

func newTCPWorld(t *testing.T, clients int) *tcpWorld {
	w := &tcpWorld{began: time.Now(), do: make(chan func()), redis: miniredis.RunT(t), store: protected.New(fence.None),
		t: t}
	var err error
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(context.Background())
	t.Cleanup(func() {
		end()
		w.mu.Lock()
		ends := w.ends
		w.mu.Unlock()
		for _, f := range ends {
			f()
		}
		_ = w.listener.Close()
	})
	go w.serveStore(over)
	for i := range clients {
		w.clients = append(w.clients, &tcpMachine{w: w, name: fmt.Sprintf("c%d", i), ctx: over})
	}
	// Expiry of miniredis follows the real clock.
	tick := time.NewTicker(5 * time.Millisecond)
	t.Cleanup(tick.Stop)
	go func() {
		last := time.Now()
		for {
			select {
			case now := <-tick.C:
				w.redis.FastForward(now.Sub(last))
				last = now
			case <-over.Done():
				return
			}
		}
	}()
	return w
}

// inOrder makes the ordering goroutine call f, and waits for it. f gets the
// interval within which that happened.
func (w *tcpWorld) inOrder(ctx context.Context, f func(at, within time.Duration)) {
	at := time.Since(w.began)
	done := make(chan struct{})
	select {
	case w.do <- func() { f(at, time.Since(w.began)-at); close(done) }:
		<-done
	case <-ctx.Done():
	}
}

func (w *tcpWorld) add(ctx context.Context, actor, peer string, what trace.What, then func()) (n int) {
	w.inOrder(ctx, func(at, within time.Duration) {
		n = w.trace.Add(trace.Event{At: at, Within: within, Actor: actor, Peer: peer, What: what})
		if then != nil {
			then()
		}
	})
	return n
}

// serveStore accepts connections to the store.
func (w *tcpWorld) serveStore(ctx context.Context) {
	for {
		c, err := w.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = c.Close() }()
			for in := bufio.NewReader(c); ; {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				var answer string
				w.inOrder(ctx, func(at, within time.Duration) {
					answer = w.store.Serve(line, func(d trace.Decision) int {
						n := w.trace.Add(trace.Event{At: at, Within: within, Actor: protected.Name, What: d})
						w.decided = append(w.decided, play.Decision{At: checker.Pos(n), Decision: d})
						return n
					})
				})
				if _, err := io.WriteString(c, answer+"\n"); err != nil {
					return
				}
			}
		}()
	}
}

func (m *tcpMachine) Notice() context.Context { return m.ctx }

func (m *tcpMachine) Exit() {} // no process is asked to end

func (w *tcpWorld) Clients() []play.Machine { return slices.Clone(w.clients) }

func (w *tcpWorld) Join(name string) (play.Machine, error) {
	return &tcpMachine{w: w, name: name, ctx: w.clients[0].Context()}, nil
}

func (w *tcpWorld) Revive(name string) (play.Machine, error) {
	return nil, fmt.Errorf("%s cannot be restarted in this world", name)
}

func (w *tcpWorld) At(d time.Duration, f func()) { w.After(d-time.Since(w.began), f) }

func (w *tcpWorld) After(d time.Duration, f func()) {
	time.AfterFunc(max(d, 0), func() { w.inOrder(w.clients[0].Context(), func(_, _ time.Duration) { f() }) })
}

func (w *tcpWorld) OnMark(f func(string, trace.Mark)) { w.onMark = append(w.onMark, f) }

// RunUntil makes the calls in the order in which they arrive.
func (w *tcpWorld) RunUntil(done func() bool) error {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	late := time.After(time.Minute)
	for !done() {
		select {
		case f := <-w.do:
			f()
		case <-look.C: // a goroutine may have ended
		case <-late:
			return fmt.Errorf("the run did not end within a minute")
		}
	}
	return nil
}

func (w *tcpWorld) Idle() bool { return w.running.Load() == 0 }

func (w *tcpWorld) Quiet() bool { return true } // each sender waits for its answer

func (w *tcpWorld) Now() time.Duration { return time.Since(w.began) }

func (w *tcpWorld) Faults(func()) any { return nil } // it has no faults

func (w *tcpWorld) Heal() {}

func (*tcpWorld) Abandon()              {}
func (w *tcpWorld) Trace() *trace.Trace { return &w.trace }

func (w *tcpWorld) Ground() play.Ground { return tcpGround{w} }

type tcpGround struct{ w *tcpWorld }

func (tcpGround) WatchKeys(...string)   {}
func (tcpGround) WatchUnseen(...string) {}

func (tcpGround) KeyChanges() []trace.KeyChange { return nil }

func (g tcpGround) Servers() []play.ServerState {
	s := play.ServerState{Server: trace.Server{Name: "r0", Kind: "redis", Role: trace.RoleSingle}, Asked: true,
		Listed: true}
	for _, k := range g.w.redis.Keys() {
		s.Keys = append(s.Keys, trace.Key{Name: k, TTL: g.w.redis.TTL(k)})
	}
	return []play.ServerState{s}
}

func (g tcpGround) Decisions() []play.Decision { return g.w.decided }

func (g tcpGround) Value(resource, register string) string {
	return g.w.store.Value(resource, register)
}

// tcpMachine is a client with the real clock and real sockets.
type tcpMachine struct {
	w     *tcpWorld
	name  string
	ctx   context.Context
	once  sync.Once
	store *protected.Client
}

func (m *tcpMachine) Name() string             { return m.name }
func (m *tcpMachine) Context() context.Context { return m.ctx }
func (m *tcpMachine) Clock() lock.Clock        { return realClock{} }
func (m *tcpMachine) WallClock() lock.Clock    { return realClock{} }

func (m *tcpMachine) Address(server string) string {
	switch server {
	case protected.Name:
		return m.w.listener.Addr().String()
	case "r0", subject.Primary:
		return m.w.redis.Addr()
	}
	return server
}

func (m *tcpMachine) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, addr)
}

func (m *tcpMachine) Source(string) rand.Source { return rand.NewPCG(rand.Uint64(), 1) }

func (m *tcpMachine) Entropy(string) io.Reader { return crand.Reader }

func (m *tcpMachine) OnEnd(f func()) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.w.ends = append(m.w.ends, f)
}

func (m *tcpMachine) Do(f func()) { f() }

func (m *tcpMachine) Go(f func()) {
	m.w.running.Add(1)
	go func() {
		defer m.w.running.Add(-1)
		f()
	}()
}

func (m *tcpMachine) Mark(mark trace.Mark) (checker.Pos, error) {
	n := m.w.add(m.ctx, m.name, "", mark, func() {
		for _, f := range m.w.onMark {
			f(m.name, mark)
		}
	})
	return checker.Pos(n), m.ctx.Err()
}

func (m *tcpMachine) Observe(mark trace.Mark) checker.Pos {
	return checker.Pos(m.w.add(m.ctx, m.name, "", mark, nil))
}

func (m *tcpMachine) Store() subject.Store {
	m.once.Do(func() { m.store = protected.NewClient(m) })
	return play.StoreOver(m.store)
}

func (m *tcpMachine) View() play.View { return tcpView{m.ctx} }

type tcpView struct{ ctx context.Context }

func (tcpView) Crashed() bool          { return false }
func (tcpView) Paused() bool           { return false }
func (tcpView) LooksAtWallClock() bool { return false }
func (tcpView) Now() time.Time         { return time.Now() }
func (tcpView) Look(f func())          { f() }

func (w tcpView) Until(t time.Time, stop <-chan struct{}) bool {
	select {
	case <-time.After(time.Until(t)):
		return true
	case <-stop:
	case <-w.ctx.Done():
	}
	return false
}

// realClock is the clock of the machine.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (realClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}
