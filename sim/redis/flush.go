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
	if role, _ := n.Role(); n.node.Down() || n.repl.leader != nil && what != faults.FlushScripts {
		n.node.Strike(trace.Flush{What: string(what), Role: role})
		return
	}
	n.tick()
	step := n.node.Strike(trace.Flush{What: string(what)})
	if what == faults.FlushScripts {
		n.lua.forget()
		return
	}
	n.touch(0, []string{"FLUSHALL"})
	n.data.ask(0, "FLUSHALL")
	n.settle(origin{step: step, change: trace.KeyFlushed})
}
