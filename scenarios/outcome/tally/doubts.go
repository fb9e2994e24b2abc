package tally

import (
	"fmt"

	"locksim/internal/prose"
)

// mostUnjudged is how many runs without a verdict a search bears at most, however many runs it makes.
const mostUnjudged = 10

// TooMany says why a search of so many runs has failed although it found nothing wrong: more than one run in a hundred,
// or more than ten, have no verdict. It is "" if fewer are so.
func (t *Tally) TooMany(runs int) string {
	if most := min(runs/100, mostUnjudged); t.NoVerdict > most {
		return fmt.Sprintf("%s of %s without a verdict, where at most %d may be: the first is %s",
			prose.Thousands(t.NoVerdict), prose.Count(runs, "run"), most, t.Unjudged)
	}
	return ""
}

// Doubts say which runs a search has borne that say nothing about the lock, one sentence for each kind.
func (t *Tally) Doubts() []string {
	if t.NoVerdict == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s had no verdict, and counts for nothing: the first is %s", prose.Count(t.NoVerdict, "run"), t.Unjudged)}
}

// String is the run and what is wrong with it: "that with seed 7 (frozen: …)".
func (r *BadRun) String() string {
	if r.Faults != "" {
		return fmt.Sprintf("that with %s (%s)", r.Faults, r.Why)
	}
	return fmt.Sprintf("that with seed %d (%s)", r.Seed, r.Why)
}
