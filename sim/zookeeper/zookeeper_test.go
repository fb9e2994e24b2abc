package zookeeper_test

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
	"locksim/sim/zookeeper"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// contend lets clients take the lock of the Go client in turns. They begin at different instants.
func contend(w *sim.World, clients, servers int, say func(p *sim.Process, format string, args ...any)) {
	for i := range clients {
		p := w.Client(i)
		p.Go(func() {
			_ = p.Clock().Sleep(p.Context(), time.Duration(i)*1237*time.Microsecond)
			c, err := zookeeper.Connect(p, 6*time.Second, nil, names(servers, i)...)
			if err != nil {
				say(p, "connect: %v", err)
				return
			}
			for round := range 3 {
				l := zk.NewLock(c, "/locks/order", zk.WorldACL(zk.PermAll))
				if err := l.Lock(); err != nil {
					say(p, "lock: %v", err)
					_ = p.Clock().Sleep(p.Context(), time.Second)
					continue
				}
				say(p, "round %d", round)
				_ = p.Clock().Sleep(p.Context(), 2*time.Second)
				for tries := 0; ; tries++ {
					err := l.Unlock()
					say(p, "unlock: %v", err)
					if err == nil || errors.Is(err, zk.ErrNoNode) || tries == 20 {
						break
					}
					_ = p.Clock().Sleep(p.Context(), 500*time.Millisecond)
				}
			}
		})
	}
}

// names are those of the servers, beginning with the one of a client.
func names(servers, client int) (list []string) {
	for j := range servers {
		list = append(list, fmt.Sprintf("z%d", (client+j)%servers))
	}
	return list
}

type strike func(w *sim.World) error

// strikes are faults at the sixth second.
var strikes = map[string]strike{
	"calm":  func(*sim.World) error { return nil },
	"pause": func(w *sim.World) error { return w.Faults().Pause("c0", 15*time.Second) },
	"reset": func(w *sim.World) error { return w.Faults().Reset("c1", "z1") },
	"isolated leader": func(w *sim.World) error {
		return w.Faults().Cut(faults.Partition{Between: []string{zookeeper.Leader}, And: []string{"z0", "z1", "z2"},
			For: 25 * time.Second})
	},
	"crash of the leader": func(w *sim.World) error { return crash(w, faults.CrashProcess) },
	"power of the leader": func(w *sim.World) error { return crash(w, faults.CrashPower) },
	"drift of the leader": func(w *sim.World) error { return w.Faults().DriftClock(zookeeper.Leader, 4_000_000, 0) },
	"stall of the leader": func(w *sim.World) error { return w.Faults().Stall(zookeeper.Leader, 14*time.Second) },
}

// crash ends the leader for six seconds.
func crash(w *sim.World, mode faults.CrashMode) error {
	s, err := zookeeper.On(w, zookeeper.Leader)
	if err != nil {
		return err
	}
	name := s.Node().Name()
	w.At(w.Now()+6*time.Second, func() {
		if err := w.Faults().Restart(name); err != nil {
			panic(err)
		}
	})
	return w.Faults().Crash(name, mode)
}

