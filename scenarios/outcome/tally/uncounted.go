package tally

import (
	"fmt"

	"locksim/internal/prose"
)

// mostUnjudged is how many runs without a verdict a search bears at most, however many runs it makes.
const mostUnjudged = 10

// TooMany says why a search of so many runs has failed although it found nothing wrong: more than one run in a hundred,
// or more than ten, have no verdict, or more than one in a hundred came out differently when they were played again. It
// is "" if fewer are so.
func (t *Tally) TooMany(runs int) string {
	most := runs / 100
	if bears := min(most, mostUnjudged); t.NoVerdict > bears {
		return fmt.Sprintf("%s of %s without a verdict, where at most %d may be: the first is %s",
			prose.Thousands(t.NoVerdict), prose.Count(runs, "run"), bears, t.Unjudged)
	}
	if t.Differing > most {
		return fmt.Sprintf("%s of %s came out differently when played again, where at most %s may: the first is that with "+
			"%s\n%s",
			prose.Thousands(t.Differing), prose.Count(runs, "run"), prose.Thousands(most), t.Unequal.name(), t.Unequal.All)
	}
	return ""
}

// Uncounted says which runs a search has borne that say nothing about the lock, one sentence for each kind.
func (t *Tally) Uncounted() []string {
	var out []string
	if t.NoVerdict > 0 {
		out = append(out, fmt.Sprintf("%s had no verdict, and counts for nothing: the first is %s",
			prose.Count(t.NoVerdict, "run"), t.Unjudged))
	}
	if t.Differing > 0 {
		out = append(out, fmt.Sprintf("%s came out differently when played again, and counts for nothing: the first is %s",
			prose.Count(t.Differing, "run"), t.Unequal))
	}
	return out
}

// String is the run and what is wrong with it: "that with seed 7 (frozen: …)".
func (r *BadRun) String() string { return fmt.Sprintf("that with %s (%s)", r.name(), r.Why) }

// name tells the run from others of its search.
func (r *BadRun) name() string {
	if r.Faults != "" {
		return r.Faults
	}
	return fmt.Sprintf("seed %d", r.Seed)
}
