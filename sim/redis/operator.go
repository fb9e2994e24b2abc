package redis

import (
	"maps"
	"slices"

	"locksim/faults"
	"locksim/sim/trace"
)

// EditKeys implements [faults.KeyEditor], by DEL and SET. It changes keys that have a value or fields: a list or a
// sorted set is a queue of those who wait. A replica and a server that is down have none.
func (n *Server) EditKeys(how faults.Edit) (done bool, err error) {
	var found []string
	if !n.node.Down() && n.repl.leader == nil {
		n.tick()
		for _, key := range slices.Sorted(maps.Keys(n.family.watched)) {
			if kind := string(n.data.ask(0, "TYPE", key)); kind == "+string\r\n" || kind == "+hash\r\n" {
				found = append(found, key)
			}
		}
	}
	step := n.node.Strike(trace.Operate{Does: string(how), Of: found})
	for _, key := range found {
		command := []string{"DEL", key}
		if how == faults.EditOverwrite {
			command = []string{"SET", key, faults.Operator}
		}
		n.touch(0, command)
		n.data.ask(0, command...)
	}
	n.commit(origin{step: step, change: trace.KeyOperated})
	return len(found) > 0, nil
}
