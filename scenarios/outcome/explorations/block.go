package explorations

import (
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/tally"
)

// Block is the result of a job. It depends on the job alone.
type Block struct {
	// Job is the number of the job, Seeds are the seeds of its runs. In a block
	// that ends the exploration, the runs after the one that fails were not made.
	Job   int           `json:"job"`
	Seeds outcome.Seeds `json:"seeds"`
	tally.Tally
	// Courses counts the runs that are evidence and passed by their courses.
	Courses tally.Courses `json:"courses,omitempty"`
	// Failures are the failures that were examined: of each shape the one with the
	// fewest faults, and at most four in all.
	Failures failure.Failures `json:"failures,omitempty"`
	// Unexamined counts the runs with a violation of other shapes.
	Unexamined int `json:"unexamined,omitempty"`
}

// Ends reports whether a run of the block has failed: the lock broke its promise,
// the repetition of the run differed, or the run did not end.
func (b *Block) Ends() bool { return b.Violating+b.Nondeterministic+b.Failed > 0 }
