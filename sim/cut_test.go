package sim_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/store"
)

// cutC0 is a partition between c0 and the sink.
func cutC0(bytes faults.Bytes, dir faults.Direction, d time.Duration) faults.Partition {
	return faults.Partition{Between: []string{"c0"}, And: []string{"n0"}, Bytes: bytes, Direction: dir, For: d}
}

// TestCut shows what arrives in each direction while a partition of 100 ms is
// in force, and after it. In each direction one message is under way when the
// partition begins, and two are sent meanwhile.
func TestCut(t *testing.T) {
	for _, tt := range []struct {
		bytes              faults.Bytes
		dir                faults.Direction
		upDuring, upAfter  string // what the node has got: "1" was under way
		downDuring         string
		downAfter          string
		upEnded, downEnded bool
	}{
		{"", "", "1", "123", "1", "123", false, false},
		{faults.BytesHold, faults.DirectionBoth, "1", "123", "1", "123", false, false},
		{faults.BytesHold, faults.DirectionForward, "1", "123", "123", "123", false, false},
		{faults.BytesHold, faults.DirectionBackward, "123", "123", "1", "123", false, false},
		{faults.BytesDrop, faults.DirectionBoth, "1", "1", "1", "1", true, true},
		{faults.BytesDrop, faults.DirectionForward, "1", "1", "123", "123", true, false},
		{faults.BytesDrop, faults.DirectionBackward, "123", "123", "1", "1", false, true},
	} {
		t.Run(string(tt.bytes)+" "+string(tt.dir), func(t *testing.T) {
			solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
				c := dial(p, "n0")
				s := sink.Conns[0]
				got := reader(p, c)
				both := func(text string) { mustWrite(c, text); s.Send([]byte(text)) }
				both("1")
				cutNow(w, cutC0(tt.bytes, tt.dir, 100*time.Millisecond))
				both("2")
				both("3")
				rest(w, 50*time.Millisecond)
				if string(s.Got) != tt.upDuring || got.String() != tt.downDuring {
					t.Errorf("during: up %q, down %q, want %q and %q", s.Got, got, tt.upDuring, tt.downDuring)
				}
				rest(w, time.Second)
				if string(s.Got) != tt.upAfter || got.String() != tt.downAfter {
					t.Errorf("after: up %q, down %q, want %q and %q", s.Got, got, tt.upAfter, tt.downAfter)
				}
				if s.Ended != tt.upEnded || got.ended != tt.downEnded {
					t.Errorf("ended: up %v, down %v, want %v and %v", s.Ended, got.ended, tt.upEnded, tt.downEnded)
				}
				_ = c.Close()
			})
		})
	}
}

// heard collects what a goroutine reads from a connection.
type heard struct {
	strings.Builder
	ended bool
}

func reader(p *sim.Process, c *sim.Conn) *heard {
	h := new(heard)
	p.Go(func() {
		buf := make([]byte, 100)
		for {
			n, err := c.Read(buf)
			h.Write(buf[:n])
			if err != nil {
				h.ended = true
				return
			}
		}
	})
	return h
}

// TestCutDeliversLate shows that held bytes arrive one latency after the link
// heals, before bytes sent later.
func TestCutDeliversLate(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
		c := dial(p, "n0")
		cutNow(w, cutC0("", "", 100*time.Millisecond))
		healed := w.Now() + 100*time.Millisecond
		mustWrite(c, "held")
		rest(w, healed-w.Now()+10*time.Nanosecond)
		mustWrite(c, "new")
		rest(w, 10*time.Millisecond)
		s := sink.Conns[0]
		if string(s.Got) != "heldnew" || !near(s.At[0], healed+time.Millisecond) {
			t.Errorf("%q arrived at %v, healed at %v", s.Got, s.At, healed)
		}
		_ = c.Close()
	})
}

// TestDialDuringCut shows that a dial waits until the link heals, or until its
// context ends.
func TestDialDuringCut(t *testing.T) {
	for _, dir := range faults.Directions() { // a handshake needs both directions
		solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
			cutNow(w, faults.Partition{Between: []string{"c0"}, Direction: dir, For: 100 * time.Millisecond})
			start := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			if _, err := p.Dial(ctx, "tcp", "r0"); !errors.Is(err, context.DeadlineExceeded) ||
				!near(time.Since(start), 50*time.Millisecond) {
				t.Errorf("%v: %v after %v, want the context's end after 50ms", dir, err, time.Since(start))
			}
			if time.Since(start) <= 50*time.Millisecond {
				t.Errorf("%v: the dial ended in the instant of its deadline, in which a timer of the client may fire", dir)
			}
			c := dial(p, "r0")
			if !near(time.Since(start), 102*time.Millisecond) {
				t.Errorf("%v: dialled after %v, want 102ms", dir, time.Since(start))
			}
			_ = c.Close()
		})
	}
}

// TestDialsApartAfterCut shows that dials that have waited for one link connect at different instants if they began at
// different ones, in that order.
func TestDialsApartAfterCut(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		cutNow(w, faults.Partition{Between: []string{"c0"}, For: 100 * time.Millisecond})
		const dials = 3
		var at [dials]time.Duration
		for i := range dials {
			p.Go(func() {
				rest(w, time.Duration(dials-i)*time.Millisecond)
				c := dial(p, "r0")
				at[i] = w.Now()
				_ = c.Close()
			})
		}
		rest(w, 200*time.Millisecond)
		if !(at[2] < at[1] && at[1] < at[0]) || !near(at[0], 102*time.Millisecond) {
			t.Errorf("the dials of 3ms, 2ms and 1ms connected at %v, want one after another, about 102ms", at)
		}
	})
}

