package sim_test

import (
	"errors"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/trace"
)

// TestKillWorker shows that the timers, the clock and the sockets of a process
// go on when its worker is dead, and that nothing passes a mark or a point.
func TestKillWorker(t *testing.T) {
	res := run(t, sim.Config{Latency: ms}, func(w *sim.World) error {
		p := w.Client(0)
		r := redisclient.New(p, "r0")
		w.At(time.Second, func() { must(t, w.Faults().KillWorker("c0")) })
		p.Go(func() {
			p.Clock().AfterFunc(2*time.Second, func() { must(t, r.Set(p.Context(), "renewed", "1", 0).Err()) })
			if _, err := p.Mark(trace.Mark{Step: trace.Write, Op: "before"}); err != nil {
				t.Error(err)
			}
			if err := p.Clock().Sleep(p.Context(), 3*time.Second); err != nil {
				t.Errorf("a sleep that had begun: %v", err)
			}
			if n, err := p.Mark(trace.Mark{Step: trace.Write, Op: "after"}); n != 0 || !errors.Is(err, sim.ErrWorkerDead) {
				t.Errorf("a mark: %d, %v, want ErrWorkerDead", n, err)
			}
			if err := p.Point("after"); !errors.Is(err, sim.ErrWorkerDead) {
				t.Errorf("a point: %v, want ErrWorkerDead", err)
			}
			if p.Crashed() || p.Context().Err() != nil {
				t.Error("the process has crashed")
			}
			if p.Observe(trace.Mark{Step: trace.Until, Resource: "seen by the harness"}) == 0 {
				t.Error("the harness sees nothing")
			}
		})
		err := w.RunUntil(w.Idle)
		if keys := redisOf(w).Keys(); len(keys) != 1 {
			t.Errorf("the node holds %v, want what the timer wrote", keys)
		}
		return err
	})
	if count(res, "write") != 1 || count(res, "kill-worker") != 1 {
		t.Errorf("%d marks, %d deaths, want one each", count(res, "write"), count(res, "kill-worker"))
	}
}

// TestKillWorkerAtAMark shows that a worker which is killed at the mark that it
// passes leaves that mark in the trace, and passes no other.
func TestKillWorkerAtAMark(t *testing.T) {
	res := run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		w.OnMark(func(process string, m trace.Mark) {
			if m.Op == "here" {
				must(t, w.Faults().KillWorker(process))
			}
		})
		p.Go(func() {
			if n, err := p.Mark(trace.Mark{Step: trace.Write, Op: "here"}); n == 0 || !errors.Is(err, sim.ErrWorkerDead) {
				t.Errorf("%d, %v, want the event's number and ErrWorkerDead", n, err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if count(res, "write") != 1 {
		t.Errorf("%d marks, want one", count(res, "write"))
	}
}

// TestKillWorkerDuringAMark shows that a mark which was under way when the
// worker was killed is not recorded.
func TestKillWorkerDuringAMark(t *testing.T) {
	res := run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		w.At(time.Millisecond+1, func() { must(t, w.Faults().KillWorker("c0")) })
		p.Go(func() {
			time.Sleep(time.Millisecond)
			if n, err := p.Mark(trace.Mark{Step: trace.Write, Op: "late"}); n != 0 || !errors.Is(err, sim.ErrWorkerDead) {
				t.Errorf("event %d, %v", n, err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if count(res, "write") != 0 {
		t.Error("the mark is in the trace")
	}
}

// TestKillWorkerTwice shows that a second kill and one of a crashed process
// have no effect, and that ErrCrashed precedes ErrWorkerDead.
func TestKillWorkerTwice(t *testing.T) {
	res := run(t, sim.Config{Clients: 2}, func(w *sim.World) error {
		if w.Faults().KillWorker("c9") == nil {
			t.Error("no error for c9")
		}
		must(t, w.Faults().Crash("c0", faults.CrashPower))
		for _, name := range []string{"c0", "c1", "c1"} {
			must(t, w.Faults().KillWorker(name))
		}
		must(t, w.Faults().Crash("c1", faults.CrashPower))
		if err := w.Client(1).Point("x"); !errors.Is(err, sim.ErrCrashed) {
			t.Errorf("got %v, want ErrCrashed", err)
		}
		return nil
	})
	if count(res, "kill-worker") != 1 {
		t.Errorf("%d deaths, want one", count(res, "kill-worker"))
	}
}
