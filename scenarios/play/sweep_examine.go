package play

import (
	"fmt"
	"maps"
	"slices"
)

// SweepExamination is a violation of a sweep that is to be examined. It is a
// value that can be sent to another process.
//
// It takes hundreds of runs to make a violation as small as it gets, and most
// blocks have violations of the same few shapes. So a sweep examines the first
// of each shape when all blocks are there, rather than one of each block.
type SweepExamination struct {
	Plan SweepPlan `json:"plan"`
	// Shape is that of the violation, Of and Number are what was placed.
	Shape  string    `json:"shape"`
	Of     SweepPart `json:"of,omitempty"`
	Number int       `json:"number"`
}

// Examinations are what is to be examined: the first violation of each shape.
func (p *SweepPlan) Examinations(blocks map[int]SweepBlock) []SweepExamination {
	var out []SweepExamination
	seen := map[string]bool{}
	for _, i := range slices.Sorted(maps.Keys(blocks)) {
		for _, h := range blocks[i].Hits {
			if !seen[h.Shape] {
				out = append(out, SweepExamination{Plan: *p, Shape: h.Shape, Of: p.Job(i).Of, Number: h.Number})
			}
			seen[h.Shape] = true
		}
	}
	return out
}

// Play examines the violation. extra are locks besides those that come with
// locksim. Errors are those of [SweepJob.Play] and [Examine].
func (e SweepExamination) Play(extra []Lock) (*Found, error) {
	s := &sweeper{job: SweepJob{Plan: e.Plan}}
	if err := s.prepare(extra); err != nil {
		return nil, err
	}
	placed := s.placed(e.Of)(e.Number)
	f, err := Examine(s.lock, placed[0].scenario(s.calm, placed[1:]...), e.Plan.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s, to be examined: %w", e.Shape, err)
	}
	f.Outcome = nil
	if f.Run != nil {
		clear(f.Run.Timing.WallSeconds) // all else is the same on every machine
	}
	return f, nil
}
