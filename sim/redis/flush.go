package redis

import (
	"locksim/faults"
	"locksim/sim/trace"
)

// Flush implements [sim.Flusher]: the server forgets every key, or every script, as
// FLUSHALL and SCRIPT FLUSH at an administrator's hand do (F46). The keys of its
// replicas go with those of a primary, their scripts do not. A replica refuses to
// be emptied.
func (n *Server) Flush(what faults.FlushWhat) {
	command := []string{"FLUSHALL"}
	if what == faults.FlushScripts {
		command = []string{"SCRIPT", "FLUSH"}
	}
	if role, _ := n.Role(); n.node.Down() || n.repl.leader != nil && what != faults.FlushScripts {
		n.node.Strike(trace.Flush{What: string(what), Role: role})
		return
	}
	n.tick()
	step := n.node.Strike(trace.Flush{What: string(what)})
	n.touch(0, command)
	n.data.ask(0, command...)
	n.settle(origin{step: step, change: trace.KeyFlushed})
}
