package zookeeper_test

import (
	"errors"
	"fmt"
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
		return w.Faults().Cut(faults.Partition{Between: []string{zookeeper.Leader}, And: []string{"z0", "z1", "z2"}, For: 25 * time.Second})
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
		"isolated leader": true, "crash of the leader": true, "power of the leader": true, "stall of the leader": true, "pause": false,
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

// A server whose leader has crashed, and leads again in a new term, ends its connections: what they had asked of the former
// one is never answered.
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
