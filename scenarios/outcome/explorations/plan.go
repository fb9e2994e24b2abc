package explorations

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"locksim/lock/promise"
	"locksim/scenarios/outcome"
	"locksim/scenarios/spaces"
)

// Version is the version of explorations as JSON.
const Version = 1

// MaxRuns is the greatest number of runs of an exploration.
const MaxRuns = 100_000_000

// Judge is what an explored lock is judged by.
type Judge string

const (
	// JudgeEverything judges a lock as if it promised exclusion, liveness and right
	// data under every fault.
	JudgeEverything Judge = "everything"
	// JudgePromise judges a lock by its promise, under the faults that the promise
	// covers.
	JudgePromise Judge = "promise"
	// JudgeClaims judges whether two claims ever overlap, under every fault.
	JudgeClaims Judge = "claims"
)

// Judges lists them. The caller owns the slice.
func Judges() []Judge { return []Judge{JudgeEverything, JudgePromise, JudgeClaims} }

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
	return fmt.Errorf("a lock is judged by %q: say %s, %s or %s", string(j), string(JudgeEverything), string(JudgePromise),
		string(JudgeClaims))
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
	// NotAsked has in words what is not asked of the lock, since its promise does not have it.
	NotAsked []string `json:"not_asked,omitempty"`
	// Noted has in words what its users should know although it breaks no promise.
	Noted []string `json:"noted,omitempty"`
}

// Subject is what is judged: "lock single", "fence my-fence".
func (p *Plan) Subject() string { return outcome.Subject(p.Lock, p.Space.Lock, p.Space.Store) }

// Trial is "lock" or, where its store is under test, "fence".
func (p *Plan) Trial() string {
	if p.Space.Store != "" {
		return "fence"
	}
	return "lock"
}

// Tested says when a run is evidence, as the end of a sentence about runs.
func (p *Plan) Tested() string {
	if p.Space.Store != "" {
		return "tested the fence: it refused a stale operation, or a violation was seen"
	}
	return "tested the lock: a client kept another out and a fault was felt, or a violation was seen"
}

// Problem is what is invalid in a number or a word of the plan, the space left aside.
func (p *Plan) Problem() error {
	switch {
	case p.Runs < 1 || p.Runs > MaxRuns:
		return fmt.Errorf("%d runs: give a number from 1 to %d", p.Runs, MaxRuns)
	case p.FirstSeed > math.MaxUint64-uint64(p.Runs-1):
		return fmt.Errorf("%d runs from seed %d on: there are no seeds beyond %d", p.Runs, p.FirstSeed,
			uint64(math.MaxUint64))
	case p.Block < 1:
		return fmt.Errorf("%d runs to a job: there has to be one", p.Block)
	case p.Collect != CollectFirst && p.Collect != CollectAll:
		return fmt.Errorf("%q failures are collected: say %s or %s", p.Collect, CollectFirst, CollectAll)
	}
	return p.Judge.Validate()
}

// Jobs is the number of jobs of the plan.
func (p *Plan) Jobs() int { return (p.Runs + p.Block - 1) / p.Block }

// Classes are the classes of fault that may be drawn.
func (p *Plan) Classes() []promise.Fault { return p.Space.Classes() }

// ReadPlan reads a plan that was written as JSON. The error says what is invalid in
// it.
func ReadPlan(data []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("this is no plan of an exploration: %w", err)
	}
	if err := errors.Join(p.Problem(), p.Space.Validate()); err != nil {
		return nil, fmt.Errorf("this plan of an exploration is invalid: %w", err)
	}
	return p, nil
}
