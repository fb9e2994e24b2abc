package grid

import (
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/outcome/matrices"
)

// Harm is the number of scenarios of a lock in which some seed shows harm, by fencing
// mode: the data corrupted, the lock stuck, a rightful holder refused. Data that was
// rescued does not count.
type Harm struct {
	Lock      string
	Scenarios int
	Modes     []HarmCount // in the order of the modes of the matrix
}

// HarmCount is the number of scenarios with harm in one mode. Ran says whether any was
// run.
type HarmCount struct {
	Mode fence.Mode
	N    int
	Ran  bool
}

// HarmNote says what a [Harm] counts, and what that does not mean.
const HarmNote = "In how many of its scenarios a lock came to harm, by fencing mode: the data corrupted, the lock " +
	"stuck, or a rightful holder refused, with one seed or more. The scenarios are made to do harm, so this compares, " +
	"and is no rate of failure."

var harms = []checker.Label{checker.Corrupted, checker.Stuck, checker.FalseReject}

// Harms are the counts of all locks, those of the specimens last.
func Harms(m *matrices.Matrix) []Harm {
	g := New(m)
	var locks, specimens []Harm
	for _, l := range m.Locks {
		h := Harm{Lock: l.Name}
		for _, mode := range m.Modes {
			h.Modes = append(h.Modes, HarmCount{Mode: mode})
		}
		for _, sc := range m.Scenarios {
			group := g.Group(sc.Name, l.Name)
			if len(group) > 0 {
				h.Scenarios++
			}
			for _, c := range group {
				i := slices.Index(m.Modes, c.Mode)
				if i < 0 || c.CellRuns == nil {
					continue
				}
				h.Modes[i].Ran = true
				if slices.Contains(harms, c.Label) {
					h.Modes[i].N++
				}
			}
		}
		if IsSpecimen(l.Name) {
			specimens = append(specimens, h)
			continue
		}
		locks = append(locks, h)
	}
	return append(locks, specimens...)
}
