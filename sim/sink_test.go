package sim_test

import (
	"slices"
	"time"

	"locksim/sim"
)

// sinks is a kind of server for tests: one [Sink] of each of these names.
type sinks []string

// Build implements [sim.Kind].
func (s sinks) Build(b *sim.Builder) {
	for _, name := range s {
		b.Add(name, 9, func(n *sim.Node) sim.Server { return &Sink{node: n} })
	}
}

// withSink is the config with the sink n0 besides its other servers.
func withSink(cfg sim.Config) sim.Config {
	cfg = served(cfg)
	cfg.Servers = append(slices.Clone(cfg.Servers), sinks{"n0"})
	return cfg
}

// sinkOf is the sink of a world that is called n0.
func sinkOf(w *sim.World) *Sink {
	n, err := w.Node("n0")
	if err != nil {
		panic(err)
	}
	return n.Server().(*Sink)
}

// Sink is a server for tests: it records what arrives, with the instants.
type Sink struct {
	node  *sim.Node
	Conns []*SinkConn
}

// Accept implements [sim.Server].
func (s *Sink) Accept(c *sim.ServerConn) sim.Session {
	sc := &SinkConn{node: s.node, conn: c}
	s.Conns = append(s.Conns, sc)
	return sc
}

// SinkConn is the sink's end of one connection.
type SinkConn struct {
	node    *sim.Node
	conn    *sim.ServerConn
	Got     []byte
	At      []time.Duration // one for each chunk
	Sizes   []int
	Ended   bool
	EndedAt time.Duration
	IsReset bool
}

// Data implements [sim.Session].
func (s *SinkConn) Data(b []byte) {
	s.Got = append(s.Got, b...)
	s.At = append(s.At, s.node.Virtual())
	s.Sizes = append(s.Sizes, len(b))
}

// EOF implements [sim.Session].
func (s *SinkConn) EOF() { s.Ended, s.EndedAt = true, s.node.Virtual() }

// Reset implements [sim.Session].
func (s *SinkConn) Reset() { s.IsReset = true }

// Send sends to the client.
func (s *SinkConn) Send(b []byte) { s.conn.Send(b) }

// Close ends the stream to the client.
func (s *SinkConn) Close() { s.conn.Finish() }
