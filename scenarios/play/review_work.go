package play

import (
	"errors"
	"fmt"

	"locksim/internal/prose"
)

// ReviewOptions say how much is measured for a review.
type ReviewOptions struct {
	// Seeds are those of every cell of the matrix.
	Seeds Seeds
	// Runs is how many random schedules are tried within the promise. With every
	// fault there is, it is a fifth of that: each violation costs hundreds of
	// runs, until it is as small as it gets.
	Runs int
	// Extra are locks besides those that come with locksim.
	Extra []Lock
}

const (
	// reviewSwept is the scenario of the sweep: it has all that a lock is about,
	// and nothing of what only some locks can do.
	reviewSwept = "gc-pause"
	reviewSweep = "a sweep of " + reviewSwept
	// reviewPlacements is how many placements a sweep may have to be part of a
	// review: those of a lock on one node stay below.
	reviewPlacements = 2500
	// reviewAllShare is the part of the runs that are made with every fault.
	reviewAllShare = 5
)

// ReviewWork is what has to be run for a review. Each plan is nil where that part
// is not made; Missing says why.
type ReviewWork struct {
	Plan    ReviewPlan
	Matrix  *MatrixPlan
	Within  *ExplorePlan
	All     *ExplorePlan
	Sweep   *SweepPlan
	Missing []ReviewGap
}

// NewReviewWork finds out what has to be run. The errors are those of the plans, or
// of [Library]; that there is no scenario for the lock, or that it cannot be swept,
// is no error but a gap.
func NewReviewWork(l Lock, opts ReviewOptions) (*ReviewWork, error) {
	w := &ReviewWork{Plan: ReviewPlan{Lock: l.Name, Seeds: opts.Seeds, Runs: opts.Runs, AllRuns: max(opts.Runs/reviewAllShare, 1), Swept: reviewSwept}}
	return w, errors.Join(w.planMatrix(l, opts), w.planExplorations(l), w.planSweep(l, opts))
}

func (w *ReviewWork) planMatrix(l Lock, opts ReviewOptions) error {
	all, err := Library()
	if err != nil {
		return err
	}
	w.Matrix, err = NewMatrixPlan(MatrixOptions{Scenarios: all, Locks: []string{Literally(l.Name)}, Seeds: opts.Seeds, Extra: opts.Extra})
	if errors.Is(err, ErrEmptyMatrix) {
		w.missing("the scenarios of the library", "none of them is about this lock")
		return nil
	}
	return err
}

func (w *ReviewWork) planExplorations(l Lock) (err error) {
	if l.PromisesNothing() {
		w.missing("an exploration within the promise", "the lock promises nothing")
	} else if w.Within, err = NewExplorePlan(l, ExploreOptions{Runs: w.Plan.Runs, FirstSeed: 1, Judge: JudgePromise, Collect: CollectAll}); err != nil {
		return err
	}
	w.All, err = NewExplorePlan(l, ExploreOptions{Runs: w.Plan.AllRuns, FirstSeed: 1, Judge: JudgeEverything, Collect: CollectAll})
	return err
}

// planSweep plans a sweep by the promise, where there is one, if it is cheap.
func (w *ReviewWork) planSweep(l Lock, opts ReviewOptions) error {
	sc, err := Load(reviewSwept)
	if err != nil {
		return err
	}
	if l, err = FindLock(l.Name, opts.Extra); err != nil {
		return err
	}
	judge := JudgePromise
	if l.PromisesNothing() {
		judge = JudgeEverything
	}
	plan, err := NewSweepPlan(sc, l, SweepOptions{Seed: 1, Judge: judge})
	switch {
	case err != nil:
		w.missing(reviewSweep, err.Error())
	case plan.Placements > reviewPlacements:
		w.missing(reviewSweep, fmt.Sprintf("%s placements would take longer than all the rest; locksim sweep makes them", prose.Thousands(plan.Placements)))
	default:
		w.Sweep = plan
	}
	return nil
}

func (w *ReviewWork) missing(what, why string) {
	w.Missing = append(w.Missing, ReviewGap{what, why})
}
