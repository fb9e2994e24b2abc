package evidence

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/promise"
	"locksim/sim/trace"
)

// blockedBy says why the clients did not finish in time, if the lock should have
// let them: a minority of the nodes was unreachable to the end, and all other
// faults had ended long before. A lock on three nodes or more is assumed to need
// only a majority of them. It is empty if the clients finished, or if another fault
// explains the delay.
func (r reading) blockedBy() string {
	nodes := r.terms.Nodes
	lost, excused := r.unreachable()
	if !r.Late || excused || len(lost) == 0 || 2*len(lost) >= nodes {
		return ""
	}
	return fmt.Sprintf("With %s out of reach, and all other nodes of %d reachable, the clients had not ended after %v.",
		strings.Join(lost, ", "), nodes, r.AskedFor)
}

// unreachable are the servers that faults cut off until the world is healed.
// excused says that another fault lasts as long.
func (r reading) unreachable() (lost []string, excused bool) {
	for i, f := range r.sc.Faults {
		if !r.Faults[i].Fired {
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

// majority is how long all faults that had struck concerned only a minority of the nodes of a lock over three or
// more, or the links to them, and which nodes those are: see [checker.Timing.Majority]. It is 0 for other locks.
func (r reading) majority() (until time.Duration, struck []checker.Struck) {
	nodes := r.terms.Voters
	if nodes < 3 || r.sc.World.Skew > 0 {
		return 0, nil
	}
	var order []int
	for i := range r.sc.Faults {
		if r.Faults[i].Fired {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(r.Faults[i].Struck, r.Faults[j].Struck)
	})
	for _, i := range order {
		at, servers := r.Faults[i].Struck, keptFrom(r.sc.Faults[i].Action)
		for _, name := range servers {
			if !slices.ContainsFunc(struck, func(s checker.Struck) bool { return s.Node == name }) {
				struck = append(struck, checker.Struck{Node: name, At: at})
			}
		}
		if len(servers) == 0 || 2*len(struck) >= nodes {
			return at, struck
		}
	}
	return math.MaxInt64, struck
}

// keptFrom are the servers that an action keeps from answering in time, if it concerns only them and the links to
// them; else it is empty.
func keptFrom(a faults.Action) []string {
	form, _ := faults.Open(a)
	if !slices.Contains(keeping, form.Class) {
		return nil
	}
	var out []string
	between, and := form.Sides()
	for _, side := range [][]string{between, and} {
		if onlyServers(side) {
			out = append(out, side...)
		}
	}
	for _, field := range form.Fields {
		if name, ok := field.Holds.(faults.Name); ok && trace.IsServer(*name.To) {
			out = append(out, *name.To)
		}
	}
	return out
}

// keeping are the classes of fault that keep a server from answering in time, or end it.
var keeping = []promise.Fault{promise.Partition, promise.Latency, promise.Reset, promise.Stall, promise.NodeCrash}

// onlyServers says that there are names, and each is that of a server.
func onlyServers(names []string) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !trace.IsServer(n) })
}
