package store

import (
	"bytes"
	"fmt"
	"strings"

	"locksim/faults"
	"locksim/lock/fence"
	"locksim/sim"
	"locksim/sim/trace"
)

// Name is the name of the store in a world.
const Name = "s0"

// port is the port of the store.
const port = 7000

// Server is the store as a server of a simulated world. It is a [sim.Kind].
type Server struct {
	// Fencing is the rule that the store applies to tokens. Default none.
	Fencing fence.Mode
}

// Validate returns an error for a fencing mode that does not exist, or nil.
func (s Server) Validate() error {
	if s.Fencing == "" {
		return nil
	}
	_, err := fence.ParseMode(string(s.Fencing))
	return err
}

// Build implements [sim.Kind].
func (s Server) Build(b *sim.Builder) {
	b.Add(Name, port, func(n *sim.Node) sim.Server { return &server{node: n, store: New(s.Fencing)} })
}

// Of is the store of a world. It panics if the world has none.
func Of(w *sim.World) *Store {
	n, err := w.Node(Name)
	if err != nil {
		panic(fmt.Sprintf("store: %v: put a store.Server into Config.Servers", err))
	}
	return n.Server().(*server).store
}

// server is the store on its machine. It keeps everything over a crash and a
// restart: it represents the resource that the lock protects, which has its own
// durability.
type server struct {
	node  *sim.Node
	store *Store
}

// Crash implements [sim.Crasher].
func (*server) Crash(faults.CrashMode) {}

// Restart implements [sim.Restarter].
func (*server) Restart(int) {}

// Still implements [sim.Still].
func (*server) Still() bool { return true }

// Accept implements [sim.Server].
func (s *server) Accept(c *sim.ServerConn) sim.Session { return &session{server: s, conn: c} }

// Describe implements [sim.Describer].
func (*server) Describe(_ sim.Direction, b []byte) trace.Content { return Message(b) }

// Message is a request to the store or its answer, in the trace.
type Message []byte

// AppendText implements [trace.Content].
func (m Message) AppendText(b []byte) []byte { return trace.Bytes(m).AppendText(b) }

// AppendHash implements [trace.Content].
func (m Message) AppendHash(b []byte) []byte { return trace.Bytes(m).AppendHash(b) }

// Words implements [trace.Worded]: READ or WRITE, resource, register, operation, …
func (m Message) Words() []string { return strings.Fields(string(m)) }

// Brief implements [trace.Request].
func (m Message) Brief(trace.Content) string {
	op, err := parseRequest(string(m))
	if err != nil {
		return ""
	}
	return op.Brief()
}

// session is one client's connection to the store.
type session struct {
	server *server
	conn   *sim.ServerConn
	in     []byte
	closed bool
}

// maxLine bounds a request.
const maxLine = 64 << 10

// Data implements [sim.Session].
func (s *session) Data(b []byte) {
	if s.closed {
		return
	}
	s.in = append(s.in, b...)
	for {
		end := bytes.IndexByte(s.in, '\n')
		if end < 0 {
			break
		}
		line := string(s.in[:end])
		s.in = s.in[end+1:]
		answer := s.server.store.Serve(line, func(d trace.Decision) int {
			d.Conn = s.conn.Name()
			return s.server.node.Record(s.conn.Client(), d)
		})
		s.conn.Send([]byte(answer + "\n"))
	}
	if len(s.in) > maxLine {
		s.conn.Send([]byte("ERROR a request of more than 64 KiB\n"))
		s.conn.Finish()
		s.closed, s.in = true, nil
	}
}

// EOF implements [sim.Session].
func (s *session) EOF() { s.conn.Finish() }

// Reset implements [sim.Session].
func (s *session) Reset() {}
