package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksim/faults"
	"locksim/internal/testworld"
	"locksim/lock/fence"
	"locksim/sim"
	"locksim/sim/store"
	"locksim/sim/trace"
)

// exactly is a latency of exactly 1 ms.
var exactly = sim.Latency{Min: time.Millisecond, Max: time.Millisecond}

// run runs a world, by default with the store as the only server.
func run(t *testing.T, cfg sim.Config, body func(*sim.World) error) *sim.Result {
	t.Helper()
	if cfg.Servers == nil {
		cfg.Servers = []sim.Kind{store.Server{}}
	}
	return testworld.Run(t, cfg, body)
}

// storeOp is an operation on the register order/balance.
func storeOp(id string, token uint64) store.Op {
	return store.Op{Resource: "order", Register: "balance", ID: id, Token: token}
}

// TestStoreModes runs one sequence in every mode: the holder of token 34 has
// read when the one of 33 writes, then 34 writes, then 33 again.
func TestStoreModes(t *testing.T) {
	for mode, want := range map[fence.Mode]string{
		fence.None:  "read34 write33 write34 again33 bare read -> again33, bare",
		fence.Check: "read34 write33 write34 read -> write34",
		fence.Seal:  "read34 write34 read -> write34",
	} {
		run(t, sim.Config{Servers: []sim.Kind{store.Server{Fencing: mode}}}, func(w *sim.World) error {
			p := w.Client(0)
			accepted := ""
			p.Go(func() {
				s, ctx := store.NewClient(p), p.Context()
				note := func(id string, err error) {
					switch {
					case err == nil:
						accepted += id + " "
					case !errors.Is(err, store.ErrRefused) || strings.Contains(err.Error(), "\n"):
						t.Errorf("%s: %s: %v", mode, id, err)
					}
				}
				_, err := s.Read(ctx, storeOp("read34", 34))
				note("read34", err)
				note("write33", s.Write(ctx, storeOp("write33", 33)))
				note("write34", s.Write(ctx, storeOp("write34", 34)))
				note("again33", s.Write(ctx, storeOp("again33", 33)))
				if mode == fence.None {
					note("bare", s.Write(ctx, store.Op{Resource: "order", Register: "other", ID: "bare"}))
				}
				v, err := s.Read(ctx, storeOp("read", 99))
				note("read", err)
				accepted += "-> " + v
			})
			if err := w.RunUntil(w.Idle); err != nil {
				return err
			}
			if v := store.Of(w).Value("order", "other"); v != "" {
				accepted += ", " + v
			}
			if accepted != want {
				t.Errorf("%s accepted %s, want %s", mode, accepted, want)
			}
			return nil
		})
	}
}

// TestStoreDecisions shows that they are in the order of arrival, with their
// events.
func TestStoreDecisions(t *testing.T) {
	run(t, sim.Config{Clients: 3, Servers: []sim.Kind{store.Server{Fencing: fence.Seal}}}, func(w *sim.World) error {
		for i := range 3 {
			p := w.Client(i)
			s := store.NewClient(p)
			p.Go(func() {
				for n := range 5 {
					_, _ = s.Read(p.Context(), storeOp(fmt.Sprint(p.Name(), "r", n), uint64(i+1)))
					_ = s.Write(p.Context(), storeOp(fmt.Sprint(p.Name(), "w", n), uint64(i+1)))
				}
			})
		}
		if err := w.RunUntil(w.Idle); err != nil {
			return err
		}
		refused, last := 0, 0
		for _, d := range store.Of(w).Decisions() {
			e := w.Trace().Events[d.Step-1]
			if d.Step <= last || e.Kind() != "store" || !strings.Contains(e.Text(), d.Op) ||
				strings.Contains(e.Text(), "REFUSED") != (d.Refused != "") {
				t.Errorf("decision %+v after step %d, its event is %v", d, last, e)
			}
			last = d.Step
			if d.Refused != "" {
				refused++
			}
		}
		if n := len(store.Of(w).Decisions()); n != 30 || refused == 0 || refused == n {
			t.Errorf("%d decisions, %d refused", n, refused)
		}
		if cells := store.Of(w).Cells(); len(cells) != 1 || cells[0] != "order/balance=c2w4" {
			t.Errorf("cells %v", cells)
		}
		return nil
	})
}

