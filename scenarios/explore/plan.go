package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"locksim/internal/prose"
	"locksim/lock"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// Version is the version of explorations as JSON.
const Version = 1

// blockRuns is the number of runs of a job: enough for a line in a journal, few
// enough that little is lost with a job.
const blockRuns = 100

// MaxRuns is the greatest number of runs of an exploration.
const MaxRuns = 100_000_000

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
	Judge Judge
	// Collect says whether the first failure ends the exploration.
	Collect Collect
}

// Judge is what an explored lock is judged by.
type Judge string

const (
	// JudgeEverything judges a lock as if it promised exclusion, liveness and right
	// data under every fault.
	JudgeEverything Judge = "everything"
	// JudgePromise judges a lock by its promise, under the faults that the promise
	// covers.
	JudgePromise Judge = "promise"
	// JudgeClaims judges whether two claims ever overlap, under every fault: see
	// [play.Lock.ClaimsAlone].
	JudgeClaims Judge = "claims"
)

// Judges lists them. The caller owns the slice.
func Judges() []Judge { return []Judge{JudgeEverything, JudgePromise, JudgeClaims} }

// Of is the lock as it is judged: with or without its promise.
func (j Judge) Of(l play.Lock) play.Lock {
	switch j {
	case JudgeEverything:
		return l.DutiesAlone()
	case JudgeClaims:
		return l.ClaimsAlone()
	}
	return l
}

// Flag is the flag of the commands explore and sweep for it, "" for JudgeEverything.
func (j Judge) Flag() string {
	if j == JudgeEverything {
		return ""
	}
	return "--" + string(j)
}

// String is "judged by its own promise, under the faults that it names".
func (j Judge) String() string {
	switch j {
	case JudgePromise:
		return "judged by its own promise, under the faults that it names"
	case JudgeClaims:
		return "judged by its claims alone, which must never overlap, under every fault"
	}
	return "judged as if it promised that all goes well under every fault"
}

// Validate refuses an unknown word.
func (j Judge) Validate() error {
	if slices.Contains(Judges(), j) {
		return nil
	}
	return fmt.Errorf("a lock is judged by %q: say %s, %s or %s", string(j), string(JudgeEverything), string(JudgePromise), string(JudgeClaims))
}

// Collect is how many failures an exploration looks for.
type Collect string

const (
	// CollectFirst ends the exploration with the first run that fails.
	CollectFirst Collect = "first"
	// CollectAll makes all runs, also after failures.
	CollectAll Collect = "all"
)

// Plan is everything that decides the result of an exploration, as a value that can
// be stored and sent. It has no defaults.
type Plan struct {
	// Lock is the name of the lock.
	Lock  string       `json:"lock"`
	Space spaces.Space `json:"space"`
	// Asked has what the user chose of the space.
	Asked   *spaces.Space `json:"asked,omitempty"`
	Judge   Judge         `json:"judge"`
	Collect Collect       `json:"collect"`
	// Runs counts the runs in all.
	Runs int `json:"runs" jsonschema:"minimum=1"`
	// FirstSeed is the seed of the first run. Each run has the next one.
	FirstSeed uint64 `json:"first_seed"`
	// Block is the number of runs of a job. The last one may have fewer.
	Block int `json:"block" jsonschema:"minimum=1"`
}

// NewPlan finds out what is to be drawn for a lock, from a run without faults. The
// errors are about the options, or say that the lock fails in that run.
func NewPlan(l play.Lock, opts Options) (*Plan, error) {
	opts.Space.Lock, opts.Space.Faults, opts.Space.Kinds = "", nil, nil
	p := &Plan{Lock: l.Name, Judge: opts.Judge, Collect: opts.Collect,
		Runs: opts.Runs, FirstSeed: opts.FirstSeed, Block: blockRuns}
	classes, kinds, err := spaces.NamedFaults(opts.Faults)
	if err != nil {
		return nil, err
	}
	asked := spaces.Space{Faults: append([]lock.Fault{}, classes...), Kinds: kinds}
	if err := errors.Join(l.Validate(), p.problem(), promised(l, opts.Judge, asked)); err != nil {
		return nil, err
	}
	l = p.Judge.Of(l)
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
	p.Space = space.WithDefaults()
	return p, p.Space.Validate()
}

// promised refuses classes of fault that the promise does not cover.
func promised(l play.Lock, judge Judge, asked spaces.Space) error {
	if judge != JudgePromise {
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

// problem describes an invalid number or word of the plan.
func (p *Plan) problem() error {
	switch {
	case p.Runs < 1 || p.Runs > MaxRuns:
		return fmt.Errorf("%d runs: give a number from 1 to %d", p.Runs, MaxRuns)
	case p.FirstSeed > math.MaxUint64-uint64(p.Runs-1):
		return fmt.Errorf("%d runs from seed %d on: there are no seeds beyond %d", p.Runs, p.FirstSeed, uint64(math.MaxUint64))
	case p.Block < 1:
		return fmt.Errorf("%d runs to a job: there has to be one", p.Block)
	case p.Collect != CollectFirst && p.Collect != CollectAll:
		return fmt.Errorf("%q failures are collected: say %s or %s", p.Collect, CollectFirst, CollectAll)
	}
	return p.Judge.Validate()
}

// Jobs is the number of jobs of the plan.
func (p *Plan) Jobs() int { return (p.Runs + p.Block - 1) / p.Block }

// Job is one of the jobs, numbered from 0.
func (p *Plan) Job(i int) Job {
	first := p.FirstSeed + uint64(i*p.Block)
	runs := min(p.Block, p.Runs-i*p.Block)
	return Job{Plan: *p, Number: i, Seeds: outcome.Seeds{First: first, Last: first + uint64(runs-1)}}
}

// Classes are the classes of fault that may be drawn.
func (p *Plan) Classes() []lock.Fault { return p.Space.Classes() }

// ReadPlan reads a plan that was written as JSON. The error says what is invalid in
// it.
func ReadPlan(data []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("this is no plan of an exploration: %w", err)
	}
	if err := errors.Join(p.problem(), p.Space.Validate()); err != nil {
		return nil, fmt.Errorf("this plan of an exploration is invalid: %w", err)
	}
	return p, nil
}
