package sim_test

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/store"
	"locksim/sim/trace"
)

// races are the places where a run could depend on the scheduler. Each body
// causes many events in one instant, and marks their results.
var races = []struct {
	name string // what happens at one instant
	cfg  sim.Config
	body func(w *sim.World) error
}{
	{"sleeps of several clients, by the runtime", sim.Config{Clients: 4},
		equalSleeps(func(_ *sim.Process, d time.Duration) { time.Sleep(d) })},
	{"sleeps of several clients, by their clocks", sim.Config{Clients: 4},
		equalSleeps(func(p *sim.Process, d time.Duration) { _ = p.Clock().Sleep(p.Context(), d) })},
	{"sleeps in one client", sim.Config{}, sleepsInOne},
	{"two connections dialled in one instant", sim.Config{Latency: ms}, twoDials},
	{"connections dialled and greeted in one instant", sim.Config{}, greetedTwins},
	{"connections that only read", withSink(sim.Config{}), silentTwins},
	{"a context's end and an answer", sim.Config{Latency: ms, Clients: 2}, cancelAgainstReply},
	{"deadlines of reads and writes", withSink(sim.Config{Latency: ms}), equalDeadlines},
	{"a close that wakes several goroutines", withSink(sim.Config{Latency: ms}), closeWakesMany},
	{"a reset that wakes several goroutines", withSink(sim.Config{Latency: ms}), resetWakesMany},
	{"toxics on several connections", sim.Config{Clients: 2}, toxicsOnMany},
	{"requests to five nodes", sim.Config{Clients: 3, Servers: []sim.Kind{simredis.Servers{Nodes: 5}}}, fiveNodes},
	{"goroutines held by a pause", sim.Config{Latency: ms}, heldByAPause},
	{"marks and observations", sim.Config{}, equalMarks},
	{"timers and their stops", sim.Config{}, equalTimers},
	{"toxics and a global draw", withSink(sim.Config{}), globalDraws},
	{"a crash that wakes many", sim.Config{Clients: 2}, crashWakesMany},
	{"dials that wait for healing", sim.Config{}, dialsAfterHeal},
}

// TestDeterminismOfRaces shows that each of them gives the same trace for the
// same seed, with one processor and with two.
func TestDeterminismOfRaces(t *testing.T) {
	for _, race := range races {
		t.Run(race.name, func(t *testing.T) {
			for seed := range uint64(seeds(30)) {
				race.cfg.Seed = seed
				first := onProcessors(t, 1, race.cfg, race.body)
				for _, n := range []int{1, 2, 2} {
					if d := trace.Diff(first, onProcessors(t, n, race.cfg, race.body)); d != nil {
						t.Fatalf("seed %d, %d processors: %v", seed, n, d)
					}
				}
			}
		})
	}
}

func equalSleeps(sleep func(p *sim.Process, d time.Duration)) func(w *sim.World) error {
	return func(w *sim.World) error {
		for i := range w.Clients() {
			p := w.Client(i)
			r := redisclient.New(p, "r0")
			p.Go(func() {
				for range 5 {
					n, err := r.Incr(p.Context(), "n").Result()
					mark(p, "%d %v", n, err)
					sleep(p, 20*time.Millisecond)
				}
			})
		}
		return w.RunUntil(w.Idle)
	}
}

func sleepsInOne(w *sim.World) error {
	p := w.Client(0)
	for i := range 4 {
		p.Go(func() {
			_ = p.Clock().Sleep(p.Context(), 10*time.Millisecond)
			n, err := redisclient.New(p, "r0").Append(p.Context(), "log", fmt.Sprint(i)).Result()
			mark(p, "%d appended up to %d, %v", i, n, err)
		})
	}
	return w.RunUntil(w.Idle)
}

func twoDials(w *sim.World) error {
	p := w.Client(0)
	for i := range 3 {
		p.Go(func() {
			for round := range 3 {
				c := dial(p, "r0")
				mustWrite(c, fmt.Sprintf("APPEND log %d\r\n", i))
				buf := make([]byte, 10)
				n, err := c.Read(buf)
				mark(p, "%d in round %d: %q %v", i, round, buf[:n], err)
				_ = c.Close()
			}
		})
	}
	return w.RunUntil(w.Idle)
}

// greetedTwins: go-redis in its default configuration sends a greeting on each
// connection, so that the first messages of several are equal, and the next are
// not.
func greetedTwins(w *sim.World) error {
	p := w.Client(0)
	r := redisclient.With(p, &redis.Options{Addr: p.Address("r0"), PoolSize: 16, MaxRetries: -1,
		MaintNotificationsConfig: redisclient.Quiet().MaintNotificationsConfig})
	for i := range 3 {
		p.Go(func() {
			for range 2 {
				n, err := r.Append(p.Context(), "log", fmt.Sprint(i)).Result()
				mark(p, "%d appended up to %d, %v", i, n, err)
			}
		})
	}
	return w.RunUntil(w.Idle)
}

