package sweeps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"locksim/internal/prose"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
)

// Sweep is the result of placing faults in one scenario with one lock. As JSON,
// everything except Timing depends only on the plan and on which blocks exist, and
// not on the processes that made them.
type Sweep struct {
	// Version is the version of this format.
	Version int `json:"version"`
	// Kind is the kind of the document.
	Kind string `json:"kind"`
	Plan Plan   `json:"plan"`
	// Complete says whether every block exists.
	Complete bool `json:"complete"`
	// Missing counts the blocks that do not exist yet.
	Missing int     `json:"missing"`
	Summary Summary `json:"summary"`
	// Blocks are the results of the jobs, in order.
	Blocks []Block             `json:"blocks"`
	Timing explorations.Timing `json:"timing"`
}

// Kind is the kind of a sweep as JSON.
const Kind = "sweep"

// Summary is the sum of all blocks.
type Summary struct {
	Tally
	// Failures are the failures of different shapes, in the order in which they were found.
	Failures failure.Failures `json:"failures"`
}

// Assemble combines the existing blocks. examined are the results of the
// examinations, by their shapes. The result has no timing yet.
func Assemble(plan *Plan, blocks map[int]Block, examined map[string]*failure.Failure) *Sweep {
	s := &Sweep{Version: Version, Kind: Kind, Plan: *plan, Summary: Summary{Failures: failure.Failures{}},
		Blocks: []Block{}}
	for _, i := range slices.Sorted(maps.Keys(blocks)) {
		b := blocks[i]
		s.Blocks = append(s.Blocks, b)
		s.Summary.Add(b.Tally)
		for _, f := range b.Failures {
			if minimal := examined[f.Shape]; minimal != nil {
				runs, first := f.Runs, f.FirstSeed
				f = *minimal
				f.Runs, f.FirstSeed = runs, first
			}
			s.Summary.Failures.Add(f)
		}
	}
	s.Missing = plan.Jobs() - len(s.Blocks)
	s.Complete = s.Missing == 0
	return s
}

// Problem is why a result cannot be relied upon: a run was not deterministic, or did not end, or too many have no
// verdict. It is empty if the result can be relied upon.
func (sw *Sweep) Problem() string {
	s := &sw.Summary
	if s.Unsteady != nil {
		return fmt.Sprintf("%d runs were not deterministic; with %s: %s", s.Nondeterministic, s.Unsteady.Faults,
			s.Unsteady.Why)
	}
	for _, f := range s.Failures {
		if f.Same < f.Replays && kinds.Reserved(f.Lock) {
			return fmt.Sprintf("a violation replays %d times of %d: %s", f.Same, f.Replays, f.Divergence)
		}
	}
	if s.Broken != nil {
		return fmt.Sprintf("%d runs did not end; with %s: %s", s.Failed, s.Broken.Faults, s.Broken.Why)
	}
	return s.TooMany(sw.Plan.Runs())
}

// Statement says in a sentence what was covered and found: "1,108 placements of one
// fault at 300 boundaries: 2 classes of violation, smallest shown".
func (s *Sweep) Statement() string {
	n := &s.Summary
	text := outOf(n.Placements(), s.Plan.Placements) + " placements of one fault at " +
		prose.Thousands(s.Plan.Boundaries) + " boundaries"
	if s.Plan.Pairs > 0 {
		text += ", and " + outOf(n.Pairs, s.Plan.Pairs) + " pairs"
		if s.Plan.Pairs < s.Plan.AllPairs {
			text += ", a sample of " + prose.Thousands(s.Plan.AllPairs)
		}
	}
	switch len(n.Failures) {
	case 0:
		return text + ": no violation"
	case 1:
		return text + ": 1 class of violation, smallest shown"
	}
	return fmt.Sprintf("%s: %d classes of violation, smallest shown", text, len(n.Failures))
}

// outOf is "1,108", or "600 of 1,108" if some are missing.
func outOf(n, all int) string {
	if n == all {
		return prose.Thousands(all)
	}
	return prose.Thousands(n) + " of " + prose.Thousands(all)
}

// JSON is the sweep as one indented document.
func (s *Sweep) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("write the sweep of %s with %s as JSON: %w", s.Plan.Scenario, s.Plan.Lock, err)
	}
	return b.Bytes(), nil
}
