package sweeps

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"locksim/lock/promise"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/spaces"
)

// Version is the version of sweeps as JSON.
const Version = 1

// Plan is everything that decides the result of a sweep, as a value that can be
// stored and sent.
type Plan struct {
	// Scenario is the name of the scenario.
	Scenario string `json:"scenario"`
	// Source is the text of the scenario without its faults.
	Source string `json:"source"`
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Seed is the seed of every run.
	Seed uint64 `json:"seed"`
	// Faults are the classes of fault that are placed. Null means those of [placing.Kinds]
	// that are placed unasked.
	Faults []promise.Fault `json:"faults" jsonschema:"nullable"`
	// Kinds are kinds of fault that are placed in addition, by their names in
	// scenario files.
	Kinds []string           `json:"kinds,omitempty" jsonschema:"minItems=1"`
	Judge explorations.Judge `json:"judge"`
	// TTL is the TTL of the lock, by which faults are measured, in nanoseconds.
	TTL time.Duration `json:"ttl"`
	// TraceHash is the hash of the run without faults, whose boundaries are used.
	TraceHash string `json:"trace_hash" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Boundaries counts the moments at which faults are placed.
	Boundaries int `json:"boundaries"`
	// Placements counts the placements of one fault.
	Placements int `json:"placements"`
	// Equivalent counts the placements that are left out since a fault finds its
	// target there in the same state as in another placement.
	Equivalent int `json:"equivalent"`
	// Idle counts the jumps of client clocks that are left out since the client
	// never reads its clock.
	Idle int `json:"idle"`
	// Pairs counts the pairs of placements that are tried.
	Pairs int `json:"pairs"`
	// AllPairs counts all possible pairs.
	AllPairs int `json:"all_pairs"`
	// Block is the number of runs of a job. Some have fewer.
	Block int `json:"block" jsonschema:"minimum=1"`
}

// Problem is what is invalid in a word or a number of the plan.
func (p *Plan) Problem() error {
	switch {
	case p.Block < 1:
		return fmt.Errorf("%d runs to a job: there has to be one", p.Block)
	case p.Faults != nil && len(p.Faults)+len(p.Kinds) == 0:
		return errors.New("a sweep without faults has nothing to place: name some")
	case p.Placements < 0 || p.Pairs < 0:
		return fmt.Errorf("%d placements and %d pairs: there are no fewer than 0", p.Placements, p.Pairs)
	}
	return errors.Join(p.Judge.Validate(), spaces.Space{Faults: p.Faults, Kinds: p.Kinds}.Validate())
}

// Jobs is the number of jobs of the plan: those of the placements, then those of
// the pairs.
func (p *Plan) Jobs() int { return p.Blocks(p.Placements) + p.Blocks(p.Pairs) }

// Blocks is the number of jobs that so many runs take.
func (p *Plan) Blocks(n int) int { return (n + p.Block - 1) / p.Block }

// ReadPlan reads a plan that was written as JSON. The error says what is invalid in
// it.
func ReadPlan(data []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("this is no plan of a sweep: %w", err)
	}
	if err := p.Problem(); err != nil {
		return nil, fmt.Errorf("this plan of a sweep is invalid: %w", err)
	}
	return p, nil
}
