package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"locksim/internal/prose"
	"locksim/lock"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Version is the version of explorations as JSON.
const Version = 1

// exploreBlock is how many runs one job of an exploration has: enough to be worth
// a line in a journal, few enough that little is lost with a job.
const exploreBlock = 100

// MaxExploreRuns bounds the runs of one exploration.
const MaxExploreRuns = 100_000_000

// Options say what is explored. Runs has no default.
type Options struct {
	// Runs is how many runs are made, FirstSeed the seed of the first of them.
	Runs      int
	FirstSeed uint64
	// Faults are the classes of fault that may strike. Nil means all or, for a
	// lock that is judged by its promise, those that it promises to stand.
	Faults []lock.Fault
	// Kinds are kinds of fault that may strike besides, by the names that scenario
	// files have for them.
	Kinds []string
	// Judge is what the lock is judged by.
	Judge Judge
	// Collect says whether the first failure is the end.
	Collect Collect
}

// Judge is what an explored lock is judged by.
type Judge string

const (
	// JudgeEverything judges a lock as if it promised that all goes well under
	// every fault.
	JudgeEverything Judge = "everything"
	// JudgePromise judges a lock by its promise, under the faults of which it
	// speaks.
	JudgePromise Judge = "promise"
)

// Of is the lock as it is judged: without its promise, or with it.
func (j Judge) Of(l play.Lock) play.Lock {
	if j == JudgeEverything {
		l.Promise = lock.Promise{}
	}
	return l
}

// Collect is how many failures an exploration looks for.
type Collect string

const (
	// CollectFirst ends the exploration with the first run that fails.
	CollectFirst Collect = "first"
	// CollectAll makes all runs, whatever becomes of them.
	CollectAll Collect = "all"
)

// Plan is all that decides what an exploration comes to, as a value that
// can be stored and sent. Nothing in it is left to defaults.
type Plan struct {
	// Lock is the name of the lock.
	Lock    string       `json:"lock"`
	Space   search.Space `json:"space"`
	Judge   Judge        `json:"judge"`
	Collect Collect      `json:"collect"`
	// Runs counts the runs in all.
	Runs int `json:"runs" jsonschema:"minimum=1"`
	// FirstSeed is the seed of the first run. Each run has the next one.
	FirstSeed uint64 `json:"first_seed"`
	// Block is how many runs a job has. The last one may have fewer.
	Block int `json:"block" jsonschema:"minimum=1"`
}

// NewPlan finds out what is to be drawn for a lock, from a run without
// faults. The errors are about the options, or say that the lock does not even
// get through that run.
func NewPlan(l play.Lock, opts Options) (*Plan, error) {
	p := &Plan{Lock: l.Name, Judge: opts.Judge, Collect: opts.Collect,
		Runs: opts.Runs, FirstSeed: opts.FirstSeed, Block: exploreBlock}
	if err := errors.Join(l.Validate(), p.problem(), promised(l, opts)); err != nil {
		return nil, err
	}
	l = p.Judge.Of(l)
	space := search.SpaceOf(l)
	if opts.Faults != nil {
		space.Faults = opts.Faults
	}
	space.Kinds = opts.Kinds
	if err := space.Validate(); err != nil {
		return nil, err
	}
	space, err := search.Discover(l, space)
	if err != nil {
		return nil, err
	}
	p.Space = space.WithDefaults()
	return p, p.Space.Validate()
}

// promised refuses to judge a lock by what it does not promise.
func promised(l play.Lock, opts Options) error {
	if opts.Judge != JudgePromise {
		return nil
	}
	if l.PromisesNothing() {
		return fmt.Errorf("lock %s promises nothing, and cannot be judged by its promise", l.Name)
	}
	asked := search.Space{Faults: append([]lock.Fault{}, opts.Faults...), Kinds: opts.Kinds}
	for _, f := range asked.Classes() {
		if !slices.Contains(l.Promise.Exclusion, f) {
			return fmt.Errorf("lock %s promises nothing under %s: choose from %s", l.Name, f, prose.Commas(l.Promise.Exclusion))
		}
	}
	return nil
}

// problem is what is wrong with the plan's numbers and words.
func (p *Plan) problem() error {
	switch {
	case p.Runs < 1 || p.Runs > MaxExploreRuns:
		return fmt.Errorf("%d runs: give a number from 1 to %d", p.Runs, MaxExploreRuns)
	case p.FirstSeed > math.MaxUint64-uint64(p.Runs-1):
		return fmt.Errorf("%d runs from seed %d on: there are no seeds beyond %d", p.Runs, p.FirstSeed, uint64(math.MaxUint64))
	case p.Block < 1:
		return fmt.Errorf("%d runs to a job: there has to be one", p.Block)
	case p.Judge != JudgeEverything && p.Judge != JudgePromise:
		return fmt.Errorf("a lock is judged by %q: say %s or %s", p.Judge, JudgeEverything, JudgePromise)
	case p.Collect != CollectFirst && p.Collect != CollectAll:
		return fmt.Errorf("%q failures are collected: say %s or %s", p.Collect, CollectFirst, CollectAll)
	}
	return nil
}

// Jobs is how many jobs the plan has.
func (p *Plan) Jobs() int { return (p.Runs + p.Block - 1) / p.Block }

// Job is one of the jobs, numbered from 0.
func (p *Plan) Job(i int) Job {
	first := p.FirstSeed + uint64(i*p.Block)
	runs := min(p.Block, p.Runs-i*p.Block)
	return Job{Plan: *p, Number: i, Seeds: search.Seeds{First: first, Last: first + uint64(runs-1)}}
}

// Classes are the classes of fault that may be drawn.
func (p *Plan) Classes() []lock.Fault { return p.Space.Classes() }

// ReadPlan reads a plan that was written as JSON. The error says what
// makes no sense about it.
func ReadPlan(data []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("this is no plan of an exploration: %w", err)
	}
	if err := errors.Join(p.problem(), p.Space.Validate()); err != nil {
		return nil, fmt.Errorf("this plan of an exploration makes no sense: %w", err)
	}
	return p, nil
}
