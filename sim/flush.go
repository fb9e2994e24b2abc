package sim

import (
	"fmt"

	"locksim/faults"
)

// Flush makes a node forget every key, or every script, as FLUSHALL and SCRIPT
// FLUSH at an administrator's hand do (F46). The keys of its replicas go with
// those of a primary, their scripts do not. A replica refuses to be emptied.
func (w *World) Flush(node string, what faults.FlushWhat) error {
	n, err := w.Node(node)
	if err != nil {
		return err
	}
	command := map[faults.FlushWhat][]string{
		faults.FlushKeys: {"FLUSHALL"}, faults.FlushScripts: {"SCRIPT", "FLUSH"},
	}[what]
	switch {
	case command == nil:
		return fmt.Errorf("flush the %q of %s: give one of %q", what, node, faults.FlushWhats())
	case n.Down(), n.leader != nil && what == faults.FlushKeys:
		w.record("world", "flush", n.id, "nothing: it is "+n.Role())
		return nil
	}
	n.tick()
	step := w.record("world", "flush", n.id, string(what))
	n.touch(0, command)
	n.ask(0, command...)
	n.settle(origin{step: step, kind: KeyFlushed})
	return nil
}
