package explore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"locksim/lock"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Exploration is what was found out about one lock by random schedules. As JSON,
// everything but Timing depends on the plan and on which blocks are there, and
// not on who made them.
type Exploration struct {
	// Version is the version of this format.
	Version int `json:"version"`
	// Kind says what the document is.
	Kind string `json:"kind"`
	Plan Plan   `json:"plan"`
	// Complete says whether every block is there, or every one up to that which
	// ended the exploration.
	Complete bool `json:"complete"`
	// Missing counts the blocks that are not there.
	Missing int `json:"missing"`
	// StoppedAt is the job that ended the exploration, if one did: later blocks
	// are no part of it.
	StoppedAt *int    `json:"stopped_at,omitempty"`
	Summary   Summary `json:"summary"`
	// Blocks are the results of the jobs, in order.
	Blocks []Block `json:"blocks"`
	Timing Timing  `json:"timing"`
}

// Kind is the kind of an exploration as JSON.
const Kind = "explore"

// Summary is what all blocks come to.
type Summary struct {
	search.Tally
	// RateBound is the highest rate of violations among runs that are evidence that
	// is consistent with what was seen, at 95 %, under this generator.
	RateBound float64 `json:"rate_bound_95" jsonschema:"maximum=1"`
	// VirtualSeconds is the virtual time of all runs.
	VirtualSeconds float64 `json:"virtual_seconds"`
	// Failures are those of different shapes, the commonest first, each examined.
	Failures search.Failures `json:"failures"`
	// Unexamined counts the runs with a violation that was not examined.
	Unexamined int `json:"unexamined"`
}

// Timing is what differs from run to run and from machine to machine.
type Timing struct {
	// WallSeconds is what it took on the wall clock.
	WallSeconds float64 `json:"wall_seconds"`
	// Made counts the runs that were made in that time: others were there already.
	Made int `json:"runs_made"`
	// Workers counts the processes that worked at the same time. It is 0 where
	// results were put together.
	Workers int `json:"workers"`
	// Shard is the part of the jobs that was done, as k/n. It is absent where that
	// was all of them.
	Shard string `json:"shard,omitempty" jsonschema:"pattern=^[0-9]+/[0-9]+$"`
	// Go is the version of Go that the hashes hold for.
	Go string `json:"go"`
	// Modules are the versions of the modules that a trace depends on, by module
	// path. They are absent where the program does not know them.
	Modules map[string]string `json:"modules,omitempty"`
}

// NewTiming has the versions of Go and of the modules, and nothing else.
func NewTiming() Timing {
	return Timing{Go: runtime.Version(), Modules: play.Modules()}
}

// AssembleExploration puts the blocks together that are there. The result has no
// timing yet.
func AssembleExploration(plan *Plan, blocks map[int]Block) *Exploration {
	e := &Exploration{Version: Version, Kind: Kind, Plan: *plan, Blocks: []Block{}}
	jobs := plan.Jobs()
	for _, i := range slices.Sorted(maps.Keys(blocks)) {
		b := blocks[i]
		e.Blocks = append(e.Blocks, b)
		if plan.Collect == CollectFirst && b.Ends() {
			e.StoppedAt, jobs = &i, i+1
			break
		}
	}
	e.Missing = jobs - len(e.Blocks)
	e.Complete = e.Missing == 0
	e.Summary = summarise(e.Blocks)
	return e
}

func summarise(blocks []Block) Summary {
	s := Summary{Failures: search.Failures{}}
	for _, b := range blocks {
		s.Add(b.Tally)
		s.Unexamined += b.Unexamined
		for _, f := range b.Failures {
			s.Failures.Add(f)
		}
	}
	s.RateBound = search.RateBound(s.Violating, s.Evidence)
	s.VirtualSeconds = s.Virtual.Seconds()
	slices.SortStableFunc(s.Failures, func(a, b search.Failure) int { return cmp.Compare(b.Runs, a.Runs) })
	return s
}

// Problems say why the result cannot be relied upon, in words: runs were not
// deterministic, or came to no end.
func (s *Summary) Problems() []string {
	var out []string
	if s.Unsteady != nil {
		out = append(out, fmt.Sprintf("seed %d: NOT DETERMINISTIC, as were %d runs in all: %s", s.Unsteady.Seed, s.Nondeterministic, s.Unsteady.Why))
	}
	if s.Broken != nil {
		out = append(out, fmt.Sprintf("seed %d: NO RESULT, as with %d runs in all: %s", s.Broken.Seed, s.Failed, s.Broken.Why))
	}
	return out
}

// Uncovered are the classes of fault that never struck, of all that could be
// drawn.
func (e *Exploration) Uncovered() (never []lock.Fault, all int) {
	classes := e.Plan.Classes()
	for _, class := range classes {
		if e.Summary.Classes[class] == 0 {
			never = append(never, class)
		}
	}
	return never, len(classes)
}

// JSON is the exploration as one indented document.
func (e *Exploration) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("write the exploration of %s as JSON: %w", e.Plan.Lock, err)
	}
	return b.Bytes(), nil
}
