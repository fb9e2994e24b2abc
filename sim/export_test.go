package sim

import (
	"net"
	"time"
)

// SetDown makes a node refuse connections, or accept them again.
func (n *RedisNode) SetDown(down bool) {
	n.condition = up
	if down {
		n.condition = killed
	}
}

// Sink is a host for tests: it keeps what arrives, with the instants.
type Sink struct {
	w     *World
	id    string
	Conns []*SinkConn
}

// AddSink adds a host that clients dial by its name.
func (w *World) AddSink(name string) *Sink {
	s := &Sink{w: w, id: name}
	w.addHost(s, net.IPv4(10, 0, 9, 1).String(), 9)
	return s
}

func (s *Sink) name() string { return s.id }

func (s *Sink) accept(c *conn) session {
	sc := &SinkConn{w: s.w, conn: c}
	s.Conns = append(s.Conns, sc)
	return sc
}

// SinkConn is the sink's end of one connection.
type SinkConn struct {
	w       *World
	conn    *conn
	Got     []byte
	At      []time.Duration // one for each chunk
	Sizes   []int
	EOF     bool
	EOFAt   time.Duration
	IsReset bool
}

func (s *SinkConn) data(b []byte) {
	s.Got = append(s.Got, b...)
	s.At = append(s.At, s.w.Now())
	s.Sizes = append(s.Sizes, len(b))
}

func (s *SinkConn) eof()   { s.EOF, s.EOFAt = true, s.w.Now() }
func (s *SinkConn) reset() { s.IsReset = true }

// Send sends to the client.
func (s *SinkConn) Send(b []byte) { s.conn.send(b) }

// Close ends the stream to the client.
func (s *SinkConn) Close() { s.conn.finish() }

// Do runs f as an event of the world, for a test's goroutine in a process.
func (w *World) Do(f func()) {
	done := make(chan struct{})
	w.out.post(entry{where: "test", rank: rankNode, commit: func() {
		w.queue.add(w.now()+1, func() { f(); close(done) })
	}})
	<-done
}

// RunIn is Run with another way to open a bubble, and little patience.
func RunIn(open func(f func()), body func(*World) error) (*Result, error) {
	cfg := Config{Limits: Limits{Frozen: 100 * time.Millisecond}}
	return (&bubble{cfg: cfg.withDefaults(), body: body, open: open}).guarded()
}
