package etcd_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/goleak"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/etcd"
	"locksim/sim/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// contend lets clients take etcd's own mutex in turns.
func contend(w *sim.World, clients, members int, say func(p *sim.Process, format string, args ...any)) {
	for i := range clients {
		p := w.Client(i)
		p.Go(func() {
			var names []string
			for j := range members {
				names = append(names, fmt.Sprintf("e%d", (i+j)%members))
			}
			c, err := etcd.Client(p, names...)
			if err != nil {
				say(p, "client: %v", err)
				return
			}
			for round := range 3 {
				s, err := concurrency.NewSession(c, concurrency.WithTTL(5))
				if err != nil {
					say(p, "session: %v", err)
					_ = p.Clock().Sleep(p.Context(), time.Second)
					continue
				}
				m := concurrency.NewMutex(s, "/order")
				ctx, cancel := context.WithTimeout(p.Context(), 20*time.Second)
				err = m.Lock(ctx)
				cancel()
				if err != nil {
					say(p, "lock: %v", err)
					_ = s.Close()
					continue
				}
				say(p, "round %d: revision %d", round, m.Header().Revision)
				_ = p.Clock().Sleep(p.Context(), 2*time.Second)
				say(p, "unlock: %v", m.Unlock(p.Context()))
				_ = s.Close()
			}
		})
	}
}

type strike func(w *sim.World) error

// strikes are faults at the sixth second.
var strikes = map[string]strike{
	"calm":  func(*sim.World) error { return nil },
	"pause": func(w *sim.World) error { return w.Faults().Pause("c0", 15*time.Second) },
	"isolated leader": func(w *sim.World) error {
		return w.Faults().Cut(faults.Partition{Between: []string{etcd.Leader}, And: []string{"e0", "e1", "e2"},
			For: 8 * time.Second})
	},
	"crash of the leader": func(w *sim.World) error {
		w.At(w.Now()+6*time.Second, func() {
			if err := w.Faults().Restart(etcd.Leader); err != nil {
				panic(err)
			}
		})
		return w.Faults().Crash(etcd.Leader, faults.CrashPower)
	},
	"drift of the leader": func(w *sim.World) error { return w.Faults().DriftClock(etcd.Leader, 4_000_000, 0) },
	"stall of the leader": func(w *sim.World) error { return w.Faults().Stall(etcd.Leader, 4*time.Second) },
}

func once(t *testing.T, seed uint64, members int, strike strike, log func(string)) *trace.Trace {
	t.Helper()
	cfg := sim.Config{Seed: seed, Clients: 3, Servers: []sim.Kind{etcd.Servers{Members: members}}}
	res, err := sim.Run(cfg, func(w *sim.World) error {
		contend(w, 3, members, func(p *sim.Process, format string, args ...any) {
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
	for _, members := range []int{1, 3} {
		for name, strike := range strikes {
			if members == 1 && name == "isolated leader" {
				continue
			}
			t.Run(fmt.Sprintf("%d members %s", members, name), func(t *testing.T) {
				first := once(t, 7, members, strike, func(s string) { t.Log(s) })
				for i := range 3 {
					runtime.GOMAXPROCS(1 + i%4)
					if d := trace.Diff(first, once(t, 7, members, strike, nil)); d != nil {
						t.Fatalf("run %d differs: %v", i, d)
					}
				}
			})
		}
	}
}

// A leader in trouble has a successor.
func TestLeaderChanges(t *testing.T) {
	for name, changes := range map[string]bool{"isolated leader": true, "crash of the leader": true,
		"stall of the leader": true, "pause": false} {
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

// A watch that is to begin at a negative revision is refused, as etcd 3.7 does, whatever has been compacted.
func TestWatchFromNegativeRevision(t *testing.T) {
	_, err := sim.Run(sim.Config{Servers: []sim.Kind{etcd.Servers{Members: 1}}}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			c, err := etcd.Client(p, "e0")
			if err != nil {
				t.Error(err)
				return
			}
			for _, revision := range []int64{-1, -2, -1000} {
				r := <-c.Watch(p.Context(), "k", clientv3.WithRev(revision))
				if !r.Canceled || !strings.Contains(fmt.Sprint(r.Err()), "compacted") {
					t.Errorf("from %d: %+v", revision, r)
				}
				if _, err := c.Put(p.Context(), "k", "v"); err != nil {
					t.Error(err)
				}
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Error(err)
	}
}

// A watch that asks for notices of progress gets one after ten minutes in which nothing happened, and at most a tenth
// more; an event puts it off.
func TestProgressNotices(t *testing.T) {
	_, err := sim.Run(sim.Config{Clients: 1, Servers: []sim.Kind{etcd.Servers{Members: 1}}}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			c, err := etcd.Client(p, "e0")
			if err != nil {
				t.Error(err)
				return
			}
			watched := c.Watch(p.Context(), "k", clientv3.WithProgressNotify())
			if r := <-watched; !r.IsProgressNotify() || w.Now() < 10*time.Minute || w.Now() > 12*time.Minute {
				t.Errorf("at %v: %+v", w.Now(), r)
			}
			if _, err := c.Put(p.Context(), "k", "v"); err != nil {
				t.Error(err)
			}
			if r := <-watched; len(r.Events) != 1 {
				t.Errorf("%+v", r)
			}
			if r := <-watched; !r.IsProgressNotify() || w.Now() < 30*time.Minute {
				t.Errorf("at %v: %+v", w.Now(), r)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Error(err)
	}
}
