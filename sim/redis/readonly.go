package redis

import (
	"slices"

	"github.com/alicebob/miniredis/v2/server"
)

// readOnlyError is what a replica answers to a write.
const readOnlyError = "READONLY You can't write against a read only replica."

// RefuseWrites implements [sim.WriteRefuser]: every write is answered with READONLY.
// The server serves reads, and its keys expire.
func (n *Server) RefuseWrites(refuse bool) {
	n.guard.readOnly = refuse
	n.guard.set()
}

// writeGuard keeps clients from writing to a replica, or to a server that has been
// made to refuse writes.
type writeGuard struct {
	server   *Server
	readOnly bool // by a fault
	refused  bool // the command at hand, or one that it called, was refused as a write
}

// refuses reports whether the server takes no writes from clients.
func (g *writeGuard) refuses() bool { return g.server.repl.leader != nil || g.readOnly }

// set has miniredis ask before each command, also of scripts, whether it may be
// done; but only where it may not.
func (g *writeGuard) set() {
	mini := g.server.data.mini.Server()
	if g.refuses() {
		mini.SetPreHook(g.refuse)
		return
	}
	mini.SetPreHook(nil)
}

// refuse answers a write with an error. The server's own commands pass.
func (g *writeGuard) refuse(c *server.Peer, command string, _ ...string) bool {
	if c == g.server.data.aside || !g.writes(command) {
		return false
	}
	c.WriteError(readOnlyError)
	g.refused = true
	return true
}

// neutral are the commands that miniredis does not call read-only and that do
// not write, whatever else they do. Scripts are judged by their commands.
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
