package sim_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksim/sim"
)

// ms is a network on which every message takes one millisecond.
var ms = sim.Latency{Min: time.Millisecond, Max: time.Millisecond}

// slack bounds what the world adds so that every event has its own instant.
const slack = time.Microsecond

// near reports whether an instant is the wanted one, or later by at most the
// slack.
func near(got, want time.Duration) bool { return got >= want && got < want+slack }

// solo runs body as the only goroutine of c0, beside a sink named "n0".
func solo(t *testing.T, cfg sim.Config, body func(w *sim.World, p *sim.Process, sink *Sink)) *sim.Result {
	t.Helper()
	if cfg.Latency == (sim.Latency{}) {
		cfg.Latency = ms
	}
	return run(t, withSink(cfg), func(w *sim.World) error {
		p, sink := w.Client(0), sinkOf(w)
		p.Go(func() { body(w, p, sink) })
		return w.RunUntil(w.Idle)
	})
}

// rest lets the world run for d, from a goroutine of a process, which may then
// read what the world's goroutine has written.
func rest(w *sim.World, d time.Duration) {
	time.Sleep(d)
	w.Do(func() {})
}

// TestRoundTrip shows that a dial takes a round trip, a message half of one,
// and that two writes arrive in order and are read as one stream.
func TestRoundTrip(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
		c := dial(p, "r0")
		if !near(w.Now(), 2*time.Millisecond) {
			t.Errorf("dialled at %v, want 2ms", w.Now())
		}
		mustWrite(c, "ECHO 12")
		mustWrite(c, "345\r\n")
		buf := make([]byte, 4)
		n, err := io.ReadFull(c, buf)
		if got := string(buf[:n]); got != "$5\r\n" || err != nil {
			t.Errorf("read %q, %v", got, err)
		}
		if !near(w.Now(), 4*time.Millisecond) {
			t.Errorf("answered at %v, want 4ms", w.Now())
		}
		n, _ = io.ReadAtLeast(c, make([]byte, 100), 7)
		if n != 7 {
			t.Errorf("the rest is %d bytes, want 7", n)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestConnErrors shows what each operation returns in each state of a
// connection.
func TestConnErrors(t *testing.T) {
	past := time.Unix(1, 0)
	for _, tt := range []struct {
		name string
		do   func(w *sim.World, c *sim.Conn, s *SinkConn) error
		want error
	}{
		{"read after Close", func(_ *sim.World, c *sim.Conn, _ *SinkConn) error {
			_ = c.Close()
			return readErr(c)
		}, net.ErrClosed},
		{"write after Close", func(_ *sim.World, c *sim.Conn, _ *SinkConn) error {
			_ = c.Close()
			return writeErr(c)
		}, net.ErrClosed},
		{"second Close", func(_ *sim.World, c *sim.Conn, _ *SinkConn) error {
			_ = c.Close()
			return c.Close()
		}, net.ErrClosed},
		{"CloseWrite after Close", func(_ *sim.World, c *sim.Conn, _ *SinkConn) error {
			_ = c.Close()
			return c.CloseWrite()
		}, net.ErrClosed},
		{"write after CloseWrite", func(_ *sim.World, c *sim.Conn, _ *SinkConn) error {
			_ = c.CloseWrite()
			return writeErr(c)
		}, syscall.EPIPE},
		{"read after the node's close", func(_ *sim.World, c *sim.Conn, s *SinkConn) error {
			s.Close()
			return readErr(c)
		}, io.EOF},
		{"read with a past deadline", func(_ *sim.World, c *sim.Conn, s *SinkConn) error {
			_ = c.SetReadDeadline(past)
			return readErr(c)
		}, os.ErrDeadlineExceeded},
		{"read with a past deadline though bytes are there", func(w *sim.World, c *sim.Conn, s *SinkConn) error {
			s.Send([]byte("x"))
			rest(w, 5*time.Millisecond)
			_ = c.SetReadDeadline(past)
			return readErr(c)
		}, os.ErrDeadlineExceeded},
		{"read of nothing left when the write deadline is past", func(_ *sim.World, c *sim.Conn, s *SinkConn) error {
			_ = c.SetWriteDeadline(past)
			s.Close()
			return readErr(c)
		}, io.EOF},
		{"write with a past deadline", func(_ *sim.World, c *sim.Conn, _ *SinkConn) error {
			_ = c.SetWriteDeadline(past)
			return writeErr(c)
		}, os.ErrDeadlineExceeded},
		{"write with a past read deadline", func(_ *sim.World, c *sim.Conn, _ *SinkConn) error {
			_ = c.SetReadDeadline(past)
			return writeErr(c)
		}, nil},
		{"read after the deadline was removed", func(_ *sim.World, c *sim.Conn, s *SinkConn) error {
			_ = c.SetDeadline(past)
			_ = readErr(c)
			_ = c.SetDeadline(time.Time{})
			s.Send([]byte("x"))
			return readErr(c)
		}, nil},
		{"read after a reset", func(w *sim.World, c *sim.Conn, _ *SinkConn) error {
			resetNow(w)
			return readErr(c)
		}, syscall.ECONNRESET},
		{"write after a reset", func(w *sim.World, c *sim.Conn, _ *SinkConn) error {
			resetNow(w)
			return writeErr(c)
		}, syscall.ECONNRESET},
		{"Close after a reset", func(w *sim.World, c *sim.Conn, _ *SinkConn) error {
			resetNow(w)
			return c.Close()
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
				c := dial(p, "n0")
				err := tt.do(w, c, sink.Conns[0])
				if tt.want == nil && err != nil || !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				var op *net.OpError
				if err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &op) {
					t.Errorf("%T is not a *net.OpError", err)
				}
				var timeout net.Error
				if errors.Is(err, os.ErrDeadlineExceeded) && !(errors.As(err, &timeout) && timeout.Timeout()) {
					t.Errorf("%v does not say that it is a timeout", err)
				}
				_ = c.Close()
			})
		})
	}
}