// TestStoreOpValidate shows that a value which would not be one word on the
// wire is not sent.
func TestStoreOpValidate(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		s := store.NewClient(p)
		p.Go(func() {
			for _, bad := range []string{"", "a b", "a\n", "\ta", "a\rb", "a\vb", "a\u00a0b", "a\u2028"} {
				for _, op := range []store.Op{
					{Resource: "r", Register: bad, ID: "i"}, {Resource: "r", Register: "r", ID: bad},
					{Resource: "r", Register: "r", ID: "i", Grant: bad + " "}, {Resource: "r", Register: "r", ID: "i", Base: bad +
						" "},
				} {
					err := s.Write(p.Context(), op)
					if err == nil || !strings.Contains(err.Error(), "white space") {
						t.Errorf("%+v: %v", op, err)
					}
				}
			}
			if err := s.Write(p.Context(), store.Op{Resource: "bestellung:ü", Register: "r", ID: "i/1"}); err != nil {
				t.Error(err)
			}
		})
		return w.RunUntil(w.Idle)
	})
}

// TestStoreUnknownOutcome shows a request whose ctx ends while the network
// holds it; it is applied when the network has healed.
func TestStoreUnknownOutcome(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			s := store.NewClient(p)
			if err := s.Write(p.Context(), storeOp("first", 1)); err != nil {
				t.Error(err)
			}
			if err := p.Point("cut"); err != nil {
				t.Error(err)
			}
			ctx, cancel := context.WithTimeout(p.Context(), time.Second)
			defer cancel()
			start := w.Now()
			err := s.Write(ctx, storeOp("late", 2))
			if !errors.Is(err, store.ErrUnknownOutcome) || !errors.Is(err, context.DeadlineExceeded) ||
				errors.Is(err, store.ErrRefused) {
				t.Errorf("error %v", err)
			}
			if d := w.Now() - start; d < time.Second || d > time.Second+time.Millisecond {
				t.Errorf("it took %v", d)
			}
			if err := p.Point("holds first"); err != nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Second) // the cut heals
			if err := p.Point("holds late"); err != nil {
				t.Error(err)
			}
			if v, err := s.Read(p.Context(), storeOp("read", 2)); v != "late" || err != nil {
				t.Errorf("on a new connection: %q, %v", v, err)
			}
		})
		w.OnMark(func(_ string, m trace.Mark) {
			if want, ok := strings.CutPrefix(m.Label, "holds "); ok {
				if v := store.Of(w).Value("order", "balance"); v != want {
					t.Errorf("the register holds %s, want %s", v, want)
				}
				return
			}
			if err := w.Faults().Cut(faults.Partition{Between: []string{"c0"}, And: []string{"s0"},
				For: 5 * time.Second}); err != nil {
				t.Error(err)
			}
		})
		return w.RunUntil(w.Idle)
	})
}

// TestStoreNotSent shows the errors with which nothing was sent.
func TestStoreNotSent(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			s := store.NewClient(p)
			over, cancel := context.WithCancel(p.Context())
			cancel()
			for range 20 { // the outcome was random once
				if err := s.Write(over, storeOp("over", 1)); !errors.Is(err, context.Canceled) {
					t.Errorf("a context that had ended: %v", err)
				}
			}
			if err := p.Point("cut"); err != nil {
				t.Error(err)
			}
			soon, cancel := context.WithTimeout(p.Context(), time.Second)
			defer cancel()
			if err := s.Write(soon, storeOp("dial", 1)); err == nil || errors.Is(err, store.ErrUnknownOutcome) ||
				!errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a dial that does not complete: %v", err)
			}
			time.Sleep(time.Minute)
		})
		w.OnMark(func(string, trace.Mark) {
			if err := w.Faults().Cut(faults.Partition{Between: []string{"c0"}, And: []string{"s0"},
				For: 5 * time.Second}); err != nil {
				t.Error(err)
			}
		})
		if err := w.RunUntil(w.Idle); err != nil {
			return err
		}
		if d := store.Of(w).Decisions(); len(d) != 0 {
			t.Errorf("the store decided on %+v", d)
		}
		return nil
	})
}

