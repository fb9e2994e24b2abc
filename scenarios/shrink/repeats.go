package shrink

import (
	"locksim/faults"
	"locksim/scenarios/file"
)

// fewerStrikes lets each fault strike once, and for certain, or else less often.
func (m *minimizer) fewerStrikes() {
	for i := range m.best.Faults {
		m.attempt(strikes(i, func(f *faults.Fault) { f.Probability = 0 }))
		if m.best.Faults[i].Every == 0 || m.attempt(strikes(i, func(f *faults.Fault) { f.Every, f.Times = 0, 0 })) {
			continue
		}
		for times := 2; times < m.best.Faults[i].Most(); times *= 2 {
			if m.attempt(strikes(i, func(f *faults.Fault) { f.Times = times })) {
				break
			}
		}
	}
}

// strikes changes how often a fault strikes.
func strikes(i int, change func(*faults.Fault)) func(*file.Scenario) {
	return func(s *file.Scenario) { change(&s.Faults[i]) }
}
