package play

import "slices"

// Scenarios are the rows of the plan, in order. The caller owns the slice.
func (p *MatrixPlan) Scenarios() []*Scenario {
	var rows []*Scenario
	for i, pair := range p.pairs {
		if i == 0 || p.pairs[i-1].scenario != pair.scenario {
			rows = append(rows, pair.scenario)
		}
	}
	return rows
}

// Locks are the columns of the plan, in order, each as the first scenario has it
// that it takes part in. The caller owns the slice.
func (p *MatrixPlan) Locks() []Lock {
	var columns []Lock
	for _, pair := range p.pairs {
		if !slices.ContainsFunc(columns, func(l Lock) bool { return l.Name == pair.lock.Name }) {
			columns = append(columns, pair.lock)
		}
	}
	slices.SortFunc(columns, p.order)
	return columns
}
