package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/store"
	"locksim/sim/trace"
)

// crashAndRevive restarts c0 from a goroutine that is not its own.
func crashAndRevive(w *sim.World, mode faults.CrashMode) *sim.Process {
	var p *sim.Process
	w.Do(func() {
		err := w.Faults().Crash("c0", mode)
		if err == nil {
			p, err = w.Faults().Revive("c0")
		}
		if err != nil {
			panic(err)
		}
	})
	return p
}

// TestRevive shows that a restarted process has the old name and works, and is
// a different one: the old one stays crashed at every seam, its timers do not
// fire, and its context has ended.
func TestRevive(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, mode := range faults.CrashModes() {
		res := run(t, withSink(sim.Config{Latency: ms}), func(w *sim.World) error {
			old, sink := w.Client(0), sinkOf(w)
			old.Go(func() {
				c := dial(old, "n0")
				old.Clock().AfterFunc(time.Second, func() { t.Error("a timer of the old one fired") })
				p := crashAndRevive(w, mode)
				p.Go(func() { checkRestarted(t, w, p) })
				for name, do := range operations(old, c) {
					if err := do(); !errors.Is(err, sim.ErrCrashed) {
						t.Errorf("%s: %s of the old one: %v", mode, name, err)
					}
				}
				if !old.Crashed() || old.Context().Err() == nil || old.Incarnation() != 1 {
					t.Errorf("%s: the old one runs", mode)
				}
				rest(w, 2*time.Second)
				if len(sink.Conns[0].Got) > 0 {
					t.Errorf("%s: the old one sent %q", mode, sink.Conns[0].Got)
				}
			})
			return w.RunUntil(w.Idle)
		})
		if count(res, "restart") != 1 {
			t.Errorf("%s: %d restarts in the trace, want one", mode, count(res, "restart"))
		}
	}
}

// checkRestarted checks that a restarted process works.
func checkRestarted(t *testing.T, w *sim.World, p *sim.Process) {
	if found, err := w.Process("c0"); err != nil || found != p || w.Client(0) != p || p.Name() != "c0" {
		t.Errorf("c0 is not the new one: %v", err)
	}
	if p.Crashed() || p.Incarnation() != 2 {
		t.Errorf("crashed %v, incarnation %d, want a running second one", p.Crashed(), p.Incarnation())
	}
	if err := redisclient.New(p, "r0").Set(p.Context(), "k", "v", 0).Err(); err != nil {
		t.Error(err)
	}
	if err := store.NewClient(p).Write(p.Context(), store.Op{Resource: "a", Register: "b", ID: "x"}); err != nil {
		t.Error(err)
	}
	if err := p.Clock().Sleep(p.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
	if _, err := p.Mark(trace.Mark{Step: trace.Point, Label: "again"}); err != nil {
		t.Error(err)
	}
}

// TestReviveStreams shows that each incarnation draws different numbers, the
// same in every run.
func TestReviveStreams(t *testing.T) {
	draw := func() (numbers []uint64, bytes []string) {
		run(t, sim.Config{}, func(w *sim.World) error {
			for range 3 {
				p := w.Client(0)
				b := make([]byte, 8)
				_, _ = p.Entropy("ids").Read(b)
				numbers, bytes = append(numbers, p.Rand("dice").Uint64()), append(bytes, string(b))
				must(t, w.Faults().Crash("c0", faults.CrashProcess))
				if _, err := w.Faults().Revive("c0"); err != nil {
					t.Error(err)
				}
			}
			return nil
		})
		return numbers, bytes
	}
	n, b := draw()
	again, bytesAgain := draw()
	for i := range n {
		if n[i] != again[i] || b[i] != bytesAgain[i] {
			t.Errorf("incarnation %d draws other numbers in another run", i+1)
		}
		for j := range i {
			if n[i] == n[j] || b[i] == b[j] {
				t.Errorf("incarnations %d and %d draw the same", i+1, j+1)
			}
		}
	}
}

// TestReviveClock shows that the machine's clock outlives the process: the
// effects of a jump and a drift stay, and a drift in force ends for the new
// process, whose timers follow.
func TestReviveClock(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		start := p.WallClock().Peek()
		must(t, w.Faults().JumpClock("c0", time.Hour))
		must(t, w.Faults().DriftClock("c0", 1_000_000, 2*time.Second))
		must(t, w.RunFor(time.Second))
		must(t, w.Faults().Crash("c0", faults.CrashProcess))
		p, err := w.Faults().Revive("c0")
		if err != nil {
			return err
		}
		if got := p.WallClock().Peek().Sub(start); !roughly(got, time.Hour+2*time.Second) {
			t.Errorf("the wall clock of the new one shows %v", got)
		}
		p.Go(func() {
			_ = p.Clock().Sleep(p.Context(), 4*time.Second) // 1 s of it at the double rate
			if !roughly(w.Now(), 4*time.Second) {
				t.Errorf("the sleep ended at %v, want 4s", w.Now())
			}
		})
		return errors.Join(err, w.RunUntil(w.Idle))
	})
}

