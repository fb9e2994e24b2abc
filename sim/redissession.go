package sim

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
)

// redisSession is one client's connection to a node.
type redisSession struct {
	node     *RedisNode
	conn     *conn
	peer     *server.Peer
	in       []byte
	reply    bytes.Buffer // what the command at hand has answered
	replying bool
	waiting  *blockedCommand // which keeps further commands waiting
	acks     *ackWait        // and so does this
	queued   [][]string      // since MULTI
	written  int64           // the node's offset after the latest command
	gone     bool
	orphaned bool // the server went, not the client
	strayed  bool // the client has sent something since
	bounced  bool // and is about to hear of it

	mu     sync.Mutex
	pushed []byte // messages of channels that it has subscribed to
}

func (n *RedisNode) accept(c *conn) session {
	if n.Down() {
		return nil
	}
	s := &redisSession{node: n, conn: c}
	s.peer = server.NewPeer(bufio.NewWriter(s))
	n.sessions = append(n.sessions, s)
	return s
}

// Write takes what miniredis answers: into the reply of the command at hand,
// or, on a goroutine of miniredis's, a message for a subscriber.
func (s *redisSession) Write(b []byte) (int, error) {
	if s.replying {
		return s.reply.Write(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pushed) == 0 {
		s.node.w.out.post(entry{where: s.conn.link.where[Down], rank: rankNode, conn: s.conn, commit: s.push})
	}
	s.pushed = append(s.pushed, b...)
	return len(b), nil
}

// push sends a subscriber its messages. miniredis hands out those of channels
// and those of patterns on two goroutines: which of the two was first is a
// race, so channels go first.
func (s *redisSession) push() {
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
	s.conn.send(append(messages[0], messages[1]...))
}

// data takes bytes of the client's.
func (s *redisSession) data(b []byte) {
	if s.orphaned {
		s.stray()
	}
	if s.gone {
		return
	}
	s.in = append(s.in, b...)
	s.serve()
}

// serve runs the commands that have arrived, one after another.
func (s *redisSession) serve() {
	for s.waiting == nil && s.acks == nil && !s.gone {
		args, n, err := parseCommand(s.in)
		if err != nil {
			s.hangUp(err)
			return
		}
		if n == 0 {
			return
		}
		if s.in = s.in[n:]; len(s.in) == 0 {
			s.in = nil
		}
		if len(args) > 0 {
			s.node.tick()
			s.run(args)
			s.node.wakeBlocked()
		}
	}
}

// hangUp ends a connection on which something came that is not RESP.
func (s *redisSession) hangUp(err error) {
	answer := "-" + strings.ReplaceAll(err.Error(), "\n", " ") + "\r\n"
	s.node.record(s.conn.link.p.name, nil, readable([]byte(answer)))
	s.conn.send([]byte(answer))
	s.conn.finish()
	s.leave()
}

func (s *redisSession) run(args []string) {
	lowerSHA(args)
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
		s.conn.finish()
		s.leave()
	}
}

// answer sends the reply to a command, and works out what the command has done.
func (s *redisSession) answer(args []string, reply []byte) {
	n, by := s.node, s.conn.link.p.name
	step := n.record(by, args, readable(reply))
	if len(reply) > 0 {
		s.conn.send(reply)
	}
	if n.ledger != nil {
		n.ledger.settle(origin{step: step, by: by, kind: vanishing(args)})
		s.written = n.ledger.offset
	}
}

// vanishing is what happens to keys that a command makes vanish.
func vanishing(args []string) KeyChangeKind {
	if strings.EqualFold(args[0], "FLUSHALL") || strings.EqualFold(args[0], "FLUSHDB") {
		return KeyFlushed
	}
	return KeyDeleted
}

// dispatch gives a command to whoever runs it.
func (s *redisSession) dispatch(args []string, state connState) {
	n := s.node
	if !state.inMulti && !state.subscribed && n.lua.run(s.peer, args, state.db) {
		return
	}
	switch {
	case state.inMulti && s.abortRefused(args):
		return
	case state.inMulti && isWait(args):
		s.queueWait(args)
		return
	}
	n.lua.see(args)
	n.refused = false
	n.mini.Server().Dispatch(s.peer, args)
	switch {
	case state.inMulti && n.refused:
		s.silently("GET") // a mistake, with which EXEC fails
	case state.inMulti:
	default:
		n.touch(state.db, args)
		if key, ok := setsInstant(args); ok {
			forgetInstant(key, func(args ...string) []byte { return n.ask(state.db, args...) })
		}
	}
}

// lowerSHA makes SHA-1s lower case: Redis takes either, miniredis does not.
func lowerSHA(args []string) {
	switch {
	case len(args) > 1 && runsScript(args[0]) && len(args[0]) >= len("EVALSHA"):
		args[1] = strings.ToLower(args[1])
	case len(args) > 2 && strings.EqualFold(args[0], "SCRIPT") && strings.EqualFold(args[1], "EXISTS"):
		for i := range args[2:] {
			args[2+i] = strings.ToLower(args[2+i])
		}
	}
}

// setsInstant reports whether a command is SET with PXAT or EXAT.
func setsInstant(args []string) (key string, ok bool) {
	if len(args) < 5 || !strings.EqualFold(args[0], "SET") {
		return "", false
	}
	return args[1], slices.ContainsFunc(args[3:], func(a string) bool {
		return strings.EqualFold(a, "PXAT") || strings.EqualFold(a, "EXAT")
	})
}

// forgetInstant repairs what miniredis does when a key is set to expire in
// the past: the key is gone, as it should be, but its TTL is kept, and a later
// key of that name would die of it.
func forgetInstant(key string, ask func(args ...string) []byte) {
	if bytes.Equal(ask("EXISTS", key), []byte(":0\r\n")) {
		ask("SET", key, "")
		ask("DEL", key)
	}
}

func (s *redisSession) eof() {
	if s.orphaned {
		s.stray()
		return
	}
	s.leave()
	s.conn.finish()
}

func (s *redisSession) reset() { s.leave() }

// leave ends what the client has left behind: a blocking command, and in
// miniredis its subscriptions, each of which has goroutines.
func (s *redisSession) leave() {
	if i := slices.Index(s.node.sessions, s); i >= 0 {
		s.node.sessions = slices.Delete(s.node.sessions, i, i+1)
	}
	s.gone, s.in = true, nil
	s.node.unblock(s.waiting)
	s.node.dropWait(s.acks)
	s.replying = true // and nobody reads it
	for _, end := range []string{"UNSUBSCRIBE", "PUNSUBSCRIBE"} {
		if connStateOf(s.peer).subscribed {
			s.node.mini.Server().Dispatch(s.peer, []string{end})
		}
	}
	s.peer.Close()
}
