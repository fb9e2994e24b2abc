package explore

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"locksim/internal/prose"
	"locksim/lock"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// blockRuns is the number of runs of a job: enough for a line in a journal, few
// enough that little is lost with a job.
const blockRuns = 100

// Options say what is explored. Runs has no default.
type Options struct {
	// Runs is the number of runs, FirstSeed the seed of the first.
	Runs      int
	FirstSeed uint64
	// Faults name the classes and kinds of fault that may strike: see
	// [spaces.NamedFaults]. Nil means all or, for a lock that is judged by its
	// promise, those that the promise covers.
	Faults []lock.Fault
	// Space narrows what else is drawn: each of its fields that is not zero, but for
	// the lock and the faults, which are above.
	Space spaces.Space
	// Judge is what the lock is judged by.
	Judge explorations.Judge
	// Collect says whether the first failure ends the exploration.
	Collect explorations.Collect
}

// NewPlan finds out what is to be drawn for a lock, from a run without faults. The
// errors are about the options, or say that the lock fails in that run.
func NewPlan(l subject.Lock, opts Options) (*explorations.Plan, error) {
	opts.Space.Lock, opts.Space.Faults, opts.Space.Kinds = "", nil, nil
	p := &explorations.Plan{Lock: l.Name, Judge: opts.Judge, Collect: opts.Collect,
		Runs: opts.Runs, FirstSeed: opts.FirstSeed, Block: blockRuns}
	classes, kinds, err := spaces.NamedFaults(opts.Faults)
	if err != nil {
		return nil, err
	}
	if p.Judge, err = JudgeOf(l, opts.Judge); err != nil {
		return nil, err
	}
	asked := spaces.Space{Faults: append([]lock.Fault{}, classes...), Kinds: kinds}
	if err := errors.Join(l.Validate(), p.Problem(), promised(l, p.Judge, asked)); err != nil {
		return nil, err
	}
	l = Judged(l, p.Judge)
	if !reflect.ValueOf(opts.Space).IsZero() {
		p.Asked = &opts.Space
	}
	space := opts.Space
	space.Faults, space.Kinds = classes, kinds
	space = search.For(l, space)
	if err := space.Validate(); err != nil {
		return nil, err
	}
	space, err = search.Discover(l, space)
	if err != nil {
		return nil, err
	}
	p.NotAsked, p.Noted = search.Unasked(l, space), search.Noted(l, space)
	p.Space = space.WithDefaults()
	return p, p.Space.Validate()
}

// promised refuses classes of fault that the promise does not cover.
func promised(l subject.Lock, judge explorations.Judge, asked spaces.Space) error {
	if judge != explorations.JudgePromise {
		return nil
	}
	if l.PromisesNothing() {
		return fmt.Errorf("lock %s promises nothing, and cannot be judged by its promise", l.Name)
	}
	for _, f := range asked.Classes() {
		if !slices.Contains(l.Promise.Exclusion, f) {
			return fmt.Errorf("lock %s promises nothing under %s: choose from %s", l.Name, f, prose.Commas(l.Promise.Exclusion))
		}
	}
	return nil
}

// JudgeOf is what a lock is judged by that is to be judged by j: one whose store is under test by its promise alone.
func JudgeOf(l subject.Lock, j explorations.Judge) (explorations.Judge, error) {
	switch {
	case !l.TestsFence():
		return j, nil
	case j == explorations.JudgeClaims:
		return "", fmt.Errorf("%s is a fence on trial, and is judged by its answers: leave the claims out", l.Name)
	}
	return explorations.JudgePromise, nil
}

// Judged is a lock as it is judged: with or without its promise.
func Judged(l subject.Lock, j explorations.Judge) subject.Lock {
	switch j {
	case explorations.JudgeEverything:
		return l.DutiesAlone()
	case explorations.JudgeClaims:
		return l.ClaimsAlone()
	}
	return l
}
