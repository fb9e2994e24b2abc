package play

import (
	"fmt"
	"slices"
	"strings"

	"locksim/faults"
	"locksim/sim/trace"
)

// heldUp says what kept the clients from getting on where nothing should have:
// a minority of the nodes was out of reach to the end, and all else that went
// wrong had ended long before. A lock on three nodes or more is taken for one
// that a majority of them decides. It is empty where the clients got on, or
// where there is an excuse.
func (p afterwards) heldUp() string {
	nodes := p.lock.Nodes()
	dead, excused := p.deadNodes()
	if !p.late || excused || len(dead) == 0 || 2*len(dead) >= nodes {
		return ""
	}
	return fmt.Sprintf("With %s out of reach, and all other nodes of %d there, the clients had not come to an end after %v.",
		strings.Join(dead, ", "), nodes, p.acquirePatience())
}

// deadNodes are the servers that faults have left out of reach until the
// world is healed. excused says that something else lasts as long.
func (p afterwards) deadNodes() (dead []string, excused bool) {
	for i, f := range p.sc.Faults {
		if !p.schedule.fired[i] {
			continue
		}
		form, _ := faults.Open(f.Action)
		if _, and := form.Sides(); form.Cuts && form.UntilHealed() && onlyServers(and) {
			dead = append(dead, and...)
		} else {
			excused = excused || form.UntilHealed() || form.Stays
		}
	}
	slices.Sort(dead)
	return slices.Compact(dead), excused
}

// onlyServers says that there are names, and each is that of a server.
func onlyServers(names []string) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !trace.IsServer(n) })
}