// TestStoreConcurrent shows that goroutines of one process can share a client:
// each gets its own answer, and one that waits for its turn fails when its
// context ends.
func TestStoreConcurrent(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		s := store.NewClient(p)
		for i := range 8 {
			p.Go(func() {
				time.Sleep(time.Duration(i)) // one instant each
				op := store.Op{Resource: "r", Register: fmt.Sprint(i), ID: fmt.Sprint("w", i)}
				if err := s.Write(p.Context(), op); err != nil {
					t.Error(err)
				}
				if v, err := s.Read(p.Context(), op); v != op.ID || err != nil {
					t.Errorf("%d reads %q, %v", i, v, err)
				}
			})
		}
		p.Go(func() {
			time.Sleep(100 * time.Nanosecond)
			ctx, cancel := context.WithTimeout(p.Context(), time.Nanosecond)
			defer cancel()
			if err := s.Write(ctx, storeOp("impatient", 0)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the one with the short context: %v", err)
			}
		})
		return w.RunUntil(w.Idle)
	})
}

// TestStoreAfterReset shows that the outcome of an operation under way at a
// reset is unknown, and that the next one uses a new connection, also if the
// client notices the reset only when it sends.
func TestStoreAfterReset(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			s, ctx := store.NewClient(p), p.Context()
			for i := range 3 {
				if err := s.Write(ctx, storeOp(fmt.Sprint("before", i), 0)); err != nil {
					t.Error(err)
				}
				if err := p.Point("reset"); err != nil { // while nothing is under way
					t.Error(err)
				}
				if v, err := s.Read(ctx, storeOp("read", 0)); err != nil || v != fmt.Sprint("before", i) {
					t.Errorf("after a reset: %q, %v", v, err)
				}
			}
			if err := p.Point("reset soon"); err != nil {
				t.Error(err)
			}
			err := s.Write(ctx, storeOp("broken", 0))
			if !errors.Is(err, store.ErrUnknownOutcome) || !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("reset under a request: %v", err)
			}
			if err := s.Write(ctx, storeOp("after", 0)); err != nil {
				t.Error(err)
			}
		})
		reset := func() {
			if err := w.Faults().Reset("c0", store.Name); err != nil {
				t.Error(err)
			}
		}
		w.OnMark(func(_ string, m trace.Mark) {
			switch m.Label {
			case "reset":
				reset()
			case "reset soon":
				w.At(w.Now()+200*time.Microsecond, reset)
			}
		})
		return w.RunUntil(w.Idle)
	})
}

// TestStoreAnswerAfterTheDeadline shows a pause of the client in which the
// answer arrives and ctx ends. Either may win, and neither may break the next
// operation, although the connection has a deadline in the past.
func TestStoreAnswerAfterTheDeadline(t *testing.T) {
	answered := 0
	for seed := range uint64(20) {
		run(t, sim.Config{Seed: seed, Latency: exactly}, func(w *sim.World) error {
			p := w.Client(0)
			w.OnMark(func(string, trace.Mark) {
				w.At(w.Now()+time.Millisecond, func() {
					if err := w.Faults().Pause("c0", time.Second); err != nil {
						t.Error(err)
					}
				})
			})
			p.Go(func() {
				s := store.NewClient(p)
				if err := s.Write(p.Context(), storeOp("dial", 0)); err != nil {
					t.Error(err)
				}
				if err := p.Point("pause soon"); err != nil {
					t.Error(err)
				}
				ctx, cancel := context.WithTimeout(p.Context(), 10*time.Millisecond)
				defer cancel()
				switch err := s.Write(ctx, storeOp("close", 0)); {
				case err == nil:
					answered++
				case !errors.Is(err, store.ErrUnknownOutcome):
					t.Error(err)
				}
				if _, err := s.Read(p.Context(), storeOp("next", 0)); err != nil {
					t.Errorf("seed %d: the next operation fails: %v", seed, err)
				}
			})
			return w.RunUntil(w.Idle)
		})
	}
	if answered == 0 || answered == 20 {
		t.Errorf("the answer won in %d of 20 runs", answered)
	}
}

