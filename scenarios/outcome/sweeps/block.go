package sweeps

import (
	"maps"

	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/tally"
)

// Part is one of the two parts of a sweep.
type Part string

const (
	// Singles are the placements, one fault each.
	Singles Part = ""
	// Pairs are pairs of them.
	Pairs Part = "pairs"
)

// Block is the result of a job. It depends on the job alone.
type Block struct {
	// Job is the number of the job.
	Job int `json:"job"`
	Tally
	// Failures are the failures of different shapes. None is examined.
	Failures failure.Failures `json:"failures,omitempty"`
}

// Tally counts the runs of a sweep. A run is evidence only if every fault that was
// placed struck.
type Tally struct {
	tally.Tally
	// Pairs counts the runs with two placements; all others have one.
	Pairs int `json:"pairs"`
	// Reduced counts the pairs of which one placement alone does the same: their
	// violations are not counted.
	Reduced int `json:"reduced"`
	// Kinds counts the placements of the runs with one by kind, as [placing.Kinds] names them.
	Kinds map[string]tally.FaultTally `json:"kinds,omitempty"`
}

// Placements counts the runs with one placement.
func (t *Tally) Placements() int { return t.Runs - t.Pairs }

// Struck counts the runs in which every fault struck.
func (t *Tally) Struck() int { return t.Runs - t.Vacuous[tally.Missed] }

// VacuousStruck counts the runs that are no evidence although every fault struck, by
// the reason.
func (t *Tally) VacuousStruck() map[string]int {
	out := maps.Clone(t.Vacuous)
	delete(out, tally.Missed)
	return out
}

// Add adds the tally of later runs.
func (t *Tally) Add(later Tally) {
	t.Tally.Add(later.Tally)
	t.Pairs += later.Pairs
	t.Reduced += later.Reduced
	t.Kinds = tally.AddTallies(t.Kinds, later.Kinds)
}
