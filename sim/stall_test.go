package sim_test

import (
	"fmt"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/store"
)

// TestStall shows that a stalled node accepts connections and does not reply,
// and that it serves requests in the order of their arrival when the last stall
// is over, or when the world is healed.
func TestStall(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stall  func(w *sim.World) // at 1s
		served time.Duration
	}{
		{"for 4s", stallNow("r0", 4*time.Second), 5 * time.Second},
		{"twice", func(w *sim.World) { stallNow("r0", 4*time.Second)(w); stallNow("r0", 2*time.Second)(w) }, 5 * time.Second},
		{"healed", func(w *sim.World) { stallNow("r0", 0)(w); w.At(3*time.Second, w.Heal) }, 3 * time.Second},
		{"another node", stallNow("s0", 5*time.Second), time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, sim.Config{Latency: ms, Clients: 3}, func(w *sim.World) error {
				w.At(time.Second, func() { tt.stall(w) })
				for i := range w.Clients() {
					p := w.Client(i)
					r := redisclient.New(p, "r0")
					p.Go(func() {
						must(t, r.Ping(p.Context()).Err())
						time.Sleep(time.Second + time.Duration(10*(3-i))*time.Microsecond - w.Now())
						n, err := r.Append(p.Context(), "log", p.Name()).Result()
						if err != nil || n != int64(2*(3-i)) || w.Now() < tt.served || w.Now() > tt.served+3*time.Millisecond {
							t.Errorf("%s: %d, %v at %v, want %d at %v", p.Name(), n, err, w.Now(), 2*(3-i), tt.served)
						}
					})
				}
				return w.RunUntil(w.Idle)
			})
			if tt.name == "twice" && (count(res, "stall") != 2 || count(res, "stall-end") != 1) {
				t.Errorf("%d stall, %d stall-end, want 2 and 1", count(res, "stall"), count(res, "stall-end"))
			}
		})
	}
}

func stallNow(node string, d time.Duration) func(w *sim.World) {
	return func(w *sim.World) {
		if err := w.Faults().Stall(node, d); err != nil {
			panic(err)
		}
	}
}

// TestStallExpiresKeys shows that a node's clock goes on during a stall: a lock
// whose TTL ends meanwhile is gone when the node serves again.
func TestStallExpiresKeys(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		r := redisclient.New(p, "r0")
		must(t, r.Set(p.Context(), "lock", "c0", 3*time.Second).Err())
		w.Do(func() { stallNow("r0", 4*time.Second)(w) })
		if ok, err := r.SetNX(p.Context(), "lock", "c1", time.Second).Result(); !ok || err != nil {
			t.Errorf("taken %v, %v: the key has not expired", ok, err)
		}
	})
}

// TestStallHoldsTimeouts shows that a blocking command whose timeout passes
// during a stall is answered after it, that one whose timeout passes later is
// not late, and that data which has arrived first precedes a timeout.
func TestStallHoldsTimeouts(t *testing.T) {
	for _, tt := range []struct {
		timeout int // seconds, of a command that begins at 1s
		push    bool
		want    string
		at      time.Duration
	}{
		{2, false, "redis: nil", 5 * time.Second},
		{9, false, "redis: nil", 10 * time.Second},
		{9, true, "[list x]", 5 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d s, push %v", tt.timeout, tt.push), func(t *testing.T) {
			run(t, sim.Config{Latency: ms, Clients: 2}, func(w *sim.World) error {
				p, other := w.Client(0), w.Client(1)
				w.At(2*time.Second, func() { stallNow("r0", 3*time.Second)(w) })
				opt := redisclient.Quiet()
				opt.Addr, opt.ReadTimeout = p.Address("r0"), time.Minute
				p.Go(func() {
					time.Sleep(time.Second)
					got, err := redisclient.With(p, opt).BLPop(p.Context(), time.Duration(tt.timeout)*time.Second, "list").Result()
					text := fmt.Sprint(got)
					if err != nil {
						text = err.Error()
					}
					if text != tt.want || w.Now() < tt.at || w.Now() > tt.at+10*time.Millisecond {
						t.Errorf("%s at %v, want %s at %v", text, w.Now(), tt.want, tt.at)
					}
				})
				if tt.push {
					other.Go(func() {
						time.Sleep(3 * time.Second)
						_ = redisclient.New(other, "r0").RPush(other.Context(), "list", "x").Err()
					})
				}
				return w.RunUntil(w.Idle)
			})
		})
	}
}

// TestStallAndClosedConnections shows that a request which waits for the end of
// a stall is executed if its sender closed or crashed, and not if the
// connection was reset.
func TestStallAndClosedConnections(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(w *sim.World, c *sim.Conn)
		done bool
	}{
		{"closed", func(_ *sim.World, c *sim.Conn) { _ = c.Close() }, true},
		{"crashed", func(w *sim.World, _ *sim.Conn) { crashNow(w, faults.CrashPower) }, true},
		{"reset", func(w *sim.World, c *sim.Conn) {
			w.Do(func() { must(t, w.Faults().Reset("c0", "r0")); must(t, w.Faults().Reset("c0", "s0")) })
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, sim.Config{Latency: ms}, func(w *sim.World) error {
				p := w.Client(0)
				p.Go(func() {
					toRedis, toStore := dial(p, "r0"), dial(p, "s0")
					w.Do(func() { stallNow("r0", time.Second)(w); stallNow("s0", time.Second)(w) })
					mustWrite(toRedis, "SET k v\r\n")
					mustWrite(toStore, "WRITE a b x 0 - -\n")
					time.Sleep(10 * time.Millisecond)
					tt.end(w, toRedis)
				})
				err := w.RunFor(2 * time.Second)
				if keys := redisOf(w).Keys(); (len(keys) == 1) != tt.done {
					t.Errorf("the node holds %v, want one: %v", keys, tt.done)
				}
				if v := store.Of(w).Value("a", "b"); (v == "x") != tt.done {
					t.Errorf("the store holds %q, want x: %v", v, tt.done)
				}
				return err
			})
		})
	}
}

// TestStallOfTheStore shows that a write to a stalled store is late, and that
// its outcome is known.
func TestStallOfTheStore(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		w.Do(func() { stallNow("s0", time.Second)(w) })
		err := store.NewClient(p).Write(p.Context(), store.Op{Resource: "a", Register: "b", ID: "x"})
		if err != nil || w.Now() < time.Second || store.Of(w).Value("a", "b") != "x" {
			t.Errorf("%v at %v, the store has %q", err, w.Now(), store.Of(w).Value("a", "b"))
		}
	})
}

// TestStallErrors shows what is refused.
func TestStallErrors(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		for _, err := range []error{w.Faults().Stall("r9", 0), w.Faults().Stall("c0", 0), w.Faults().Stall("r0", -1)} {
			if err == nil {
				t.Error("no error")
			}
		}
		return nil
	})
}
