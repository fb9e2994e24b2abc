package shrink

import (
	"slices"

	"locksim/faults"
	"locksim/scenarios/file"
)

// fewerFaults looks for a part of the schedule that fails: none of it, one fault,
// and then the rest after halves, quarters and in the end single faults are
// removed. Two faults may need each other, such as a crash and the restart: so
// pairs are removed as well, and tried alone.
func (m *minimizer) fewerFaults() {
	all := m.best.Faults
	if m.onlyFaults(nil) || m.oneFault(all) {
		return
	}
	m.dropFaults()
	if len(m.best.Faults) > 2 {
		m.pairOfFaults(all)
	}
	for m.dropPair() || m.joinPair() {
	}
}

func (m *minimizer) onlyFaults(schedule []faults.Fault) bool {
	return m.attempt(func(s *file.Scenario) { s.Faults = slices.Clone(schedule) })
}

func (m *minimizer) oneFault(all []faults.Fault) bool {
	if len(all) < 2 {
		return false
	}
	return slices.ContainsFunc(all, func(f faults.Fault) bool { return m.onlyFaults([]faults.Fault{f}) })
}

// pairOfFaults tries each pair of the faults alone, if there are few enough.
func (m *minimizer) pairOfFaults(all []faults.Fault) bool {
	const few = 12
	if len(all) > few {
		return false
	}
	for i, f := range all {
		for _, g := range all[i+1:] {
			if m.onlyFaults([]faults.Fault{f, g}) {
				return true
			}
		}
	}
	return false
}

// dropFaults removes smaller and smaller parts of the schedule, down to one fault.
func (m *minimizer) dropFaults() {
	for part := (len(m.best.Faults) + 1) / 2; part > 0; part /= 2 {
		for i := 0; i < len(m.best.Faults); {
			if !m.attempt(without(i, min(i+part, len(m.best.Faults)))) {
				i += part
			}
		}
	}
}

// dropPair removes two faults at once.
func (m *minimizer) dropPair() bool {
	n := len(m.best.Faults)
	for i := range n {
		for j := i + 1; j < n; j++ {
			if m.attempt(func(s *file.Scenario) { without(j, j+1)(s); without(i, i+1)(s) }) {
				return true
			}
		}
	}
	return false
}

// joinPair tries one fault that lasts as long as two of its kind together.
func (m *minimizer) joinPair() bool {
	for i, f := range m.best.Faults {
		for j, g := range m.best.Faults {
			if i != j && f.Action.Kind() == g.Action.Kind() && m.attempt(merged(i, j)) {
				return true
			}
		}
	}
	return false
}

// merged makes a fault longer by the length of another of its kind, and removes the
// other.
func merged(i, j int) func(*file.Scenario) {
	return func(s *file.Scenario) {
		for _, other := range partsOf[faults.Length](s.Faults[j].Action) {
			change(i, other.field, func(l faults.Length) { *l.To += *other.holds.To })(s)
		}
		without(j, j+1)(s)
	}
}

// without removes some faults from a schedule.
func without(from, to int) func(*file.Scenario) {
	return func(s *file.Scenario) { s.Faults = slices.Delete(s.Faults, from, to) }
}
