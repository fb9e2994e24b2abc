package scenarios

import (
	"slices"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock"
)

// ReviewScenario is a scenario of the library, and what became of the lock in it.
type ReviewScenario struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Catalogue []string `json:"catalogue,omitempty"`
	// Ground says how the scenario relates to what the lock promises.
	Ground ReviewGround `json:"ground"`
	// Classes are the classes of its faults.
	Classes []lock.Fault `json:"classes"`
	// Cells has one for each fencing mode.
	Cells []MatrixCell `json:"cells"`
}

// ReviewGround is how a scenario relates to what a lock promises.
type ReviewGround string

// The grounds.
const (
	// GroundPromised is a scenario within the promise.
	GroundPromised ReviewGround = "promised"
	// GroundSeveralWrites is one whose sections write more than once. No promise
	// about data speaks of them: fencing is not atomicity (F73).
	GroundSeveralWrites ReviewGround = "several-writes"
	// GroundOutside is any other: with a fault that the promise does not name, or
	// with clients that use the lock against its terms.
	GroundOutside ReviewGround = "outside"
)

// ReviewGrounds are all of them, in the order in which a review shows them.
func ReviewGrounds() []ReviewGround {
	return []ReviewGround{GroundPromised, GroundOutside, GroundSeveralWrites}
}

func newReviewScenario(sc *Scenario, l Lock, cells []MatrixCell) ReviewScenario {
	return ReviewScenario{Name: sc.Name, Title: sc.Title, Catalogue: sc.Catalogue, Ground: groundOf(sc, l),
		Classes: classesIn(sc.Faults), Cells: cells}
}

func groundOf(sc *Scenario, l Lock) ReviewGround {
	switch {
	case sc.Workload.Kind == WorkloadTransfer:
		return GroundSeveralWrites
	case sc.Lock.Owner == OwnerShared || !l.Promises(sc.Faults): // one id for all is against the terms (F31, F32)
		return GroundOutside
	}
	return GroundPromised
}

// classesIn are the classes of the faults of a schedule, each once.
func classesIn(schedule []faults.Fault) []lock.Fault {
	out := []lock.Fault{}
	for _, f := range schedule {
		if class := classIn(schedule, f.Action); class != "" && !slices.Contains(out, class) {
			out = append(out, class)
		}
	}
	return out
}

// harmful reports whether a cell shows a harm: wrong data, a lock that is stuck, or
// a rightful holder that was refused.
func harmful(label checker.Label) bool {
	return label == checker.Corrupted || label == checker.Stuck || label == checker.FalseReject
}
