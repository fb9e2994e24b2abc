package sim

import (
	"slices"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// readOnlyError is what a replica answers to a write.
const readOnlyError = "READONLY You can't write against a read only replica."

// RefuseWrites makes a node answer every write with READONLY for d, or until
// [World.Heal] where d is 0, as one does whose configuration somebody has got
// wrong. It serves reads, and its keys expire. Spells may overlap.
func (w *World) RefuseWrites(node string, d time.Duration) error {
	n, err := w.Node(node)
	if err != nil {
		return err
	}
	if err := checkLength("refusal of writes by "+node, d); err != nil {
		return err
	}
	w.record("world", "read-only", n.id, howLong(d))
	n.readOnly++
	n.guardWrites()
	w.lasts(d, func() {
		n.readOnly--
		n.guardWrites()
		w.record("world", "read-only-end", n.id, "")
	})
	return nil
}

// refusesWrites reports whether the node takes no writes from clients.
func (n *RedisNode) refusesWrites() bool { return n.leader != nil || n.readOnly > 0 }

// guardWrites has miniredis ask before each command, also of scripts, whether
// it may be done; but only where it may not.
func (n *RedisNode) guardWrites() {
	if n.refusesWrites() {
		n.mini.Server().SetPreHook(n.refuseWrite)
		return
	}
	n.mini.Server().SetPreHook(nil)
}

// refuseWrite answers a write with an error. The node's own commands pass.
func (n *RedisNode) refuseWrite(c *server.Peer, command string, _ ...string) bool {
	if c == n.aside || !n.writes(command) {
		return false
	}
	c.WriteError(readOnlyError)
	n.refused = true
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
func (n *RedisNode) writes(command string) bool {
	s := n.mini.Server()
	return s.IsRegisteredCommand(command) && !s.IsReadOnlyCommand(command) && !slices.Contains(neutral, command)
}
