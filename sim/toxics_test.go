package sim_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
)

// addToxic puts a toxic on c0's link to the sink, from a process's goroutine.
func addToxic(w *sim.World, dir sim.Direction, toxic toxics.Toxic) (remove func()) {
	var off func()
	w.Do(func() {
		var err error
		if off, err = w.Faults().AddToxic("c0", "n0", dir, toxic); err != nil {
			panic(err)
		}
	})
	return func() { w.Do(off) }
}

// TestToxics shows, for each of toxiproxy's toxics and ours, when the chunks of
// one write of 1,000 bytes arrive (with a latency of 1 ms), and when the end of
// the stream does, which is sent at the same time.
func TestToxics(t *testing.T) {
	const at = time.Millisecond
	for _, tt := range []struct {
		name  string
		toxic toxics.Toxic
		at    []time.Duration
		sizes []int
		end   time.Duration // 0: never
	}{
		{"none", nil, []time.Duration{at}, []int{1000}, at},
		{"latency", &toxics.LatencyToxic{Latency: 20}, []time.Duration{21 * at}, []int{1000}, 21 * at},
		{"bandwidth 10 KB/s", &toxics.BandwidthToxic{Rate: 10}, []time.Duration{101 * at}, []int{1000}, 101 * at},
		{"bandwidth 4 KB/s", &toxics.BandwidthToxic{Rate: 4}, []time.Duration{101 * at, 201 * at, 251 * at},
			[]int{400, 400, 200}, 251 * at},
		{"slicer", &toxics.SlicerToxic{AverageSize: 250, Delay: 2000}, []time.Duration{at, 3 * at, 5 * at, 7 * at},
			[]int{250, 250, 250, 250}, 9 * at},
		{"limit_data", &toxics.LimitDataToxic{Bytes: 300}, []time.Duration{at}, []int{300}, at},
		{"limit_data of nothing", &toxics.LimitDataToxic{}, nil, nil, at},
		{"timeout never", &toxics.TimeoutToxic{}, nil, nil, at}, // passes a close on
		{"slow_close", &toxics.SlowCloseToxic{Delay: 40}, []time.Duration{at}, []int{1000}, 41 * at},
		{"noop", &toxics.NoopToxic{}, []time.Duration{at}, []int{1000}, at},
		{"hold", &faults.Hold{}, nil, nil, 0},
		{"drop", &faults.Drop{}, nil, nil, 0},
		{"lose", &faults.Lose{Count: 1}, nil, nil, at},
		{"delay", &faults.Delay{By: 40 * at}, []time.Duration{41 * at}, []int{1000}, 41 * at},
		{"jitter", &faults.Jitter{Add: 40 * at}, []time.Duration{41 * at}, []int{1000}, 41 * at},
	} {
		t.Run(tt.name, func(t *testing.T) {
			solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
				c := dial(p, "n0")
				if tt.toxic != nil {
					addToxic(w, sim.Up, tt.toxic)
				}
				start := w.Now()
				_, _ = c.Write(make([]byte, 1000))
				_ = c.CloseWrite()
				rest(w, time.Minute)
				s := sink.Conns[0]
				if fmt.Sprint(s.Sizes) != fmt.Sprint(tt.sizes) {
					t.Errorf("chunks of %v bytes, want %v", s.Sizes, tt.sizes)
				}
				for i := range min(len(s.At), len(tt.at)) {
					if !near(s.At[i]-start, tt.at[i]) {
						t.Errorf("chunk %d after %v, want %v", i, s.At[i]-start, tt.at[i])
					}
				}
				if s.Ended != (tt.end > 0) || s.Ended && !near(s.EndedAt-start, tt.end) {
					t.Errorf("end of stream %v after %v, want after %v", s.Ended, s.EndedAt-start, tt.end)
				}
				_ = c.Close()
			})
		})
	}
}

// TestTimeoutToxic shows that timeout loses what is sent and then closes the
// stream, also on a connection that has sent nothing.
func TestTimeoutToxic(t *testing.T) {
	for _, text := range []string{"", "lost"} {
		solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
			addToxic(w, sim.Down, &toxics.TimeoutToxic{Timeout: 100})
			c := dial(p, "n0")
			start := time.Now()
			if text != "" {
				sink.Conns[0].Send([]byte(text))
			}
			got, err := io.ReadAll(c)
			if len(got) > 0 || err != nil || !near(time.Since(start), 101*time.Millisecond) {
				t.Errorf("read %q, %v after %v, want the end after 101ms", got, err, time.Since(start))
			}
			_ = c.Close()
		})
	}
}

