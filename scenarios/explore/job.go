package explore

import (
	"errors"
	"fmt"
	"slices"

	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Job is a part of an exploration that is done in one go. It is a value
// that can be sent to another process.
type Job struct {
	Plan   Plan `json:"plan"`
	Number int  `json:"number"`
	// Seeds are those of its runs.
	Seeds search.Seeds `json:"seeds"`
}

// Block is what became of a [Job]. It depends on the job alone.
type Block struct {
	// Job is the number of the job, Seeds are those of its runs. In a block that
	// ends the exploration, those behind the run that fails were not made.
	Job   int          `json:"job"`
	Seeds search.Seeds `json:"seeds"`
	search.Tally
	// Failures are the failures that were examined: of those that are alike the one
	// with the fewest faults, and no more than maxExamined of these.
	Failures search.Failures `json:"failures,omitempty"`
	// Unexamined counts the runs with a violation that is like none of these.
	Unexamined int `json:"unexamined,omitempty"`
}

// maxExamined bounds the failures of a block that are examined, which takes hundreds
// of runs each.
const maxExamined = 4

// Ends reports whether a run of the block has failed: the lock broke its promise,
// the run came out differently when it was made again, or it came to no end.
func (b *Block) Ends() bool { return b.Violating+b.Nondeterministic+b.Failed > 0 }

// Play makes the runs, and calls step after each of them. extra are locks besides
// those that come with locksim.
//
// That a run fails is no error. Errors are those of [play.FindLock], a plan that makes
// no sense, and a [*play.Frozen], after which the process is of no more use.
func (j Job) Play(extra []play.Lock, step func()) (Block, error) {
	b := Block{Job: j.Number, Seeds: j.Seeds}
	if err := errors.Join(j.Plan.problem(), j.Plan.Space.Validate()); err != nil {
		return b, err
	}
	l, err := play.FindLock(j.Plan.Lock, extra)
	if err != nil {
		return b, err
	}
	var failures search.Failures
	for t := range search.Trials(j.Plan.Judge.Of(l), search.Drawn(j.Plan.Space, j.Seeds)) {
		if err := t.Frozen(t.Err); err != nil {
			return b, err
		}
		b.Count(t)
		if len(t.Violations) > 0 {
			failures.Add(search.NewFailure(t))
		}
		step()
		if j.Plan.Collect == CollectFirst && b.Ends() {
			break
		}
	}
	return b, b.examine(failures, step)
}

// examine makes failures minimal: those with the fewest faults first, and among them
// those that no failure explains that is minimal already.
func (b *Block) examine(failures search.Failures, step func()) error {
	slices.SortStableFunc(failures, func(x, y search.Failure) int { return x.Faults - y.Faults })
	var minimal search.Failures
	for range min(maxExamined, len(failures)) {
		i := slices.IndexFunc(failures, func(f search.Failure) bool {
			return !slices.ContainsFunc(minimal, func(known search.Failure) bool { return known.Explains(&f) })
		})
		i = max(i, 0)
		f := failures[i]
		failures = slices.Delete(failures, i, i+1)
		c, err := f.Case(), f.Examine()
		if err := c.Frozen(err); err != nil {
			return err
		}
		if err != nil {
			b.CountFailed(c, err)
		} else {
			minimal = append(minimal, f)
			if f.Same < f.Replays {
				b.CountUnsteady(c, fmt.Sprintf("it replays %d times of %d\n%s", f.Same, f.Replays, f.Divergence))
			}
		}
		step()
	}
	for _, f := range minimal {
		b.Failures = append(b.Failures, f.Value())
	}
	for _, f := range failures {
		b.Unexamined += f.Runs
	}
	return nil
}
