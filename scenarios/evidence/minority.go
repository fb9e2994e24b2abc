package evidence

import (
	"cmp"
	"math"
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
)

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
		at, servers := r.Faults[i].Struck, r.keptFrom(r.sc.Faults[i].Action)
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
func (r reading) keptFrom(a faults.Action) []string {
	form, _ := faults.Open(a)
	if !form.Class.Silences() {
		return nil
	}
	var out []string
	between, and := form.Sides()
	for _, side := range [][]string{between, and} {
		if r.onlyServers(side) {
			out = append(out, side...)
		}
	}
	for _, field := range form.Fields {
		if name, ok := field.Holds.(faults.Name); ok && r.isServer(*name.To) {
			out = append(out, *name.To)
		}
	}
	return out
}

// onlyServers says that there are names, and each is that of a server.
func (r reading) onlyServers(names []string) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !r.isServer(n) })
}
