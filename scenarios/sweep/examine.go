package sweep

import (
	"fmt"
	"maps"
	"slices"

	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Examination is a violation of a sweep that is to be examined. It is a
// value that can be sent to another process.
//
// It takes hundreds of runs to make a violation as small as it gets, and most
// blocks have violations of the same few shapes. So a sweep examines the first
// of each shape when all blocks are there, rather than one of each block.
type Examination struct {
	Plan Plan `json:"plan"`
	// Shape is that of the violation, Of and Number are what was placed.
	Shape  string `json:"shape"`
	Of     Part   `json:"of,omitempty"`
	Number int    `json:"number"`
}

// Examinations are what is to be examined: the first violation of each shape.
func (p *Plan) Examinations(blocks map[int]Block) []Examination {
	var out []Examination
	seen := map[string]bool{}
	for _, i := range slices.Sorted(maps.Keys(blocks)) {
		for _, h := range blocks[i].Hits {
			if !seen[h.Shape] {
				out = append(out, Examination{Plan: *p, Shape: h.Shape, Of: p.Job(i).Of, Number: h.Number})
			}
			seen[h.Shape] = true
		}
	}
	return out
}

// Play examines the violation. extra are locks besides those that come with
// locksim. Errors are those of [Job.Play] and [search.Examine].
func (e Examination) Play(extra []play.Lock) (*search.Found, error) {
	s := &sweeper{job: Job{Plan: e.Plan}}
	if err := s.prepare(extra); err != nil {
		return nil, err
	}
	placed := s.placed(e.Of)(e.Number)
	f, err := search.Examine(s.lock, placed[0].scenario(s.calm, placed[1:]...), e.Plan.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s, to be examined: %w", e.Shape, err)
	}
	f.Outcome = nil
	if f.Run != nil {
		clear(f.Run.Timing.WallSeconds) // all else is the same on every machine
	}
	return f, nil
}
