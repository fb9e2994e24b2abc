package redis

import (
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"

	"locksim/faults"
)

// transact follows a transaction: it records the queued commands, and at the
// end the keys that they may have changed.
func (s *session) transact(args []string, db int, reply []byte) []byte {
	if string(reply) == "+QUEUED\r\n" {
		s.queued = append(s.queued, args)
		return reply
	}
	if connStateOf(s.peer).inMulti {
		return reply
	}
	queued := s.queued
	s.queued = nil
	if !strings.EqualFold(args[0], "EXEC") {
		return reply
	}
	for _, q := range queued {
		s.server.touch(db, q)
	}
	return s.fillWaits(queued, reply)
}

// abortRefused ends a transaction with writes that were queued before the node
// began to refuse writes, or had no memory left. It reports whether it did.
func (s *session) abortRefused(args []string) bool {
	g := &s.server.guard
	if !strings.EqualFold(args[0], "EXEC") {
		return false
	}
	why := ""
	switch {
	case g.refuses() && slices.ContainsFunc(s.queued, func(q []string) bool { return g.writes(strings.ToUpper(q[0])) }):
		why = readOnlyError
	case slices.ContainsFunc(s.queued, func(q []string) bool {
		c := strings.ToUpper(q[0])
		return g.writes(c) &&
			g.grows(c)
	}) &&
		g.server.node.Refused(faults.ReplyOOM):
		why = oomError
	default:
		return false
	}
	s.silently("DISCARD")
	s.peer.WriteError("EXECABORT Transaction discarded because of: " + why)
	return true
}

// queueAsScript queues a command in MULTI as a script of one command, which EXEC
// runs. Its result is that of the command, also if it is an error.
func queueAsScript(c *server.Peer, d *dataset, command string, args []string) {
	script := append([]string{"EVAL", "return redis.pcall(unpack(ARGV))", "0", command}, args...)
	d.mini.Server().Dispatch(c, script)
}

// mistaken reports whether miniredis would refuse to queue a command that Redis
// queues: Redis looks only for unknown commands and wrong numbers of arguments,
// and further mistakes are replies to EXEC.
func (d *dataset) mistaken(command string, args []string) bool {
	if slices.Contains(noScript, command) {
		return false
	}
	words := append([]string{command}, args...)
	d.ask(0, "MULTI")
	reply := string(d.ask(0, words...))
	d.ask(0, "DISCARD")
	return strings.HasPrefix(reply, "-") && !strings.HasPrefix(reply, "-ERR unknown command") &&
		(!strings.HasPrefix(reply, "-ERR wrong number of arguments") || endsInHalfPair(words))
}

// silently runs a command on the client's connection and discards the reply.
func (s *session) silently(args ...string) {
	s.peer.Flush()
	before := s.reply.Len()
	s.server.data.mini.Server().Dispatch(s.peer, args)
	s.peer.Flush()
	s.reply.Truncate(before)
}

// queueWait queues WAIT in a transaction, which miniredis does not support.
func (s *session) queueWait(args []string) {
	if _, _, problem := parseWait(args); problem != "" {
		s.silently("GET") // a mistake, with which EXEC fails
		s.peer.WriteError(strings.TrimSpace(problem[1:]))
		return
	}
	s.peer.WriteInline("QUEUED")
}

// fillWaits adds the replies to WAIT to that of EXEC, and those to commands of a
// cluster. In a transaction WAIT does not wait: it returns how many replicas have
// acknowledged.
func (s *session) fillWaits(queued [][]string, answer []byte) []byte {
	line, rest := cutLine(answer)
	if n, ok := lengthIn(line); !ok || n < 0 || line[0] != '*' ||
		!slices.ContainsFunc(queued, func(args []string) bool { return isWait(args) || s.ofCluster(args) }) {
		return answer
	}
	out := []byte("*" + strconv.Itoa(len(queued)) + "\r\n")
	for _, args := range queued {
		if isWait(args) {
			out = append(out, integer(s.server.repl.acknowledged(s.written))...)
			continue
		}
		if s.ofCluster(args) {
			out = append(out, s.server.cluster.Command(&s.cluster, args)...)
			continue
		}
		n := replyLength(rest)
		out, rest = append(out, rest[:n]...), rest[n:]
	}
	return out
}
