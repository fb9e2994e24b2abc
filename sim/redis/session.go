package redis

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"

	"locksim/sim"
	"locksim/sim/trace"
)

// session is one client's connection to a server.
type session struct {
	server   *Server
	conn     *sim.ServerConn
	peer     *server.Peer
	in       []byte
	reply    bytes.Buffer // the reply to the current command
	replying bool
	waiting  *blockedCommand // while set, further commands wait
	acks     *ackWait        // likewise
	queued   [][]string      // since MULTI
	written  int64           // the node's offset after the latest command
	closed   bool

	cluster ClusterClient // of a node of a cluster
	held    bool          // its next command waits: see [Cluster]
	pending []string      // its command whose answer comes later

	mu     sync.Mutex
	pushed []byte // messages of channels that it has subscribed to
}

// Accept implements [sim.Server].
func (n *Server) Accept(c *sim.ServerConn) sim.Session {
	s := &session{server: n, conn: c}
	s.peer = server.NewPeer(bufio.NewWriterSize(s, 512))
	n.sessions = append(n.sessions, s)
	return s
}

// Write gets the output of miniredis: the reply to the current command, or, on
// a goroutine of miniredis, a message for a subscriber.
func (s *session) Write(b []byte) (int, error) {
	if s.replying {
		return s.reply.Write(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pushed) == 0 {
		s.conn.Notify(s.push)
	}
	s.pushed = append(s.pushed, b...)
	return len(b), nil
}

// push sends a subscriber its messages. miniredis writes those of channels and
// those of patterns on two goroutines: which of the two is first is a race, so
// channels go first.
func (s *session) push() {
	s.mu.Lock()
	b := s.pushed
	s.pushed = nil
	s.mu.Unlock()
	var messages [2][]byte
	for len(b) > 0 {
		n := replyLength(b)
		kind := 0
		if bytes.Contains(b[:min(n, 16)], []byte("pmessage")) {
			kind = 1
		}
		messages[kind] = append(messages[kind], b[:n]...)
		b = b[n:]
	}
	s.conn.Send(append(messages[0], messages[1]...))
}

// Data implements [sim.Session].
func (s *session) Data(b []byte) {
	if s.closed {
		return
	}
	if len(s.in) == 0 {
		s.in = slices.Clip(b)
	} else {
		s.in = append(s.in, b...)
	}
	s.serve()
}

// serve runs the commands that have arrived, one after another.
func (s *session) serve() {
	for s.waiting == nil && s.acks == nil && !s.closed && !s.held && s.pending == nil {
		args, n, err := ParseCommand(s.in)
		if err != nil {
			s.hangUp(err)
			return
		}
		if n == 0 || len(args) > 0 && s.holds(args) {
			return
		}
		if s.in = s.in[n:]; len(s.in) == 0 {
			s.in = nil
		}
		if len(args) > 0 {
			s.server.tick()
			s.run(args)
			s.server.blocked.wake()
		}
	}
}

// hangUp ends a connection after bytes that are not RESP.
func (s *session) hangUp(err error) {
	answer := "-" + strings.ReplaceAll(err.Error(), "\n", " ") + "\r\n"
	s.server.record(s, Request{}, []byte(answer))
	s.conn.Send([]byte(answer))
	s.conn.Finish()
	s.close()
}

func (s *session) run(args []string) {
	lowerSHA(args)
	s.server.noteSubscriber(args[0])
	s.server.guard.wrote = false
	if s.refuseLoading(args) {
		return
	}
	if s.server.cluster != nil {
		defer s.afterCommand(args)
		if s.clustered(args) {
			return
		}
		s.server.running = s
	}
	state := connStateOf(s.peer)
	if !state.inMulti && !state.subscribed {
		switch {
		case blocks(args):
			s.runBlocking(args, state.db)
			return
		case isWait(args):
			s.runWait(args)
			return
		}
	}
	s.replying = true
	s.dispatch(args, state)
	s.peer.Flush()
	s.replying = false
	reply := s.reply.Bytes()
	if state.inMulti {
		reply = s.transact(args, state.db, reply)
	}
	s.answer(args, reply)
	s.reply.Reset()
	if s.peer.Closed() { // QUIT
		s.conn.Finish()
		s.close()
	}
}

// answer sends the reply to a command, and commits its effects.
func (s *session) answer(args []string, reply []byte) {
	n := s.server
	reply = bytes.Clone(reply)
	reply = n.corrected(s.peer, args, reply)
	if reply == nil {
		reply = []byte{} // an empty reply, not a pending one
	}
	request := n.request(args)
	step := n.record(s, request, reply)
	n.decided(s, args, reply)
	if len(reply) > 0 && !(s.conn.Greeted() && greets(args)) { // that was answered when it was written
		s.conn.Send(reply)
	}
	if n.ledger != nil {
		n.ledger.commit(origin{step: step, by: s.conn.Client(), request: request, change: deletionKind(args)})
		s.written = n.ledger.offset
	}
}

// deletionKind is the kind of change of the keys that a command deletes.
func deletionKind(args []string) trace.Change {
	if strings.EqualFold(args[0], "FLUSHALL") || strings.EqualFold(args[0], "FLUSHDB") {
		return trace.KeyFlushed
	}
	return trace.KeyDeleted
}

// dispatch passes a command to the Lua engine or to miniredis.
func (s *session) dispatch(args []string, state connState) {
	n := s.server
	if !state.inMulti && !state.subscribed && n.lua.run(s.peer, args, state.db) {
		return
	}
	switch {
	case state.inMulti && s.abortRefused(args):
		return
	case state.inMulti && isWait(args):
		s.queueWait(args)
		return
	case state.inMulti && s.ofCluster(args):
		s.peer.WriteInline("QUEUED")
		return
	}
	n.lua.observe(args)
	n.guard.refused = false
	if involvesScripts(args[0]) {
		n.lua.loadPending()
		n.lua.invalidate()
	}
	n.data.mini.Server().Dispatch(s.peer, args)
	switch {
	case state.inMulti && n.guard.refused:
		s.silently("GET") // an error that makes EXEC fail
	case state.inMulti:
	default:
		n.touch(state.db, args)
	}
}

// lowerSHA makes SHA-1s lower case: Redis accepts either case, miniredis does
// not.
func lowerSHA(args []string) {
	switch {
	case len(args) > 1 && namesScript(args[0]):
		args[1] = strings.ToLower(args[1])
	case len(args) > 2 && strings.EqualFold(args[0], "SCRIPT") && strings.EqualFold(args[1], "EXISTS"):
		for i := range args[2:] {
			args[2+i] = strings.ToLower(args[2+i])
		}
	}
}

// EOF implements [sim.Session].
func (s *session) EOF() {
	s.close()
	s.conn.Finish()
}

// Reset implements [sim.Session].
func (s *session) Reset() { s.close() }

// close ends what the client has under way: a blocking command, and in
// miniredis its subscriptions, each of which has goroutines.
func (s *session) close() {
	n := s.server
	if i := slices.Index(n.sessions, s); i >= 0 {
		n.sessions = slices.Delete(n.sessions, i, i+1)
	}
	s.closed, s.in = true, nil
	n.blocked.drop(s.waiting)
	n.waits.drop(s.acks)
	s.replying = true // further output is discarded
	for _, end := range []string{"UNSUBSCRIBE", "PUNSUBSCRIBE"} {
		if connStateOf(s.peer).subscribed {
			n.data.mini.Server().Dispatch(s.peer, []string{end})
		}
	}
	s.peer.Close()
}
