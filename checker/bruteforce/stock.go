package bruteforce

import "locksim/checker"

// "Oversold counts, with Stock, the units that the acknowledged writes of a cell took, Each by each, beyond its Units."
func oversold(h checker.History) (units int) {
	if h.Stock == nil {
		return 0
	}
	left := map[checker.Cell]int{}
	for cell := range h.Final {
		left[cell] = h.Stock.Units
	}
	for _, o := range h.Ops {
		if o.Kind != checker.Write || o.Outcome != checker.OutcomeOK {
			continue
		}
		cell := checker.Cell{Resource: o.Resource, Register: o.Register}
		for range h.Stock.Each { // unit by unit
			if left[cell]--; left[cell] < 0 {
				units++
			}
		}
	}
	return units
}