// TestToxicsInAChain shows that the delays of a chain add up, that its first
// toxic acts first (the limit sees whole chunks, then they are sliced), and
// that the other direction is unaffected.
func TestToxicsInAChain(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
		for _, toxic := range []toxics.Toxic{
			&toxics.LatencyToxic{Latency: 10},
			&toxics.LimitDataToxic{Bytes: 400},
			&toxics.SlicerToxic{AverageSize: 200},
			&toxics.LatencyToxic{Latency: 15}, // counts from the chunk's timestamp: only the rest
		} {
			addToxic(w, sim.Up, toxic)
		}
		c := dial(p, "n0")
		start := w.Now()
		_, _ = c.Write(make([]byte, 1000))
		rest(w, time.Second)
		s := sink.Conns[0]
		if fmt.Sprint(s.Sizes) != "[200 200]" || !near(s.At[0]-start, 26*time.Millisecond) || !s.Ended {
			t.Errorf("chunks of %v bytes after %v, end %v", s.Sizes, s.At[0]-start, s.Ended)
		}
		start = w.Now()
		s.Send([]byte("quick"))
		if err := readErr(c); err != nil || !near(w.Now()-start, time.Millisecond) {
			t.Errorf("the other direction took %v, %v", w.Now()-start, err)
		}
		_ = c.Close()
	})
}

// TestHoldAndDropOnALink shows what happens to bytes that were sent during each
// of our toxics, once it is removed.
func TestHoldAndDropOnALink(t *testing.T) {
	for _, tt := range []struct {
		name  string
		toxic toxics.Toxic
		text  string
		got   string
		end   bool
	}{
		{"hold keeps", &faults.Hold{}, "kept", "beforekeptafter", false},
		{"drop loses and ends", &faults.Drop{}, "lost", "before", true},
		{"drop does not end an idle stream", &faults.Drop{}, "", "beforeafter", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
				c := dial(p, "n0")
				mustWrite(c, "before")
				remove := addToxic(w, sim.Up, tt.toxic)
				if tt.text != "" {
					mustWrite(c, tt.text)
				}
				rest(w, time.Second)
				remove()
				mustWrite(c, "after")
				rest(w, time.Second)
				s := sink.Conns[0]
				if string(s.Got) != tt.got || s.Ended != tt.end {
					t.Errorf("the node has %q, end %v; want %q, %v", s.Got, s.Ended, tt.got, tt.end)
				}
				if !w.Quiet() {
					t.Error("bytes are still said to be under way")
				}
				_ = c.Close()
			})
		})
	}
}

// TestFullWindowBehindDrop shows that bytes which a toxic has lost still fill
// the sender's window, as unacknowledged bytes do in TCP.
func TestFullWindowBehindDrop(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		c := dial(p, "n0")
		addToxic(w, sim.Up, &faults.Drop{})
		_, _ = c.Write(make([]byte, 256<<10))
		_ = c.SetWriteDeadline(time.Now().Add(time.Minute))
		if err := writeErr(c); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		_ = c.Close()
	})
}

// lossless draws a toxic that loses nothing.
func lossless(r *rand.Rand) toxics.Toxic {
	switch r.IntN(8) {
	case 0:
		return &toxics.LatencyToxic{Latency: r.Int64N(30)}
	case 1:
		return &toxics.BandwidthToxic{Rate: 1 + r.Int64N(50)}
	case 2:
		return &toxics.SlicerToxic{AverageSize: 1 + r.IntN(40), Delay: r.IntN(3000)}
	case 3:
		return &toxics.SlowCloseToxic{Delay: r.Int64N(50)}
	case 4:
		return &faults.Hold{}
	case 5:
		return &faults.Delay{By: time.Duration(r.IntN(30_000)) * time.Microsecond}
	case 6:
		return &faults.Jitter{Spread: time.Duration(r.IntN(30_000)) * time.Microsecond, Seed: r.Uint64()}
	}
	return &toxics.NoopToxic{}
}

// exchange writes numbered bytes in both directions while lossless toxics are
// added and removed, closes, and returns what arrived.
func exchange(w *sim.World, r *rand.Rand) (sent, up, down []byte) {
	p, sink := w.Client(0), sinkOf(w)
	var received bytes.Buffer
	p.Go(func() {
		c := dial(p, "n0")
		p.Go(func() { _, _ = io.Copy(&received, c) })
		var off []func()
		for range 40 {
			chunk := make([]byte, 1+r.IntN(200))
			for i := range chunk {
				chunk[i] = byte(len(sent) + i)
			}
			sent = append(sent, chunk...)
			_, _ = c.Write(chunk)
			sink.Conns[0].Send(chunk)
			switch r.IntN(4) {
			case 0:
				off = append(off, addToxic(w, sim.Up, lossless(r)), addToxic(w, sim.Down, lossless(r)))
			case 1:
				if len(off) > 0 {
					i := r.IntN(len(off))
					off[i]()
					off = append(off[:i], off[i+1:]...)
				}
			case 2:
				rest(w, time.Duration(r.IntN(20_000))*time.Microsecond)
			}
		}
		if r.IntN(2) == 0 { // with or without toxics at the end of the stream
			_ = c.CloseWrite()
			sink.Conns[0].Close()
		}
		rest(w, time.Duration(r.IntN(50))*time.Millisecond)
		for _, f := range off {
			f()
		}
		_ = c.CloseWrite()
		sink.Conns[0].Close()
		rest(w, 10*time.Second)
		_ = c.Close()
	})
	if err := w.RunUntil(w.Idle); err != nil {
		panic(err)
	}
	if !w.Quiet() {
		panic("not quiet")
	}
	return sent, sink.Conns[0].Got, received.Bytes()
}

