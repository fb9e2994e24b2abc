package redis

import "locksim/sim/trace"

// origin is who or what changes keys, and at which step.
type origin struct {
	step   int
	by     string
	change trace.Change // of what vanishes, and of what is not set by a command
}

// changed records a change of a key, if it is one that is watched.
func (n *Server) changed(p place, was, is datum, why origin) {
	if p.db != 0 || !n.family.watched[p.key] {
		return
	}
	if was.sameValue(is) && (why.change != trace.KeyRestored || !is.exists()) {
		return
	}
	change := why.change
	if is.exists() && (change == trace.KeyDeleted || change == trace.KeyFlushed) {
		change = trace.KeySet
	}
	n.node.KeyChanged(trace.KeyChange{Step: why.step, Key: p.key, Value: is.String(), By: why.by, Change: change})
}