func once(t *testing.T, seed uint64, servers int, strike strike, log func(string)) *trace.Trace {
	t.Helper()
	cfg := sim.Config{Seed: seed, Clients: 3, Servers: []sim.Kind{zookeeper.Servers{Count: servers}}}
	res, err := sim.Run(cfg, func(w *sim.World) error {
		contend(w, 3, servers, func(p *sim.Process, format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			if log != nil {
				log(fmt.Sprintf("%v %s %s", w.Now(), p.Name(), text))
			}
			_ = p.Point(text)
		})
		w.At(6*time.Second, func() {
			if err := strike(w); err != nil {
				t.Error(err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
	return res.Trace
}

func TestRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, servers := range []int{1, 3} {
		for name, strike := range strikes {
			if servers == 1 && name == "isolated leader" || servers == 1 && name == "reset" {
				continue
			}
			t.Run(fmt.Sprintf("%d servers %s", servers, name), func(t *testing.T) {
				first := once(t, 7, servers, strike, func(s string) { t.Log(s) })
				for i := range 3 {
					runtime.GOMAXPROCS(1 + i%4)
					if d := trace.Diff(first, once(t, 7, servers, strike, nil)); d != nil {
						t.Fatalf("run %d differs: %v", i, d)
					}
				}
			})
		}
	}
}

// A leader in trouble has a successor.
func TestLeaderChanges(t *testing.T) {
	for name, changes := range map[string]bool{
		"isolated leader": true, "crash of the leader": true, "power of the leader": true, "stall of the leader": true,
		"pause": false,
	} {
		elected := 0
		for _, e := range once(t, 7, 3, strikes[name], nil).Events {
			if _, ok := e.What.(trace.Elected); ok {
				elected++
			}
		}
		if elected > 1 != changes {
			t.Errorf("%s: %d elections", name, elected)
		}
	}
}

// A server whose leader has crashed, and leads again in a new term, ends its connections: what they had asked of the
// former one is never answered.
func TestSameLeaderAgain(t *testing.T) {
	cfg := sim.Config{Seed: 7, Clients: 1, Servers: []sim.Kind{zookeeper.Servers{Count: 3}}}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		if err := w.Faults().Crash("z2", faults.CrashPower); err != nil { // the leader, at once: z1 notices first
			return err
		}
		w.At(3300*time.Millisecond, func() {
			if err := w.Faults().Restart("z2"); err != nil {
				t.Error(err)
			}
		})
		p := w.Client(0)
		p.Go(func() {
			_ = p.Clock().Sleep(p.Context(), 3320*time.Millisecond)
			c, err := zookeeper.Connect(p, 8*time.Second, nil, "z0", "z1", "z2")
			if err != nil {
				t.Error(err)
				return
			}
			if _, err = c.Create("/a", nil, 0, zk.WorldACL(zk.PermAll)); err != nil || w.Now() > 15*time.Second {
				t.Errorf("at %v: %v", w.Now(), err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// with runs f as a client of three servers.
func with(t *testing.T, f func(w *sim.World, p *sim.Process)) {
	t.Helper()
	cfg := sim.Config{Seed: 3, Clients: 2, Servers: []sim.Kind{zookeeper.Servers{Count: 3}}}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() { f(w, p) })
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A container that has had children and has none goes away, and one that never had any stays.
func TestContainers(t *testing.T) {
	with(t, func(w *sim.World, p *sim.Process) {
		c, err := zookeeper.Connect(p, 10*time.Second, nil, "z0")
		if err != nil {
			t.Error(err)
			return
		}
		for _, path := range []string{"/used", "/unused"} {
			if _, err := c.CreateContainer(path, nil, zk.FlagContainer, zk.WorldACL(zk.PermAll)); err != nil {
				t.Error(err)
			}
		}
		if _, err := c.Create("/used/child", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Error(err)
		}
		there := func() (list [2]bool) {
			_, _ = c.Sync("/")
			for i, path := range []string{"/used", "/unused"} {
				list[i], _, _ = c.Exists(path)
			}
			return list
		}
		_ = p.Clock().Sleep(p.Context(), 3*time.Minute)
		if got := there(); got != [2]bool{true, true} {
			t.Errorf("with a child: %v", got)
		}
		if err := c.Delete("/used/child", -1); err != nil {
			t.Error(err)
		}
		_ = p.Clock().Sleep(p.Context(), 3*time.Minute)
		if got := there(); got != [2]bool{false, true} {
			t.Errorf("after the child: %v", got)
		}
	})
}

// A session ends when the leader has not heard of it for its timeout, at the end of a tick, and not before.
func TestSessionEnds(t *testing.T) {
	with(t, func(w *sim.World, p *sim.Process) {
		other := w.Client(1)
		c, err := zookeeper.Connect(p, 10*time.Second, nil, "z0")
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := c.Create("/mine", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Error(err)
		}
		asked := w.Now()
		if err := w.Faults().Pause("c0", time.Minute); err != nil {
			t.Error(err)
		}
		other.Go(func() {
			c, err := zookeeper.Connect(other, 10*time.Second, nil, "z1")
			if err != nil {
				t.Error(err)
				return
			}
			_, _, gone, err := c.ExistsW("/mine")
			if err != nil {
				t.Error(err)
				return
			}
			<-gone
			// The server has heard of it at most a latency after it asked, and reported that half a tick later at most.
			if after := w.Now() - asked; after < 10*time.Second || after > 13100*time.Millisecond {
				t.Errorf("the session ended after %v", after)
			}
		})
	})
}

// A server from which a session has moved does not execute what is still written there, and closes the connection.
func TestSessionMoved(t *testing.T) {
	with(t, func(w *sim.World, p *sim.Process) {
		var links []net.Conn
		c, err := zookeeper.Connect(tapped{p, func(n net.Conn) { links = append(links, n) }}, 10*time.Second, nil, "z0", "z1")
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := c.Create("/a", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Error(err)
		}
		// The request is written to z0, and the link to it holds it while the client moves to z1.
		if err := w.Faults().Cut(faults.Partition{Between: []string{"c0"}, And: []string{"z0"},
			For: 30 * time.Second}); err != nil {
			t.Error(err)
		}
		_, err = c.Set("/a", []byte("late"), -1)
		if !errors.Is(err, zk.ErrConnectionClosed) {
			t.Errorf("the request over a dead connection: %v", err)
		}
		if _, err := c.Set("/a", []byte("new"), -1); err != nil {
			t.Error(err)
		}
		_ = p.Clock().Sleep(p.Context(), time.Minute)
		data, _, err := c.Get("/a")
		if err != nil || string(data) != "new" {
			t.Errorf("%q, %v", data, err)
		}
		if len(links) < 2 {
			t.Errorf("%d connections", len(links))
		}
	})
}

// The session of an idle client goes on, by its pings to a server that reports them to the leader.
func TestPingsAreReported(t *testing.T) {
	with(t, func(w *sim.World, p *sim.Process) {
		c, err := zookeeper.Connect(p, 10*time.Second, nil, "z0")
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := c.Create("/mine", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Error(err)
		}
		_ = p.Clock().Sleep(p.Context(), 2*time.Minute)
		if there, _, err := c.Exists("/mine"); !there || err != nil {
			t.Errorf("after two idle minutes: %v, %v", there, err)
		}
	})
}

// A client that was away is told what has happened to the nodes that it watches, and does not connect to a server that
// knows less than it does.
func TestWatchesAgain(t *testing.T) {
	with(t, func(w *sim.World, p *sim.Process) {
		var link net.Conn
		c, err := zookeeper.Connect(tapped{p, func(n net.Conn) { link = n }}, 20*time.Second, nil, "z1", "z0", "z2")
		if err != nil {
			t.Error(err)
			return
		}
		other, err := zookeeper.Connect(w.Client(1), 20*time.Second, nil, "z2")
		if err != nil {
			t.Error(err)
			return
		}
		for _, path := range []string{"/data", "/parent", "/gone"} {
			if _, err := c.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				t.Error(err)
			}
		}
		watch := map[zk.EventType]<-chan zk.Event{}
		_, _, watch[zk.EventNodeDataChanged], _ = c.GetW("/data")
		_, _, watch[zk.EventNodeChildrenChanged], _ = c.ChildrenW("/parent")
		_, _, watch[zk.EventNodeDeleted], _ = c.ExistsW("/gone")
		_, _, watch[zk.EventNodeCreated], _ = c.ExistsW("/new")
		// z0 falls behind, and is asked first when the connection to z1 has broken.
		if err := w.Faults().Cut(faults.Partition{Between: []string{"z0"}, And: []string{"z1", "z2"},
			For: 5 * time.Second}); err != nil {
			t.Error(err)
		}
		if _, err := c.Create("/seen", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Error(err)
		}
		_ = link.Close()
		for _, err := range []error{
			func() error { _, err := other.Set("/data", []byte("x"), -1); return err }(),
			func() error { _, err := other.Create("/parent/child", nil, 0, zk.WorldACL(zk.PermAll)); return err }(),
			other.Delete("/gone", -1),
			func() error { _, err := other.Create("/new", nil, 0, zk.WorldACL(zk.PermAll)); return err }(),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		_ = p.Clock().Sleep(p.Context(), 3*time.Second)
		if c.Server() == p.Address("z0") || c.State() != zk.StateHasSession {
			t.Errorf("connected to %s, %v", c.Server(), c.State())
		}
		for want, told := range watch {
			select {
			case e := <-told:
				if e.Type != want || e.Err != nil {
					t.Errorf("told %v, %v, want %v", e.Type, e.Err, want)
				}
			default:
				t.Errorf("%v was not told", want)
			}
		}
	})
}

// What happens while the world is closed, as the end of the sessions, is no part of the run.
func TestNoChangesAfterTheEnd(t *testing.T) {
	var world *sim.World
	with(t, func(w *sim.World, p *sim.Process) {
		world = w
		w.WatchKeys("/mine")
		c, err := zookeeper.Connect(p, 10*time.Second, nil, "z0")
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := c.Create("/mine", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Error(err)
		}
	})
	changes := world.KeyChanges()
	if len(changes) != 1 || changes[0].Step == 0 {
		t.Errorf("%+v", changes)
	}
}
