package redis

import (
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/server"

	"locksim/faults"
	"locksim/sim/rare"
)

// readOnlyError is a replica's reply to a write.
const readOnlyError = "READONLY You can't write against a read only replica."

// RefuseWrites implements [sim.WriteRefuser]: the reply to every write is
// READONLY. The server still serves reads, and its keys expire.
func (n *Server) RefuseWrites(refused func()) {
	n.guard.readOnly = refused
}

// writeGuard refuses clients' writes on a replica, or under the fault
// read_only.
type writeGuard struct {
	server   *Server
	readOnly func() // called for each write that a fault refuses; nil without one
	refused  bool   // the current command, or one that it called, was refused
	wrote    bool   // the current command, or one that it called, has passed as a write
}

func (g *writeGuard) refuses() bool { return g.server.repl.leader != nil || g.readOnly != nil }

// refuse replies to a write with an error, while writes are refused, or the server has no memory.
func (g *writeGuard) refuse(c *server.Peer, command string) bool {
	switch {
	case !g.writes(command):
		return false
	case g.refuses():
		c.WriteError(readOnlyError)
		if g.readOnly != nil {
			g.readOnly()
		}
	case !g.wrote && g.server.lacksReplicas():
		g.server.node.Reached(rare.RedisTooFewReplicas)
		c.WriteError(noReplicasError)
	case g.grows(command) && !g.wrote && g.server.node.Refused(faults.ReplyOOM):
		c.WriteError(oomError)
	default:
		g.wrote = true
		return false
	}
	g.refused = true
	return true
}

// oomError is the reply to a command that may need memory where there is none.
const oomError = "OOM command not allowed when used memory > 'maxmemory'."

// frees are the commands that write, and that Redis carries out without memory.
var frees = []string{
	"DEL", "EXPIRE", "EXPIREAT", "FLUSHALL", "FLUSHDB", "GETDEL", "GETEX", "HDEL", "LPOP", "LREM", "LTRIM", "MOVE",
	"PERSIST",
	"PEXPIRE", "PEXPIREAT", "RENAME", "RENAMENX", "RPOP", "SPOP", "SREM", "SWAPDB", "UNLINK", "XACK", "XDEL", "XGROUP",
	"XTRIM",
	"ZPOPMAX", "ZPOPMIN", "ZREM", "ZREMRANGEBYLEX", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE", "BLPOP", "BRPOP",
}

// grows reports whether a command that writes may need more memory, as Redis has it.
func (g *writeGuard) grows(command string) bool { return !slices.Contains(frees, command) }

// ReplyErrors implements [sim.ErrorReplier].
func (n *Server) ReplyErrors() []faults.ReplyError { return faults.ReplyErrors("r0") }

// loadingError is the reply of a server that reads its data from the disk.
const loadingError = "LOADING Redis is loading the dataset in memory"

// whileLoading are the commands that it carries out meanwhile.
var whileLoading = []string{
	"AUTH", "CLIENT", "COMMAND", "DISCARD", "ECHO", "EXEC", "HELLO", "INFO", "MULTI", "PSUBSCRIBE", "PUBLISH",
	"PUNSUBSCRIBE",
	"QUIT", "RESET", "SELECT", "SUBSCRIBE", "TIME", "UNSUBSCRIBE", "UNWATCH", "WATCH",
}

// refuseLoading answers a command with an error while a fault says that the server reads its data,
// and reports whether it has. One of a transaction makes EXEC fail, and EXEC fails with commands that
// were queued before.
func (s *session) refuseLoading(args []string) bool {
	meets := func(args []string) bool { return !slices.Contains(whileLoading, strings.ToUpper(args[0])) }
	exec := strings.EqualFold(args[0], "EXEC") && slices.ContainsFunc(s.queued, meets)
	if !meets(args) && !exec || !s.server.node.Refused(faults.ReplyLoading) {
		return false
	}
	reply := "-" + loadingError + "\r\n"
	s.replying = true
	switch {
	case exec:
		s.silently("DISCARD")
		s.queued, reply = nil, "-EXECABORT Transaction discarded because of: "+loadingError+"\r\n"
	case connStateOf(s.peer).inMulti:
		s.silently("GET") // an error that makes EXEC fail
	}
	s.replying = false
	s.reply.Reset()
	s.answer(args, []byte(reply))
	return true
}

// neutral are the commands that do not write although miniredis does not call
// them read-only. Scripts are judged by their commands.
var neutral = []string{
	"AUTH", "CLIENT", "CLUSTER", "COMMAND", "DISCARD", "ECHO", "EVAL", "EVALSHA", "EXEC", "HELLO", "INFO", "MEMORY",
	"MULTI",
	"OBJECT", "PING", "PSUBSCRIBE", "PUBLISH", "PUBSUB", "PUNSUBSCRIBE", "QUIT", "SCRIPT", "SELECT", "SUBSCRIBE", "TIME",
	"UNSUBSCRIBE", "UNWATCH", "WAIT", "WATCH", "XINFO",
}

// writes reports whether a command, in capitals, is one that writes.
func (g *writeGuard) writes(command string) bool {
	s := g.server.data.mini.Server()
	return s.IsRegisteredCommand(command) && !s.IsReadOnlyCommand(command) && !slices.Contains(neutral, command)
}