// TestToxicsAddedAndRemoved shows that lossless toxics may be added and removed
// at any time without a byte being lost, duplicated or reordered, in both
// directions, deterministically.
func TestToxicsAddedAndRemoved(t *testing.T) {
	for seed := range uint64(seeds(200)) {
		var traces []*trace.Trace
		for range 2 {
			res := run(t, withSink(sim.Config{Seed: seed}), func(w *sim.World) error {
				sent, up, down := exchange(w, rand.New(rand.NewPCG(seed, 1)))
				if !bytes.Equal(sent, up) || !bytes.Equal(sent, down) {
					return fmt.Errorf("sent %d bytes, %d arrived up, %d down, or changed", len(sent), len(up), len(down))
				}
				return nil
			})
			traces = append(traces, res.Trace)
		}
		if d := trace.Diff(traces[0], traces[1]); d != nil {
			t.Fatalf("seed %d: %v", seed, d)
		}
	}
}

// TestToxicLeavesNoGoroutine shows that runs with toxics in every state leak
// nothing: in force, removed, after the end of a stream, after a reset, on a
// connection that a later toxic of the chain has ended.
func TestToxicLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, end := range []func(w *sim.World, c *sim.Conn, s *SinkConn){
		func(_ *sim.World, c *sim.Conn, _ *SinkConn) { _ = c.Close() },
		func(_ *sim.World, _ *sim.Conn, _ *SinkConn) {},
		func(w *sim.World, _ *sim.Conn, _ *SinkConn) { resetNow(w) },
		func(w *sim.World, c *sim.Conn, s *SinkConn) { s.Close(); _ = c.Close(); rest(w, time.Second) },
	} {
		for _, toxic := range []toxics.Toxic{
			&toxics.LatencyToxic{Latency: 10}, &toxics.BandwidthToxic{Rate: 1}, &toxics.SlicerToxic{AverageSize: 1, Delay: 10},
			&toxics.LimitDataToxic{Bytes: 2}, &toxics.TimeoutToxic{Timeout: 5}, &toxics.SlowCloseToxic{Delay: 10_000},
			&faults.Hold{}, &faults.Drop{}, &faults.Lose{Count: 1}, &faults.Delay{By: time.Second},
			&faults.Jitter{Add: time.Second, Spread: time.Second},
		} {
			solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
				for _, dir := range []sim.Direction{sim.Up, sim.Down} {
					addToxic(w, dir, &toxics.LatencyToxic{Latency: 1})
					addToxic(w, dir, toxic)
					addToxic(w, dir, &toxics.NoopToxic{})
				}
				c := dial(p, "n0")
				mustWrite(c, "hello")
				sink.Conns[0].Send([]byte("hello"))
				sink.Conns[0].Close()
				rest(w, 20*time.Millisecond)
				end(w, c, sink.Conns[0])
			})
		}
	}
	if after := runtime.NumGoroutine(); after > before+2 {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// TestEmptyChunks shows that an empty chunk, which toxiproxy's slicer emits
// when it is removed, is not delivered.
func TestEmptyChunks(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
		remove := addToxic(w, sim.Up, emptyToxic{})
		c := dial(p, "n0")
		mustWrite(c, "x")
		rest(w, 10*time.Millisecond)
		remove()
		if s := sink.Conns[0]; len(s.Sizes) != 1 || string(s.Got) != "x" {
			t.Errorf("chunks of %v bytes, want one of 1", s.Sizes)
		}
		_ = c.Close()
	})
}

// emptyToxic emits an empty chunk before each that it passes on.
type emptyToxic struct{}

func (emptyToxic) Pipe(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			stub.Output <- &stream.StreamChunk{Data: []byte{}, Timestamp: c.Timestamp}
			stub.Output <- c
		}
	}
}

// TestAddToxicNeedsNames shows the errors for links that do not exist.
func TestAddToxicNeedsNames(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		if _, err := w.Faults().AddToxic("c9", "r0", sim.Up, &faults.Hold{}); err == nil {
			t.Error("no error for c9")
		}
		if _, err := w.Faults().AddToxic("c0", "r9", sim.Up, &faults.Hold{}); err == nil {
			t.Error("no error for r9")
		}
		return nil
	})
}