// silentTwins: connections that have sent nothing end at one instant.
func silentTwins(w *sim.World) error {
	p := w.Client(0)
	if _, err := w.Faults().AddToxic("c0", "n0", sim.Down, &toxics.TimeoutToxic{Timeout: 50}); err != nil {
		return err
	}
	for i := range 4 {
		p.Go(func() {
			c := dial(p, "n0")
			_, err := c.Read(make([]byte, 10))
			mark(p, "%d: %v", i, err)
			_ = c.Close()
			c = dial(p, "r0")
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			mark(p, "%d: %v", i, strings.Contains(readErr(c).Error(), "timeout"))
			_ = c.Close()
		})
	}
	return w.RunUntil(w.Idle)
}

// cancelAgainstReply ends contexts in the nanosecond of the reply, and around
// it, as go-redis' own contexts and deadlines do.
func cancelAgainstReply(w *sim.World) error {
	for i := range w.Clients() {
		p := w.Client(i)
		opt := redisclient.Quiet()
		opt.Addr, opt.ContextTimeoutEnabled = p.Address("r0"), true
		r := redisclient.With(p, opt)
		s := store.NewClient(p)
		p.Go(func() {
			for d := range 12 {
				ctx, cancel := context.WithTimeout(p.Context(), 2*time.Millisecond+time.Duration(d-2)*time.Nanosecond)
				n, err := r.Incr(ctx, "n").Result()
				mark(p, "%d %v %v", n, err, ctx.Err())
				cancel()
				ctx, cancel = context.WithTimeout(p.Context(), 2*time.Millisecond+time.Duration(d-2)*time.Nanosecond)
				op := store.Op{Resource: "a", Register: "b", ID: fmt.Sprintf("%s.%d", p.Name(), d)}
				mark(p, "%v %v", s.Write(ctx, op), ctx.Err())
				cancel()
			}
		})
	}
	return w.RunUntil(w.Idle)
}

func equalDeadlines(w *sim.World) error {
	p := w.Client(0)
	if _, err := w.Faults().AddToxic("c0", "n0", sim.Up, &faults.Hold{}); err != nil {
		return err
	}
	deadline := time.Now().Add(100 * time.Millisecond)
	for i := range 3 {
		p.Go(func() {
			c := dial(p, "n0")
			if i > 0 { // the first has sent nothing
				_, _ = c.Write(make([]byte, 256<<10))
			}
			_ = c.SetDeadline(deadline)
			var both sync.WaitGroup
			both.Go(func() { _ = readErr(c); mark(p, "%d read %v", i, w.Now()) })
			if i > 0 {
				both.Go(func() { _ = writeErr(c); mark(p, "%d wrote %v", i, w.Now()) })
			}
			both.Wait()
			_ = c.Close()
		})
	}
	return w.RunUntil(w.Idle)
}

// several goroutines wait on one connection; when it ends, each sends a command
// to Redis.
func several(w *sim.World, end func(c *sim.Conn)) error {
	p := w.Client(0)
	p.Go(func() {
		c := dial(p, "n0")
		for i := range 4 {
			p.Go(func() {
				err := readErr(c)
				n, _ := redisclient.New(p, "r0").Append(p.Context(), "log", fmt.Sprint(i)).Result()
				mark(p, "%d: %v, %d", i, err, n)
			})
		}
		_ = p.Clock().Sleep(p.Context(), 10*time.Millisecond)
		end(c)
	})
	return w.RunUntil(w.Idle)
}

func closeWakesMany(w *sim.World) error {
	return several(w, func(c *sim.Conn) { _ = c.Close() })
}

func resetWakesMany(w *sim.World) error {
	return several(w, func(*sim.Conn) { resetNow(w) })
}

// toxicsOnMany: toxic chains with timers that are due at the same instants.
func toxicsOnMany(w *sim.World) error {
	var off []func()
	for _, c := range []string{"c0", "c1"} {
		for _, dir := range []sim.Direction{sim.Up, sim.Down} {
			for _, toxic := range []toxics.Toxic{
				&toxics.SlicerToxic{AverageSize: 10, Delay: 100}, &toxics.LatencyToxic{Latency: 5},
				&toxics.BandwidthToxic{Rate: 20}, &toxics.SlowCloseToxic{Delay: 10},
			} {
				remove, err := w.Faults().AddToxic(c, "r0", dir, toxic)
				if err != nil {
					return err
				}
				off = append(off, remove)
			}
		}
	}
	w.At(30*time.Millisecond, off[3])
	w.At(31*time.Millisecond, off[4])
	for i := range 6 {
		p := w.Client(i % 2)
		p.Go(func() {
			c := dial(p, "r0")
			for round := range 3 {
				mustWrite(c, fmt.Sprintf("APPEND log this-is-%d-in-%d\r\n", i, round))
				n, err := c.Read(make([]byte, 100))
				mark(p, "%d %d %v", i, n, err)
			}
			_ = c.Close()
		})
	}
	return w.RunUntil(w.Idle)
}

