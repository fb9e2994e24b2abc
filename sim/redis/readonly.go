package redis

import (
	"slices"

	"github.com/alicebob/miniredis/v2/server"
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
	refused  bool   // the current command, or one that it called, was refused as a write
}

// refuses reports whether the server refuses clients' writes.
func (g *writeGuard) refuses() bool { return g.server.repl.leader != nil || g.readOnly != nil }

// refuse replies to a write with an error, while writes are refused.
func (g *writeGuard) refuse(c *server.Peer, command string) bool {
	if !g.refuses() || !g.writes(command) {
		return false
	}
	c.WriteError(readOnlyError)
	g.refused = true
	if g.readOnly != nil {
		g.readOnly()
	}
	return true
}

// neutral are the commands that do not write although miniredis does not call
// them read-only. Scripts are judged by their commands.
var neutral = []string{
	"AUTH", "CLIENT", "CLUSTER", "COMMAND", "DISCARD", "ECHO", "EVAL", "EVALSHA", "EXEC", "HELLO", "INFO", "MEMORY", "MULTI",
	"OBJECT", "PING", "PSUBSCRIBE", "PUBLISH", "PUBSUB", "PUNSUBSCRIBE", "QUIT", "SCRIPT", "SELECT", "SUBSCRIBE", "TIME",
	"UNSUBSCRIBE", "UNWATCH", "WAIT", "WATCH", "XINFO",
}

// writes reports whether a command, in capitals, is one that writes.
func (g *writeGuard) writes(command string) bool {
	s := g.server.data.mini.Server()
	return s.IsRegisteredCommand(command) && !s.IsReadOnlyCommand(command) && !slices.Contains(neutral, command)
}
