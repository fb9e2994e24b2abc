package review

import (
	"cmp"
	"slices"

	"locksim/checker"
	"locksim/lock"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/search"
	"locksim/scenarios/sweep"
)

// Break is one way in which a lock was broken, and what each fence made of
// it.
type Break struct {
	Shape string        `json:"shape"`
	From  From          `json:"from"`
	Label checker.Label `json:"label"`
	// Runs of Of runs broke the lock like this; Of are those that are evidence
	// or, in a sweep, all.
	Runs int `json:"runs"`
	Of   int `json:"of"`
	// Classes are the classes of its faults.
	Classes []lock.Fault `json:"classes"`
	// Kinds are the kinds of fault by which a sweep found it.
	Kinds []string `json:"kinds,omitempty"`
	// Found is the smallest run.
	Found *search.Found `json:"found"`
	// Fences are the same run, made in each fencing mode; empty before they are
	// made. Replay is the command that finds the break again.
	Fences []Fence `json:"fences"`
	Replay string  `json:"replay"`
}

// From is where a break was found.
type From string

// The places where breaks are found.
const (
	FromPromise From = "exploration within the promise"
	FromAll     From = "exploration with every fault"
	FromSweep   From = "sweep"
)

// Breaks are the ways in which a lock was broken in the parts of a review,
// each shape once: those within its promise first, then the worst, those with the
// fewest faults, and the commonest first. replay is the command that finds one
// again.
func Breaks(p Parts, replay func(Break) string) []Break {
	all := slices.Concat(exploredBreaks(FromPromise, p.Within), exploredBreaks(FromAll, p.All), sweptBreaks(p.Sweep))
	out := []Break{}
	for _, b := range all {
		if slices.ContainsFunc(out, func(o Break) bool { return o.Shape == b.Shape }) {
			continue
		}
		b.Replay = replay(b)
		out = append(out, b)
	}
	slices.SortStableFunc(out, func(a, b Break) int {
		return cmp.Or(cmp.Compare(outside(a), outside(b)), cmp.Compare(b.Label.Severity(), a.Label.Severity()),
			cmp.Compare(a.Found.Faults, b.Found.Faults), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Shape, b.Shape))
	})
	return out
}

func outside(b Break) int { return reviewOneIf(b.From == FromAll) }

func exploredBreaks(from From, e *explore.Exploration) []Break {
	if e == nil {
		return nil
	}
	var out []Break
	for _, d := range e.Summary.Distinct {
		out = append(out, newReviewBreak(from, d.Shape, d.Runs, e.Summary.NonVacuous, d.Shown)...)
	}
	return out
}

func sweptBreaks(s *sweep.Sweep) []Break {
	if s == nil {
		return nil
	}
	var out []Break
	for _, c := range s.Summary.Classes {
		for _, b := range newReviewBreak(FromSweep, c.Shape, c.Runs, s.Summary.Placements, c.Shown) {
			b.Kinds = c.Kinds
			out = append(out, b)
		}
	}
	return out
}

// newReviewBreak is a break, or none where a run only came out differently.
func newReviewBreak(from From, shape string, runs, of int, f *search.Found) []Break {
	if f == nil || f.Run == nil || len(f.Violations) == 0 {
		return nil
	}
	f.Run.Timing.WallSeconds = nil
	b := Break{Shape: shape, From: from, Label: f.Violations[0].Label, Runs: runs, Of: of, Found: f, Classes: []lock.Fault{}, Fences: []Fence{}}
	if sc, err := file.Parse(f.Run.File, []byte(f.Run.Source)); err == nil {
		b.Classes = classesIn(sc.Faults)
	}
	return []Break{b}
}
