package sweep

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"locksim/internal/prose"
	"locksim/scenarios/explore"
	"locksim/scenarios/search"
)

// Sweep is what was found out about one lock by placing faults in one scenario.
// As JSON, everything but Timing depends on the plan and on which blocks are
// there, and not on who made them.
type Sweep struct {
	Version int    `json:"version"`
	Kind    string `json:"kind"`
	Plan    Plan   `json:"plan"`
	// Complete says that every block is there. Missing counts those that are not.
	Complete bool    `json:"complete"`
	Missing  int     `json:"missing"`
	Summary  Summary `json:"summary"`
	// Blocks are the results of the jobs, in order.
	Blocks []Block        `json:"blocks"`
	Timing explore.Timing `json:"timing"`
}

// Name is the kind of a sweep as JSON.
const Name = "sweep"

// Summary is what all blocks come to.
type Summary struct {
	Tally
	// Classes are the violations by shape, in the order in which they were found.
	Classes []Class `json:"classes"`
	// Unsteady is the first run that came out differently when it was made
	// again, Broken the first that came to no end.
	Unsteady *Run `json:"unsteady,omitempty"`
	Broken   *Run `json:"broken,omitempty"`
}

// Class are violations that count as one.
type Class struct {
	Shape string `json:"shape"`
	// Runs counts those that had it. First is the fault with which it was found,
	// and Kinds are the kinds of that as [Kinds] names them.
	Runs  int      `json:"runs"`
	First string   `json:"first"`
	Kinds []string `json:"kinds"`
	// Shown is the smallest: the one with the fewest faults and the shortest
	// text. It is nil where none was examined.
	Shown *search.Found `json:"shown,omitempty"`
}

// AssembleSweep puts the blocks together that are there. found is what the
// [Plan.Examinations] have come to, by their shapes. The result has no
// timing yet.
func AssembleSweep(plan *Plan, blocks map[int]Block, found map[string]*search.Found) *Sweep {
	s := &Sweep{Version: Version, Kind: Name, Plan: *plan, Blocks: []Block{}}
	s.Summary.Classes = []Class{}
	for _, i := range slices.Sorted(maps.Keys(blocks)) {
		s.Blocks = append(s.Blocks, blocks[i])
		s.Summary.add(blocks[i], found)
	}
	s.Missing = plan.Jobs() - len(s.Blocks)
	s.Complete = s.Missing == 0
	return s
}

func (s *Summary) add(b Block, found map[string]*search.Found) {
	s.Add(b.Tally)
	s.Unsteady = cmp.Or(s.Unsteady, b.Unsteady)
	s.Broken = cmp.Or(s.Broken, b.Broken)
	for _, h := range b.Hits {
		s.hit(h, found[h.Shape])
	}
}

// hit counts a violation with those of its shape: that of the smallest run, once
// that is known.
func (s *Summary) hit(h Hit, found *search.Found) {
	shape := h.Shape
	if found != nil {
		shape = found.Shape
	}
	i := slices.IndexFunc(s.Classes, func(c Class) bool { return c.Shape == shape })
	if i < 0 {
		s.Classes = append(s.Classes, Class{Shape: shape, Runs: h.Runs, First: h.Faults, Kinds: h.Kinds, Shown: found})
		return
	}
	c := &s.Classes[i]
	c.Runs += h.Runs
	if found != nil && (c.Shown == nil || smaller(found, c.Shown)) {
		c.First, c.Kinds, c.Shown = h.Faults, h.Kinds, found
	}
}

// smaller compares two minimal runs.
func smaller(a, b *search.Found) bool {
	return cmp.Or(cmp.Compare(a.Faults, b.Faults), cmp.Compare(len(a.Run.Source), len(b.Run.Source))) < 0
}

// Problem is why a result cannot be relied upon: a run was not deterministic, or
// came to no end. It is empty where there is nothing to be said.
func (s *Summary) Problem() string {
	switch {
	case s.Unsteady != nil:
		return fmt.Sprintf("%d runs were not deterministic; with %s: %s", s.Nondeterministic, s.Unsteady.Faults, s.Unsteady.Why)
	case s.unsteadyClass() != nil:
		f := s.unsteadyClass()
		return fmt.Sprintf("a violation replays %d times of %d: %s", f.Same, f.Replays, f.Divergence)
	case s.Broken != nil:
		return fmt.Sprintf("%d runs came to no end; with %s: %s", s.Failed, s.Broken.Faults, s.Broken.Why)
	}
	return ""
}

// unsteadyClass is a violation that does not always replay, or nil.
func (s *Summary) unsteadyClass() *search.Found {
	for _, c := range s.Classes {
		if c.Shown != nil && c.Shown.Same < c.Shown.Replays {
			return c.Shown
		}
	}
	return nil
}

// Statement says in a sentence what was covered and what came of it: "1,108
// placements of one fault at 300 boundaries: 2 classes of violation, smallest
// shown".
func (s *Sweep) Statement() string {
	n := &s.Summary
	text := outOf(n.Placements, s.Plan.Placements) + " placements of one fault at " + prose.Thousands(s.Plan.Boundaries) + " boundaries"
	if s.Plan.Pairs > 0 {
		text += ", and " + outOf(n.Pairs, s.Plan.Pairs) + " pairs"
		if s.Plan.Pairs < s.Plan.AllPairs {
			text += ", a sample of " + prose.Thousands(s.Plan.AllPairs)
		}
	}
	switch len(n.Classes) {
	case 0:
		return text + ": no violation"
	case 1:
		return text + ": 1 class of violation, smallest shown"
	}
	return fmt.Sprintf("%s: %d classes of violation, smallest shown", text, len(n.Classes))
}

// outOf is "1,108", or "600 of 1,108" where some are missing.
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