func fiveNodes(w *sim.World) error {
	for i := range w.Clients() {
		p := w.Client(i)
		var nodes []*redis.Client
		for _, n := range w.Nodes() {
			nodes = append(nodes, redisclient.New(p, n.Name()))
		}
		p.Go(func() {
			for round := range 4 {
				var wg sync.WaitGroup
				won := make([]bool, len(nodes))
				for n, r := range nodes {
					wg.Go(func() {
						won[n], _ = r.SetNX(p.Context(), fmt.Sprint(round), p.Name(), time.Minute).Result()
					})
				}
				wg.Wait()
				mark(p, "%v", won)
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	return w.RunUntil(w.Idle)
}

func heldByAPause(w *sim.World) error {
	p := w.Client(0)
	w.At(5*time.Millisecond, func() { _ = w.Faults().Pause("c0", time.Second) })
	for i, do := range []func(){
		func() { p.Clock().Now() },
		func() { p.Clock().Now() }, // at another line
		func() { _ = p.Clock().Sleep(p.Context(), 5*time.Millisecond) },
		func() { _ = p.Point("x") },
	} {
		p.Go(func() {
			time.Sleep(10 * time.Millisecond)
			do()
			n, err := redisclient.New(p, "r0").Append(p.Context(), "log", fmt.Sprint(i)).Result()
			mark(p, "%d %d %v", i, n, err)
		})
	}
	return w.RunUntil(w.Idle)
}

func equalMarks(w *sim.World) error {
	p := w.Client(0)
	w.OnMark(func(process string, m trace.Mark) {
		if m.Label == "same" && w.Now() > time.Millisecond {
			_ = w.Faults().Pause(process, 10*time.Millisecond)
		}
	})
	for i := range 4 {
		p.Go(func() {
			time.Sleep(time.Millisecond)
			_ = p.Point("same")
			n, err := redisclient.New(p, "r0").Append(p.Context(), "log", fmt.Sprint(i)).Result()
			mark(p, "%d %d %v", i, n, err)
		})
	}
	return w.RunUntil(w.Idle)
}

func equalTimers(w *sim.World) error {
	p := w.Client(0)
	fired := make(chan int, 3)
	p.Go(func() {
		var stops []func() bool
		for i := range 3 {
			stops = append(stops, p.Clock().AfterFunc(10*time.Millisecond, func() {
				mark(p, "timer %d", i)
				fired <- i
			}))
		}
		_ = p.Clock().Sleep(p.Context(), 5*time.Millisecond)
		mark(p, "stopped %v", stops[1]())
		<-fired
		<-fired
		mark(p, "both")
	})
	return w.RunUntil(w.Idle)
}

// globalDraws: toxiproxy draws from the global source when a toxic starts, and
// so does the code under test.
func globalDraws(w *sim.World) error {
	p := w.Client(0)
	for range 3 {
		if _, err := w.Faults().AddToxic("c0", "n0", sim.Up, &toxics.NoopToxic{}); err != nil {
			return err
		}
	}
	p.Go(func() {
		for range 5 {
			c := dial(p, "n0")
			mark(p, "%d", rand.Int63())
			_ = c.Close()
		}
	})
	return w.RunUntil(w.Idle)
}

func crashWakesMany(w *sim.World) error {
	w.At(20*time.Millisecond, func() { _ = w.Faults().Crash("c0", faults.CrashProcess) })
	for i := range w.Clients() {
		p := w.Client(i)
		for n := range 4 {
			p.Go(func() {
				r := redisclient.New(p, "r0")
				for range 10 {
					if err := r.Append(p.Context(), "log", fmt.Sprint(n)).Err(); err != nil {
						p.Observe(trace.Mark{Step: trace.Point, Label: fmt.Sprint("failed ", n)})
						return
					}
				}
			})
		}
	}
	return w.RunUntil(w.Idle)
}

func dialsAfterHeal(w *sim.World) error {
	p := w.Client(0)
	if err := w.Faults().Cut(faults.Partition{Between: []string{"c0"}, For: 50 * time.Millisecond}); err != nil {
		return err
	}
	for i := range 4 {
		p.Go(func() {
			time.Sleep(time.Duration(i/2) * time.Millisecond)
			c := dial(p, "r0")
			mustWrite(c, fmt.Sprintf("APPEND log %d\r\n", i))
			n, err := io.ReadAtLeast(c, make([]byte, 10), 4)
			mark(p, "%d %d %v", i, n, err)
			_ = c.Close()
		})
	}
	return w.RunUntil(w.Idle)
}
