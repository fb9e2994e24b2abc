package matrix

import (
	"slices"

	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// Scenarios are the rows of the plan, in order. The caller owns the slice.
func (p *Plan) Scenarios() []*file.Scenario {
	var rows []*file.Scenario
	for i, pair := range p.pairs {
		if i == 0 || p.pairs[i-1].scenario != pair.scenario {
			rows = append(rows, pair.scenario)
		}
	}
	return rows
}

// Locks are the columns of the plan, in order, each as the first scenario has it
// that it takes part in. The caller owns the slice.
func (p *Plan) Locks() []play.Lock {
	var columns []play.Lock
	for _, pair := range p.pairs {
		if !slices.ContainsFunc(columns, func(l play.Lock) bool { return l.Name == pair.lock.Name }) {
			columns = append(columns, pair.lock)
		}
	}
	slices.SortFunc(columns, p.order)
	return columns
}