// resetNow resets the connections of c0 to the sink.
func resetNow(w *sim.World) {
	w.Do(func() {
		if err := w.Faults().Reset("c0", "n0"); err != nil {
			panic(err)
		}
	})
}

// TestDeadlineOfABlockedRead shows at which instant a blocked Read times out,
// when its deadline is moved while it waits.
func TestDeadlineOfABlockedRead(t *testing.T) {
	const at = time.Millisecond
	for _, tt := range []struct {
		name  string
		first time.Duration // deadline before the read, from its start; 0 none
		moved time.Duration // deadline set at 10ms
		want  time.Duration
	}{
		{"stays", 20 * at, 20 * at, 20 * at},
		{"earlier", 50 * at, 20 * at, 20 * at},
		{"later", 20 * at, 50 * at, 50 * at},
		{"into the past", 50 * at, 5 * at, 10 * at},
		{"first set while it waits", 0, 30 * at, 30 * at},
	} {
		t.Run(tt.name, func(t *testing.T) {
			solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
				c := dial(p, "n0")
				start := time.Now()
				if tt.first > 0 {
					_ = c.SetReadDeadline(start.Add(tt.first))
				}
				p.Go(func() {
					rest(w, 10*at)
					_ = c.SetDeadline(start.Add(tt.moved))
				})
				err := readErr(c)
				if !errors.Is(err, os.ErrDeadlineExceeded) || !near(time.Since(start), tt.want) {
					t.Errorf("%v after %v, want the deadline after %v", err, time.Since(start), tt.want)
				}
				_ = c.Close()
			})
		})
	}
}

// TestDeadlineTakenBack shows that a Read whose deadline is removed while it
// waits goes on waiting, and gets the bytes that arrive later.
func TestDeadlineTakenBack(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
		c := dial(p, "n0")
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		p.Go(func() {
			rest(w, 10*time.Millisecond)
			_ = c.SetReadDeadline(time.Time{})
			rest(w, time.Second)
			sink.Conns[0].Send([]byte("late"))
		})
		if err := readErr(c); err != nil {
			t.Error(err)
		}
		_ = c.Close()
	})
}

// TestOrderlyCloseStillArrives shows that a command which is written right
// before Close is executed, and that its reply is discarded.
func TestOrderlyCloseStillArrives(t *testing.T) {
	run(t, sim.Config{Latency: ms}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			c := dial(p, "r0")
			mustWrite(c, "SET k v\r\n")
			_ = c.Close()
		})
		if err := w.RunUntil(w.Idle); err != nil {
			return err
		}
		if err := w.RunUntil(w.Quiet); err != nil {
			return err
		}
		if keys := redisOf(w).Keys(); len(keys) != 1 || keys[0].Value != "v" {
			t.Errorf("the node holds %v, want k=v", keys)
		}
		return nil
	})
}

