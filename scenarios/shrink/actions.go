package shrink

import (
	"slices"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// plainFaults makes each fault as plain as possible: words get their defaults,
// which a file leaves out, a count becomes 1, and each side of a cut has one
// process.
func (m *minimizer) plainFaults() {
	for i := range m.best.Faults {
		for _, p := range partsOf[faults.Word](m.best.Faults[i].Action) {
			m.attempt(change(i, p.field, func(w faults.Word) { *w.To = "" }))
		}
		for _, p := range partsOf[faults.Count](m.best.Faults[i].Action) {
			m.attempt(change(i, p.field, func(c faults.Count) { *c.To = 0 }))
		}
		for _, p := range partsOf[faults.Names](m.best.Faults[i].Action) {
			m.fewerNames(i, p)
		}
	}
}

// fewerNames looks for one name that is enough in a list, or removes as many as
// possible.
func (m *minimizer) fewerNames(i int, p part[faults.Names]) {
	list := func(names []string) func(*file.Scenario) {
		return change(i, p.field, func(n faults.Names) { *n.To = names })
	}
	for _, names := range m.insteadOf(p.holds) {
		if m.attempt(list(names)) {
			return
		}
	}
	names := *p.holds.To
	for j := len(names) - 1; j >= 0 && len(names) > 2; j-- {
		if fewer := slices.Delete(slices.Clone(names), j, j+1); m.attempt(list(fewer)) {
			names = fewer
		}
	}
}

// insteadOf are lists that are simpler than n's. An empty list means all names: it
// is simpler in a list of clients that learn of a new primary, while one process is
// simpler on a side of a cut.
func (m *minimizer) insteadOf(n faults.Names) [][]string {
	var lists [][]string
	names := *n.To
	switch {
	case n.Side == faults.NoSide && len(names) > 0:
		lists = append(lists, nil)
	case n.Side == faults.Far && len(names) == 0:
		names = append(m.best.RedisNodes(), trace.Store)
	}
	if len(names) > 1 {
		for _, name := range names {
			lists = append(lists, []string{name})
		}
	}
	return lists
}
