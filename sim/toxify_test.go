package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/store"
)

// slowLink is a toxic that delays by 100 ms, for any seed.
func slowLink(uint64) toxics.Toxic { return &toxics.LatencyToxic{Latency: 100} }

// wire is a wire between c0 and the sink.
func wire(d faults.Direction) faults.Wire {
	return faults.Wire{Between: []string{"c0"}, And: []string{"n0"}, Direction: d}
}

// TestToxify shows which directions are slow during a toxic, on a connection
// that exists and on one that is opened later, and that both are fast after it,
// by its duration or by Heal.
func TestToxify(t *testing.T) {
	const up, down = 101 * time.Millisecond, 101 * time.Millisecond
	for _, tt := range []struct {
		wire     faults.Wire
		up, down time.Duration
	}{
		{wire(faults.DirectionBoth), up, down},
		{wire(""), up, down},
		{wire(faults.DirectionForward), up, time.Millisecond},
		{wire(faults.DirectionBackward), time.Millisecond, down},
		{faults.Wire{Between: []string{"n0"}, Direction: faults.DirectionForward}, time.Millisecond, down},
		{faults.Wire{Between: []string{"c1"}}, time.Millisecond, time.Millisecond},
	} {
		for _, d := range []time.Duration{10 * time.Second, 0} {
			t.Run(fmt.Sprint(tt.wire, " ", d), func(t *testing.T) {
				solo(t, sim.Config{Clients: 2}, func(w *sim.World, p *sim.Process, sink *Sink) {
					conns := []*sim.Conn{dial(p, "n0")}
					w.Do(func() { must(t, w.Faults().Toxify(tt.wire, "latency", slowLink, d)) })
					conns = append(conns, dial(p, "n0"))
					for i, c := range conns {
						if up, down := delays(w, c, sink.Conns[i]); !near(up, tt.up) || !near(down, tt.down) {
							t.Errorf("connection %d, meanwhile: %v up and %v down, want %v and %v", i, up, down, tt.up, tt.down)
						}
					}
					if d == 0 {
						w.Do(w.Heal)
					}
					rest(w, d)
					for i, c := range conns {
						if up, down := delays(w, c, sink.Conns[i]); !near(up, ms.Min) || !near(down, ms.Min) {
							t.Errorf("connection %d, afterwards: %v up and %v down, want 1ms", i, up, down)
						}
						_ = c.Close()
					}
				})
			})
		}
	}
}

// delays measures how long a message takes in each direction.
func delays(w *sim.World, c *sim.Conn, s *SinkConn) (up, down time.Duration) {
	start := w.Now()
	mustWrite(c, "x")
	rest(w, time.Second)
	up = s.At[len(s.At)-1] - start
	start = w.Now()
	s.Send([]byte("x"))
	_ = readErr(c)
	return up, w.Now() - start
}

// TestToxifySeeds shows that each direction of each link gets its own seed,
// that a second toxic of the same name gets another, and that all of them
// depend only on the run's seed.
func TestToxifySeeds(t *testing.T) {
	draw := func(seed uint64) []uint64 {
		var all []uint64
		run(t, sim.Config{Seed: seed, Clients: 2, Servers: []sim.Kind{simredis.Servers{Nodes: 2}, store.Server{}}},
			func(w *sim.World) error {
				keep := func(seed uint64) toxics.Toxic {
					all = append(all, seed)
					return &toxics.NoopToxic{}
				}
				everything := faults.Wire{Between: []string{"c0", "c1"}}
				must(t, w.Faults().Toxify(everything, "latency", keep, 0))
				must(t, w.Faults().Toxify(everything, "latency", keep, 0))
				must(t, w.Faults().Toxify(everything, "slice", keep, 0))
				return nil
			})
		return all
	}
	one := draw(1)
	distinct := slices.Compact(slices.Sorted(slices.Values(append(draw(2), one...))))
	if len(one) != 3*12 || len(distinct) != 2*3*12 {
		t.Errorf("%d toxics, %d distinct seeds in two runs, want 36 and 72", len(one), len(distinct))
	}
	if !slices.Equal(one, draw(1)) {
		t.Error("the seeds of one run differ in its repetition")
	}
}

// TestToxifyAndCut shows that a toxic still works on a link that is cut and
// healed, whichever of the two began first.
func TestToxifyAndCut(t *testing.T) {
	cut := func(w *sim.World) {
		must(t, w.Faults().Cut(faults.Partition{Between: []string{"c0"}, And: []string{"n0"}, For: time.Second}))
	}
	toxify := func(w *sim.World) { must(t, w.Faults().Toxify(wire(""), "latency", slowLink, 0)) }
	for _, first := range []string{"cut", "toxic"} {
		solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
			c := dial(p, "n0")
			start := w.Now()
			w.Do(func() {
				if first == "cut" {
					cut(w)
					toxify(w)
				} else {
					toxify(w)
					cut(w)
				}
			})
			mustWrite(c, "held")
			rest(w, 2*time.Second-(w.Now()-start))
			mustWrite(c, "late")
			rest(w, time.Second)
			s := sink.Conns[0]
			if string(s.Got) != "heldlate" || s.At[0]-start < time.Second || !roughly(s.At[1]-start, 2101*time.Millisecond) {
				t.Errorf("%s first: %q arrived at %v after the start", first, s.Got, s.At)
			}
			_ = c.Close()
		})
	}
}

// TestToxifyErrors shows the wires that are refused.
func TestToxifyErrors(t *testing.T) {
	run(t, sim.Config{Clients: 2, Servers: []sim.Kind{simredis.Servers{Nodes: 2}, store.Server{}}},
		func(w *sim.World) error {
			for _, tt := range []struct {
				wire faults.Wire
				d    time.Duration
				want string
			}{
				{faults.Wire{Between: []string{"c9"}}, 0, `nothing named "c9"`},
				{faults.Wire{Between: []string{"c0"}, And: []string{"r9"}}, 0, `nothing named "r9"`},
				{faults.Wire{Between: []string{"r0"}, And: []string{"r1"}}, 0, "between servers there are only partitions"},
				{faults.Wire{Between: []string{"c0"}, And: []string{"c1"}}, 0, "give clients on one side"},
				{faults.Wire{Between: []string{"c0"}}, -time.Second, "-1s"},
			} {
				if err := w.Faults().Toxify(tt.wire, "latency", slowLink, tt.d); err == nil ||
					!strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v: %v, want %s", tt.wire, err, tt.want)
				}
			}
			return nil
		})
}