// TestHalfClose shows that after CloseWrite the node sees the end of the stream
// while the other direction still works.
func TestHalfClose(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
		c := dial(p, "n0")
		mustWrite(c, "bye")
		if err := c.CloseWrite(); err != nil {
			t.Error(err)
		}
		rest(w, 5*time.Millisecond)
		s := sink.Conns[0]
		if string(s.Got) != "bye" || !s.Ended {
			t.Errorf("the node has %q, end of stream %v", s.Got, s.Ended)
		}
		s.Send([]byte("still"))
		s.Send([]byte(" here"))
		s.Close()
		if got, err := io.ReadAll(c); string(got) != "still here" || err != nil {
			t.Errorf("read %q, %v", got, err)
		}
		_ = c.Close()
	})
}

// TestBytesBeforeTheEnd shows that bytes which have arrived are read before
// the end of the stream.
func TestBytesBeforeTheEnd(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
		c := dial(p, "n0")
		sink.Conns[0].Send([]byte("last words"))
		sink.Conns[0].Close()
		rest(w, 10*time.Millisecond)
		if got, err := io.ReadAll(c); string(got) != "last words" || err != nil {
			t.Errorf("read %q, %v", got, err)
		}
		_ = c.Close()
	})
}

// TestResetDiscards shows that a reset discards unread bytes and bytes under
// way in both directions, on every connection of the link and no other.
func TestResetDiscards(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
		a, b, other := dial(p, "n0"), dial(p, "n0"), dial(p, "r0")
		sink.Conns[0].Send([]byte("unread"))
		rest(w, 5*time.Millisecond)
		mustWrite(a, "under way")
		sink.Conns[1].Send([]byte("under way"))
		resetNow(w)
		rest(w, 5*time.Millisecond)
		for i, c := range []*sim.Conn{a, b} {
			if n, err := c.Read(make([]byte, 10)); n != 0 || !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("connection %d: read %d bytes, %v", i, n, err)
			}
			if s := sink.Conns[i]; len(s.Got) > 0 || !s.IsReset || s.Ended {
				t.Errorf("connection %d: the node has %q, reset %v, end %v", i, s.Got, s.IsReset, s.Ended)
			}
			_ = c.Close()
		}
		if !w.Quiet() {
			t.Error("bytes of a reset connection are still under way")
		}
		mustWrite(other, "PING\r\n")
		if err := readErr(other); err != nil {
			t.Errorf("another link's connection: %v", err)
		}
		_ = other.Close()
	})
}

// TestResetNeedsNames shows the errors for links that do not exist.
func TestResetNeedsNames(t *testing.T) {
	run(t, sim.Config{}, func(w *sim.World) error {
		for _, tt := range []struct{ process, node, want string }{
			{"c9", "r0", `"c9"`},
			{"c0", "r9", `"r9"`},
		} {
			if err := w.Faults().Reset(tt.process, tt.node); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Reset(%s, %s) = %v", tt.process, tt.node, err)
			}
		}
		if err := w.Faults().Reset("c0", "r0"); err != nil {
			t.Errorf("a link without connections: %v", err)
		}
		return nil
	})
}

// TestFullWindow shows that a Write waits while 256 KiB are under way, goes on
// when they have arrived, and times out at its deadline.
func TestFullWindow(t *testing.T) {
	full := bytes.Repeat([]byte("x"), 256<<10)
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
		c := dial(p, "n0")
		start := time.Now()
		if _, err := c.Write(full); err != nil || time.Since(start) != 0 {
			t.Errorf("first write: %v after %v, want at once", err, time.Since(start))
		}
		if _, err := c.Write([]byte("more")); err != nil || !near(time.Since(start), time.Millisecond) {
			t.Errorf("second write: %v after %v, want after 1ms", err, time.Since(start))
		}
		_, _ = c.Write(full)
		_ = c.SetWriteDeadline(time.Now().Add(500 * time.Microsecond))
		start = time.Now()
		_, err := c.Write([]byte("too late"))
		if !errors.Is(err, os.ErrDeadlineExceeded) || !near(time.Since(start), 500*time.Microsecond) {
			t.Errorf("third write: %v after %v, want the deadline after 500µs", err, time.Since(start))
		}
		rest(w, 5*time.Millisecond)
		if got := len(sink.Conns[0].Got); got != 2*len(full)+4 {
			t.Errorf("%d bytes arrived, want %d", got, 2*len(full)+4)
		}
		_ = c.Close()
	})
}

// TestBufferedWrite shows that the caller may use its slice again at once.
func TestBufferedWrite(t *testing.T) {
	solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, sink *Sink) {
		c := dial(p, "n0")
		b := []byte("first")
		_, _ = c.Write(b)
		copy(b, "spoil")
		rest(w, 5*time.Millisecond)
		if got := string(sink.Conns[0].Got); got != "first" {
			t.Errorf("the node has %q", got)
		}
		_ = c.Close()
	})
}
