package play

import (
	"fmt"
	"slices"
	"strings"

	"locksim/faults"
	"locksim/sim/trace"
)

// blockedBy says why the clients did not finish in time, if the lock should have
// let them: a minority of the nodes was unreachable to the end, and all other
// faults had ended long before. A lock on three nodes or more is assumed to need
// only a majority of them. It is empty if the clients finished, or if another fault
// explains the delay.
func (p ended) blockedBy() string {
	nodes := p.lock.Nodes()
	lost, excused := p.unreachable()
	if !p.late || excused || len(lost) == 0 || 2*len(lost) >= nodes {
		return ""
	}
	return fmt.Sprintf("With %s out of reach, and all other nodes of %d reachable, the clients had not ended after %v.",
		strings.Join(lost, ", "), nodes, p.acquireLimit())
}

// unreachable are the servers that faults cut off until the world is healed.
// excused says that another fault lasts as long.
func (p ended) unreachable() (lost []string, excused bool) {
	for i, f := range p.sc.Faults {
		if !p.schedule.fired[i] {
			continue
		}
		form, _ := faults.Open(f.Action)
		if _, and := form.Sides(); form.Cuts && form.UntilHealed() && onlyServers(and) {
			lost = append(lost, and...)
		} else {
			excused = excused || form.UntilHealed() || form.Stays
		}
	}
	slices.Sort(lost)
	return slices.Compact(lost), excused
}

// onlyServers says that there are names, and each is that of a server.
func onlyServers(names []string) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !trace.IsServer(n) })
}