// TestDialUnderWayWhenCut shows that a partition also stops a dial that has
// begun before it.
func TestDialUnderWayWhenCut(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		p.Go(func() {
			rest(w, 500*time.Microsecond)
			cutNow(w, cutC0("", "", 100*time.Millisecond))
		})
		c := dial(p, "n0")
		if !near(w.Now(), 102500*time.Microsecond) {
			t.Errorf("dialled at %v, want 102.5ms", w.Now())
		}
		_ = c.Close()
	})
}

// TestCutsOverlap shows that a link works again when its last partition has
// ended, whatever their order.
func TestCutsOverlap(t *testing.T) {
	for _, first := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond} {
		solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
			c := dial(p, "n0")
			start := w.Now()
			cutNow(w, cutC0("", "", first))
			cutNow(w, cutC0("", "", 250*time.Millisecond-first))
			mustWrite(c, "held")
			dialled := time.Duration(0)
			p.Go(func() {
				_ = dial(p, "n0").Close()
				dialled = w.Now() - start
			})
			rest(w, time.Second)
			if at := sink.Conns[0].At; len(at) != 1 || !near(at[0]-start, 201*time.Millisecond) {
				t.Errorf("arrived at %v, want one at 201ms", at)
			}
			if !near(dialled, 202*time.Millisecond) {
				t.Errorf("dialled after %v, want 202ms", dialled)
			}
			_ = c.Close()
		})
	}
}

// TestHeal shows that Heal ends every partition at once, also those with a
// duration, and that the end of the duration then has no effect.
func TestHeal(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
		c := dial(p, "n0")
		cutNow(w, cutC0("", "", 0))
		cutNow(w, cutC0("", "", 100*time.Millisecond))
		mustWrite(c, "held")
		rest(w, 10*time.Millisecond)
		w.Do(w.Heal)
		rest(w, 10*time.Millisecond)
		if string(sink.Conns[0].Got) != "held" {
			t.Errorf("the node has %q", sink.Conns[0].Got)
		}
		cutNow(w, cutC0("", "", 0))
		rest(w, time.Second)
		mustWrite(c, "again")
		rest(w, time.Second)
		if string(sink.Conns[0].Got) != "held" {
			t.Errorf("a later partition was healed by an older one's end")
		}
		w.Do(w.Heal)
		_ = c.Close()
	})
}

// TestCutSides shows which links a partition cuts.
func TestCutSides(t *testing.T) {
	for _, tt := range []struct {
		between, and []string
		cut          string
	}{
		{[]string{"c0"}, nil, "c0-r0 c0-r1 c0-s0"},
		{[]string{"c0"}, []string{"r0"}, "c0-r0"},
		{[]string{"r0"}, nil, "c0-r0 c1-r0"},
		{[]string{"c0", "r0"}, nil, "c0-r1 c0-s0 c1-r0"},
		{[]string{"c0", "r0"}, []string{"c1", "r1"}, "c0-r1 c1-r0"},
		{[]string{"s0"}, []string{"c1"}, "c1-s0"},
	} {
		t.Run(strings.Join(tt.between, ",")+"|"+strings.Join(tt.and, ","), func(t *testing.T) {
			run(t, sim.Config{Clients: 2, Latency: ms, Servers: []sim.Kind{simredis.Servers{Nodes: 2}, store.Server{}}},
				func(w *sim.World) error {
					if err := w.Faults().Cut(faults.Partition{Between: tt.between, And: tt.and}); err != nil {
						return err
					}
					var cut []string
					for i := range 2 {
						for _, node := range []string{"r0", "r1", "s0"} {
							p := w.Client(i)
							p.Go(func() {
								ctx, cancel := context.WithTimeout(p.Context(), 10*time.Millisecond)
								defer cancel()
								if c, err := p.Dial(ctx, "tcp", node); err == nil {
									_ = c.Close()
									return
								}
								w.Do(func() { cut = append(cut, p.Name()+"-"+node) })
							})
							if err := w.RunUntil(w.Idle); err != nil {
								return err
							}
						}
					}
					if got := strings.Join(cut, " "); got != tt.cut {
						t.Errorf("cut %s, want %s", got, tt.cut)
					}
					return nil
				})
		})
	}
}

// TestCutErrors shows the partitions that are refused.
func TestCutErrors(t *testing.T) {
	run(t, sim.Config{Clients: 2}, func(w *sim.World) error {
		for _, tt := range []struct {
			f    faults.Partition
			want string
		}{
			{faults.Partition{Between: []string{"c7"}}, `there is nothing named "c7"`},
			{faults.Partition{Between: []string{"c0"}, And: []string{"c1"}}, "no link between them"},
			{faults.Partition{}, "no name is given"},
			{faults.Partition{Between: []string{"c0"}, Bytes: "eat"}, `"eat" is not known`},
			{faults.Partition{Between: []string{"c0"}, For: -1}, "no length of time"},
		} {
			if err := w.Faults().Cut(tt.f); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Cut(%v) = %v, want %s", tt.f, err, tt.want)
			}
		}
		return nil
	})
}