// TestStoreEndOfRun shows that an operation which waits forever, with a
// background context, ends with the run.
func TestStoreEndOfRun(t *testing.T) {
	var err error
	run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		if err := w.Faults().Cut(faults.Partition{Between: []string{"s0"}, And: []string{"c0"}, Bytes: faults.BytesDrop,
			Direction: faults.DirectionForward}); err != nil {
			return err
		}
		p.Go(func() { err = store.NewClient(p).Write(context.Background(), storeOp("waits", 0)) })
		return w.RunFor(time.Minute)
	})
	if err == nil {
		t.Error("the operation succeeded")
	}
}

func TestStoreCrash(t *testing.T) {
	var err error
	run(t, sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() { err = store.NewClient(p).Write(context.Background(), storeOp("waits", 0)) })
		if err := w.RunFor(3 * time.Millisecond); err != nil {
			return err
		}
		return w.Faults().Crash("c0", faults.CrashProcess)
	})
	if !errors.Is(err, sim.ErrCrashed) {
		t.Errorf("error %v", err)
	}
}

// TestStoreWire uses the protocol without the client.
func TestStoreWire(t *testing.T) {
	run(t, sim.Config{Latency: exactly}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			conn, err := p.Dial(p.Context(), "tcp", "s0")
			if err != nil {
				t.Error(err)
				return
			}
			for _, b := range []byte("WRITE r a op 5 g -\nREAD r a x 6 g -\r\nNOPE\n\nWRITE r a op -1 g -\nREAD r b x 0 - -") {
				if _, err := conn.Write([]byte{b}); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(time.Second)
			if _, err := conn.Write([]byte("\n" + strings.Repeat("x", 70_000))); err != nil {
				t.Error(err)
			}
			all, err := io.ReadAll(conn)
			want := "OK\nOK op\nERROR want READ or WRITE with resource, register, operation, token, grant and base, got " +
				"\"NOPE\"\n" +
				"ERROR want READ or WRITE with resource, register, operation, token, grant and base, got \"\"\n" +
				"ERROR token \"-1\" is not a number\nOK\nERROR a request of more than 64 KiB\n"
			if string(all) != want || err != nil {
				t.Errorf("answers %q, %v\nwant    %q", all, err, want)
			}
			_ = conn.Close()
		})
		return w.RunUntil(w.Idle)
	})
}

// TestStoreOutlivesACrash shows that the store keeps its values and the state
// of its fence over a crash and a restart of its machine, and does not answer
// in between.
func TestStoreOutlivesACrash(t *testing.T) {
	for _, mode := range faults.CrashModes() {
		run(t, sim.Config{Servers: []sim.Kind{store.Server{Fencing: fence.Check}}}, func(w *sim.World) error {
			p := w.Client(0)
			w.At(time.Second, func() {
				if err := w.Faults().Crash(store.Name, mode); err != nil {
					t.Error(err)
				}
			})
			w.At(time.Minute, func() {
				if err := w.Faults().Restart(store.Name); err != nil {
					t.Error(err)
				}
			})
			p.Go(func() {
				s := store.NewClient(p)
				if err := s.Write(p.Context(), storeOp("before", 7)); err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Second)
				ctx, cancel := context.WithTimeout(p.Context(), 10*time.Second)
				defer cancel()
				if err := s.Write(ctx, storeOp("meanwhile", 8)); err == nil {
					t.Errorf("%s: a store that is down accepted a write", mode)
				}
				time.Sleep(time.Minute)
				if err := s.Write(p.Context(), storeOp("late", 6)); !errors.Is(err, store.ErrRefused) {
					t.Errorf("%s: a token that was too old: %v", mode, err)
				}
				if v, err := s.Read(p.Context(), storeOp("read", 7)); v != "before" || err != nil {
					t.Errorf("%s: it holds %q, %v", mode, v, err)
				}
			})
			return w.RunUntil(w.Idle)
		})
	}
}
