package explorations

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"locksim/lock/promise"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/outcome/triage"
)

// Exploration is the result of random schedules for one lock. As JSON, everything
// except Timing depends only on the plan and on which blocks exist, and not on the
// processes that made them.
type Exploration struct {
	// Version is the version of this format.
	Version int `json:"version"`
	// Kind is the kind of the document.
	Kind string `json:"kind"`
	Plan Plan   `json:"plan"`
	// Complete says whether every block exists, or every block up to the one that
	// ended the exploration.
	Complete bool `json:"complete"`
	// Missing counts the blocks that do not exist yet.
	Missing int `json:"missing"`
	// StoppedAt is the job that ended the exploration, if one did: later blocks
	// are no part of it.
	StoppedAt *int    `json:"stopped_at,omitempty"`
	Summary   Summary `json:"summary"`
	// Triage says which violations are new, still there, back or gone since the explorations that a folder knows. It is
	// absent if they were not compared.
	Triage *triage.Subject `json:"triage,omitempty"`
	// Blocks are the results of the jobs, in order.
	Blocks []Block `json:"blocks"`
	Timing Timing  `json:"timing"`
}

// Kind is the kind of an exploration as JSON.
const Kind = "explore"

// Summary is the sum of all blocks.
type Summary struct {
	tally.Tally
	// RateBound is the highest rate of violations among runs that are evidence with
	// which the result is consistent at 95 %, under this generator.
	RateBound float64 `json:"rate_bound_95" jsonschema:"maximum=1"`
	// Novelty is an estimate of how much the runs have not seen. It is absent if no run
	// is evidence, or if a run violates the promise, differs when repeated, or does not
	// end.
	Novelty *tally.Novelty `json:"novelty,omitempty"`
	// VirtualSeconds is the virtual time of all runs.
	VirtualSeconds float64 `json:"virtual_seconds"`
	// Failures are the examined failures, one of each shape, the most frequent first.
	Failures failure.Failures `json:"failures"`
	// Unexamined counts the runs with a violation that was not examined.
	Unexamined int `json:"unexamined"`
}

// Timing has the values that differ from run to run and from machine to machine.
type Timing struct {
	// WallSeconds is the time on the wall clock.
	WallSeconds float64 `json:"wall_seconds"`
	// Made counts the runs that were made in that time; others existed already.
	Made int `json:"runs_made"`
	// Workers counts the processes that worked at the same time. It is 0 for
	// results that were combined.
	Workers int `json:"workers"`
	// Shard is the part of the jobs that was done, as k/n. It is absent if all of
	// them were.
	Shard string `json:"shard,omitempty" jsonschema:"pattern=^[0-9]+/[0-9]+$"`
	// Go is the version of Go for which the hashes are valid.
	Go string `json:"go"`
	// Modules are the versions of the modules that a trace depends on, by module
	// path. They are absent if the program has no build information.
	Modules map[string]string `json:"modules,omitempty"`
}

// NewTiming has the versions of Go and of the modules, and nothing else.
func NewTiming() Timing {
	return Timing{Go: runtime.Version(), Modules: outcome.Modules()}
}

// Assemble combines the existing blocks. The result has no timing yet.
func Assemble(plan *Plan, blocks map[int]Block) *Exploration {
	e := &Exploration{Version: Version, Kind: Kind, Plan: *plan, Blocks: []Block{}}
	jobs := plan.Jobs()
	var many tally.Tally
	for _, i := range slices.Sorted(maps.Keys(blocks)) {
		b := blocks[i]
		e.Blocks = append(e.Blocks, b)
		many.Add(tally.Tally{NoVerdict: b.NoVerdict, Unjudged: b.Unjudged, Differing: b.Differing, Unequal: b.Unequal})
		if plan.Collect == CollectFirst && b.Ends() || many.TooMany(plan.Runs) != "" {
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
	s := Summary{Failures: failure.Failures{}}
	var courses tally.Courses
	for _, b := range blocks {
		s.Add(b.Tally)
		courses.Add(b.Courses)
		s.Unexamined += b.Unexamined
		for _, f := range b.Failures {
			s.Failures.Add(f)
		}
	}
	s.RateBound = tally.RateBound(s.Violating, s.Evidence)
	if s.Evidence > 0 && s.Violating+s.Nondeterministic+s.Failed == 0 {
		novelty := courses.Novelty()
		s.Novelty = &novelty
	}
	s.VirtualSeconds = s.Virtual.Seconds()
	slices.SortStableFunc(s.Failures, func(a, b failure.Failure) int { return cmp.Compare(b.Runs, a.Runs) })
	return s
}

// Problems say why the result cannot be relied upon: runs were not deterministic,
// did not end, or too many have no verdict.
func (e *Exploration) Problems() []string {
	s := &e.Summary
	var out []string
	if s.Unsteady != nil {
		out = append(out, fmt.Sprintf("seed %d: NOT DETERMINISTIC, as were %d runs in all: %s", s.Unsteady.Seed,
			s.Nondeterministic, s.Unsteady.Why))
	}
	if s.Broken != nil {
		out = append(out, fmt.Sprintf("seed %d: NO RESULT, as with %d runs in all: %s", s.Broken.Seed, s.Failed,
			s.Broken.Why))
	}
	if many := s.TooMany(e.Plan.Runs); many != "" {
		out = append(out, "NO RESULT: "+many)
	}
	return out
}

// Uncovered are the classes of fault that never struck, of all that could be
// drawn.
func (e *Exploration) Uncovered() (never []promise.Fault, all int) {
	classes := e.Plan.Classes()
	for _, class := range classes {
		if e.Summary.Classes[class].Struck == 0 {
			never = append(never, class)
		}
	}
	return never, len(classes)
}

// Unfelt are the classes of fault that struck and were never felt in a run that is
// evidence: the exploration says nothing about them.
func (e *Exploration) Unfelt() []promise.Fault {
	var out []promise.Fault
	for _, class := range e.Plan.Classes() {
		if n := e.Summary.Classes[class]; n.Struck > 0 && n.Evidence == 0 {
			out = append(out, class)
		}
	}
	return out
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
