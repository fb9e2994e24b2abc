package review

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"locksim/internal/prose"
	"locksim/lock"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
	"locksim/scenarios/sweep"
)

// Options say how much is measured for a review.
type Options struct {
	// Seeds are the seeds of every cell of the matrix.
	Seeds outcome.Seeds
	// Runs is the number of random schedules within the promise. The number with
	// every fault is a fifth of that: each violation costs hundreds of runs until
	// it is minimal.
	Runs int
	// Faults name the classes and kinds of fault that the explorations and the sweep
	// may use: see [spaces.NamedFaults]. Nil means every fault. Within the promise,
	// only those of them count that it covers.
	Faults []lock.Fault
	// Extra are locks that do not come with locksim.
	Extra []subject.Lock
}

const (
	// reviewSwept is the scenario of the sweep: every lock can play it.
	reviewSwept = "gc-pause"
	reviewSweep = "a sweep of " + reviewSwept
	// reviewPlacements is the greatest number of placements of a sweep in a review:
	// a lock on one node has fewer.
	reviewPlacements = 2500
	// reviewAllShare is the part of the runs that are made with every fault.
	reviewAllShare = 5
)

// Work is what has to be run for a review. Each plan is nil if that part is not
// made; Missing says why. As JSON it is everything that decides the result of a
// review; [ReadWork] reads that.
type Work struct {
	reviews.Plan
	Matrix  *matrix.Plan       `json:"matrix"`
	Within  *explorations.Plan `json:"within"`
	All     *explorations.Plan `json:"all"`
	Sweep   *sweeps.Plan       `json:"sweep"`
	Missing []reviews.Gap      `json:"missing"`
}

// NewWork finds out what has to be run. The errors are those of the plans, or of
// [file.Library]; a lock without a scenario, or one that cannot be swept, is no
// error but a gap.
func NewWork(l subject.Lock, opts Options) (*Work, error) {
	w := &Work{Plan: reviews.Plan{Lock: l.Name, Seeds: opts.Seeds, Runs: opts.Runs,
		AllRuns: max(opts.Runs/reviewAllShare, 1), Swept: reviewSwept}}
	if classes, kinds, err := spaces.NamedFaults(opts.Faults); err != nil {
		return nil, err
	} else if classes != nil {
		w.Plan.Faults = append([]string{}, kinds...)
		for i, class := range classes {
			w.Plan.Faults = slices.Insert(w.Plan.Faults, i, string(class))
		}
		w.missing("searches with other faults than "+cmp.Or(prose.Commas(w.Plan.Faults), spaces.NoFaults),
			"they were not asked for")
	}
	return w, errors.Join(w.planMatrix(l, opts), w.planExplorations(l, opts.Faults), w.planSweep(l, opts))
}

func (w *Work) planMatrix(l subject.Lock, opts Options) error {
	all, err := redislocks.Library(opts.Extra)
	if err != nil {
		return err
	}
	w.Matrix, err = matrix.NewPlan(matrix.Options{Scenarios: all, Locks: []string{matrix.Literally(l.Name)},
		Seeds: opts.Seeds, Extra: opts.Extra})
	if errors.Is(err, matrix.ErrEmptyMatrix) {
		w.missing("the scenarios of the library", "none of them is about this lock")
		return nil
	}
	return err
}

func (w *Work) planExplorations(l subject.Lock, named []lock.Fault) (err error) {
	const within = "an exploration within the promise"
	promised := slices.DeleteFunc(slices.Clone(named), func(name lock.Fault) bool { return !covers(l, name) })
	if l.PromisesNothing() {
		w.missing(within, "the lock promises nothing")
	} else if len(named) > 0 && len(promised) == 0 {
		w.missing(within, "the promise covers none of the faults that were asked for")
	} else if w.Within, err = explore.NewPlan(l, explore.Options{Runs: w.Plan.Runs, FirstSeed: 1, Faults: promised,
		Judge: explorations.JudgePromise, Collect: explorations.CollectAll}); err != nil {
		return err
	}
	w.All, err = explore.NewPlan(l, explore.Options{Runs: w.Plan.AllRuns, FirstSeed: 1, Faults: named,
		Judge: explorations.JudgeEverything, Collect: explorations.CollectAll})
	return err
}

// covers reports whether a promise covers all that a name means.
func covers(l subject.Lock, name lock.Fault) bool {
	classes, kinds, err := spaces.NamedFaults([]lock.Fault{name})
	return err == nil && !slices.ContainsFunc(spaces.Space{Faults: classes, Kinds: kinds}.Classes(),
		func(class lock.Fault) bool {
			return !slices.Contains(l.Promise.Exclusion, class)
		})
}

// planSweep plans a sweep, by the promise if there is one, if it is cheap.
func (w *Work) planSweep(l subject.Lock, opts Options) error {
	sc, err := file.Load(reviewSwept)
	if err != nil {
		return err
	}
	if l, err = redislocks.Find(l.Name, opts.Extra); err != nil {
		return err
	}
	judge := explorations.JudgePromise
	if l.PromisesNothing() {
		judge = explorations.JudgeEverything
	}
	plan, err := sweep.NewPlan(sc, l, sweep.Options{Seed: 1, Faults: opts.Faults, Judge: judge})
	switch {
	case err != nil:
		w.missing(reviewSweep, err.Error())
	case plan.Placements > reviewPlacements:
		w.missing(reviewSweep, fmt.Sprintf("%s placements would take longer than the rest of the review; locksim sweep "+
			"makes them", prose.Thousands(plan.Placements)))
	default:
		w.Sweep = plan
	}
	return nil
}

func (w *Work) missing(what, why string) {
	w.Missing = append(w.Missing, reviews.Gap{What: what, Why: why})
}

// ReadWork reads the work of a review that was written as JSON. extra are locks
// that do not come with locksim. The error says what is invalid in it.
func ReadWork(data []byte, extra []subject.Lock) (*Work, error) {
	var stored struct {
		reviews.Plan
		Matrix, Within, All, Sweep json.RawMessage
		Missing                    []reviews.Gap
	}
	if err := json.Unmarshal(data, &stored); err != nil {
		return nil, fmt.Errorf("this is no plan of a review: %w", err)
	}
	w := &Work{Plan: stored.Plan, Missing: stored.Missing}
	var errs [4]error
	if has(stored.Matrix) {
		w.Matrix, errs[0] = matrix.ReadPlan(stored.Matrix, extra)
	}
	if has(stored.Within) {
		w.Within, errs[1] = explorations.ReadPlan(stored.Within)
	}
	if has(stored.All) {
		w.All, errs[2] = explorations.ReadPlan(stored.All)
	}
	if has(stored.Sweep) {
		w.Sweep, errs[3] = sweeps.ReadPlan(stored.Sweep)
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("this plan of a review is invalid: %w", err)
	}
	if w.All == nil || w.Plan.Lock != w.All.Lock {
		return nil, errors.New("this plan of a review is invalid: it does not explore its lock")
	}
	return w, nil
}

func has(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
