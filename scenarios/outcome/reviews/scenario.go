package reviews

import (
	"slices"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/outcome/matrices"
)

// Scenario is a scenario of the library, and the result of the lock in it.
type Scenario struct {
	// Name is the name of the scenario.
	Name string `json:"name"`
	// Title is what the scenario is about.
	Title string `json:"title"`
	// Catalogue are the failure modes that the scenario shows, by their ids.
	Catalogue []string `json:"catalogue,omitempty" jsonschema:"pattern=^F[0-9][0-9]+$"`
	// Ground says how the scenario relates to what the lock promises.
	Ground Ground `json:"ground"`
	// Client says what its clients do wrong, so that no lock is to blame for a harm; empty
	// where they use the lock as they should.
	Client string `json:"client,omitempty"`
	// Classes are the classes of its faults.
	Classes []promise.Fault `json:"classes"`
	// Cells has one for each fencing mode.
	Cells []matrices.Cell `json:"cells"`
	// Replay is the command that runs it in all of them, with the seed that is
	// worst without a fence.
	Replay string `json:"replay"`
}

// Harmful reports whether a harm was done in any mode: the data wrong, the lock
// stuck, or a rightful holder refused.
func (s *Scenario) Harmful() bool {
	return slices.ContainsFunc(s.Cells, func(c matrices.Cell) bool { return harmful(c.Label) })
}

// Effect is the effect of a fencing mode, by the worst labels of all seeds.
func (s *Scenario) Effect(mode fence.Mode) FenceEffect {
	label := func(mode fence.Mode) checker.Label {
		i := slices.IndexFunc(s.Cells, func(c matrices.Cell) bool { return c.Mode == mode })
		if i < 0 {
			return checker.NotApplicable
		}
		return s.Cells[i].Label
	}
	if mode == fence.None {
		return NoFence
	}
	return EffectOf(label(fence.None), label(mode))
}

// Ground is how a scenario relates to what a lock promises.
type Ground string

// The grounds.
const (
	// GroundPromised is a scenario within the promise.
	GroundPromised Ground = "promised"
	// GroundSeveralWrites is one whose sections write more than once. No promise
	// about data covers them: fencing is not atomicity (F73).
	GroundSeveralWrites Ground = "several-writes"
	// GroundOutside is any other: with a fault that the promise does not name, or
	// with clients that use the lock against its terms.
	GroundOutside Ground = "outside"
)

// words is the ground in words, for the end of a sentence.
func (g Ground) words() string {
	switch g {
	case GroundPromised:
		return "within it"
	case GroundSeveralWrites:
		return "of several writes"
	}
	return "outside it"
}

// Grounds are all grounds, in the order in which a review shows them.
func Grounds() []Ground {
	return []Ground{GroundPromised, GroundOutside, GroundSeveralWrites}
}

// ClassesIn are the classes of the faults of a schedule, each once.
func ClassesIn(schedule []faults.Fault) []promise.Fault {
	out := []promise.Fault{}
	for _, f := range schedule {
		if class := faults.ClassIn(schedule, f.Action); class != "" && !slices.Contains(out, class) {
			out = append(out, class)
		}
	}
	return out
}

// harmful reports whether a label means harm: wrong data, a stuck lock, or a
// rightful holder that was refused.
func harmful(label checker.Label) bool {
	return label == checker.Corrupted || label == checker.Stuck || label == checker.FalseReject
}