// TestReviveResetsOldConnections shows that bytes of a node to a machine which
// had lost its power break the old connection once the machine runs again, and
// that the new process's connections are unaffected.
func TestReviveResetsOldConnections(t *testing.T) {
	run(t, withSink(sim.Config{Latency: ms}), func(w *sim.World) error {
		old, sink := w.Client(0), sinkOf(w)
		old.Go(func() {
			dial(old, "n0")
			p := crashAndRevive(w, faults.CrashPower)
			p.Go(func() {
				c := dial(p, "n0")
				sink.Conns[0].Send([]byte("anybody there?"))
				sink.Conns[1].Send([]byte("hello"))
				rest(w, 10*time.Millisecond)
				if err := readErr(c); err != nil || sink.Conns[1].IsReset || !sink.Conns[0].IsReset {
					t.Errorf("the new connection: %v, reset %v; the old: reset %v, want only that",
						err, sink.Conns[1].IsReset, sink.Conns[0].IsReset)
				}
				_ = c.Close()
			})
		})
		return w.RunUntil(w.Idle)
	})
}

// TestReviveUnderFaults shows that faults affect the new process, and that
// those of its links are still in force.
func TestReviveUnderFaults(t *testing.T) {
	run(t, sim.Config{Latency: ms}, func(w *sim.World) error {
		must(t, w.Faults().Cut(faults.Partition{Between: []string{"c0"}, For: 3 * time.Second}))
		must(t, w.Faults().Slow("c0", time.Hour, 0)) // only for the old one
		must(t, w.Faults().KillWorker("c0"))
		must(t, w.Faults().Crash("c0", faults.CrashProcess))
		p, err := w.Faults().Revive("c0")
		if err != nil {
			return err
		}
		w.At(time.Second, func() { must(t, w.Faults().Pause("c0", time.Second)) })
		p.Go(func() {
			_ = p.Clock().Sleep(p.Context(), 1500*time.Millisecond)
			if w.Now() < 2*time.Second || w.Now() > 2*time.Second+time.Millisecond {
				t.Errorf("it woke at %v, want 2s, after the pause", w.Now())
			}
			_ = dial(p, "r0").Close()
			if w.Now() < 3*time.Second || w.Now() > 3*time.Second+5*time.Millisecond {
				t.Errorf("dialled at %v, want 3s, after the partition", w.Now())
			}
			must(t, p.Point("alive"))
		})
		return w.RunUntil(w.Idle)
	})
}

// TestReviveErrors shows what is refused.
func TestReviveErrors(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		for _, name := range []string{"c0", "c9", "r0"} {
			if p, err := w.Faults().Revive(name); err == nil || p != nil {
				t.Errorf("%s: %v, %v", name, p, err)
			}
		}
		return nil
	})
}

// TestReviveManyTimes shows that a process which is restarted many times, with
// work under way each time, leaks nothing.
func TestReviveManyTimes(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	run(t, sim.Config{}, func(w *sim.World) error {
		for i := range 20 {
			p := w.Client(0)
			for range 3 {
				p.Go(func() { busy(p) })
			}
			if err := w.RunFor(time.Duration(i) * 3 * time.Millisecond); err != nil {
				return err
			}
			must(t, w.Faults().Crash("c0", faults.CrashModes()[i%2]))
			if _, err := w.Faults().Revive("c0"); err != nil {
				return err
			}
		}
		return w.RunUntil(w.Idle)
	})
}

// TestReviveClosesTheOld shows that the clients of the old process are closed
// at the end of the run: go-redis goes on dialling after failed dials until its
// client is closed.
func TestReviveClosesTheOld(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		must(t, w.Faults().Refuse("r0", 0))
		p.Go(func() {
			if err := smallPool(p, 1).Ping(p.Context()).Err(); err == nil {
				t.Error("it was not refused")
			}
		})
		if err := w.RunUntil(w.Idle); err != nil {
			return err
		}
		must(t, w.Faults().Crash("c0", faults.CrashProcess))
		_, err := w.Faults().Revive("c0")
		return err
	})
}

// busy works until the process has crashed.
func busy(p *sim.Process) {
	r := redisclient.New(p, "r0")
	for p.Context().Err() == nil {
		_ = r.Incr(context.Background(), "n").Err()
		_ = p.Clock().Sleep(p.Context(), time.Millisecond)
	}
}
