package explore

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// hit is a run with a violation.
type hit struct {
	scenario *file.Scenario
	seed     uint64
	labels   []checker.Label
	kinds    []string // of the faults that struck, sorted, each once
	runs     int      // how many there are of its signature
}

func newHit(o *play.Outcome, broken []play.Violation) hit {
	h := hit{scenario: o.Scenario, seed: o.Seed, runs: 1}
	for _, v := range broken {
		h.labels = append(h.labels, v.Label)
	}
	for i, f := range o.Scenario.Faults {
		if o.Modes[0].FaultsFired[i] {
			h.kinds = append(h.kinds, f.Action.Kind())
		}
	}
	slices.Sort(h.kinds)
	h.kinds = slices.Compact(h.kinds)
	return h
}

// signature is what runs with a violation have in common before they are
// examined.
func (h hit) signature() string {
	kinds := strings.Join(h.kinds, ", ")
	if kinds == "" {
		kinds = "no faults"
	}
	return fmt.Sprintf("%s: %s", prose.Commas(h.labels), kinds)
}

// covers reports whether another run may well be an instance of this one, which
// is as small as it gets: it has a violation of the same label, and at least the
// same kinds of fault.
func (h hit) covers(other hit) bool {
	return len(h.labels) > 0 && slices.Contains(other.labels, h.labels[0]) &&
		!slices.ContainsFunc(h.kinds, func(kind string) bool { return !slices.Contains(other.kinds, kind) })
}

// note keeps of each signature the run with the fewest faults, the first one of
// several.
func (e *explorer) note(h hit) {
	i := slices.IndexFunc(e.hits, func(other hit) bool { return other.signature() == h.signature() })
	if i < 0 {
		e.hits = append(e.hits, h)
		return
	}
	e.hits[i].runs++
	if len(h.scenario.Faults) < len(e.hits[i].scenario.Faults) {
		e.hits[i].scenario, e.hits[i].seed = h.scenario, h.seed
	}
}

// examine makes violations as small as they get.
func (e *explorer) examine() error {
	slices.SortStableFunc(e.hits, func(a, b hit) int { return len(a.scenario.Faults) - len(b.scenario.Faults) })
	for range min(maxExamined, len(e.hits)) {
		h := e.nextHit()
		found, err := search.Examine(e.lock, h.scenario, h.seed)
		if err != nil {
			err = e.broken(h.seed, err)
		} else {
			e.keep(h, found)
		}
		if err != nil {
			return err
		}
		e.step()
	}
	for _, h := range e.hits {
		e.block.Unexamined += h.runs
	}
	return nil
}

// nextHit takes the hit with the fewest faults, if there is one of those that are
// no instance of what is known.
func (e *explorer) nextHit() hit {
	i := slices.IndexFunc(e.hits, func(h hit) bool {
		return !slices.ContainsFunc(e.known, func(k hit) bool { return k.covers(h) })
	})
	i = max(i, 0)
	h := e.hits[i]
	e.hits = slices.Delete(e.hits, i, i+1)
	return h
}

// keep adds what was found, without what differs from machine to machine.
func (e *explorer) keep(h hit, found *search.Found) {
	if found.Outcome != nil {
		e.known = append(e.known, newHit(found.Outcome, found.Violations))
	}
	if found.Run != nil {
		clear(found.Run.Timing.WallSeconds)
	}
	if found.Same < found.Replays {
		e.unsteady(h.seed, fmt.Sprintf("it replays %d times of %d\n%s", found.Same, found.Replays, found.Divergence))
	}
	e.block.Found = append(e.block.Found, Found{Signature: h.signature(), Runs: h.runs, Found: found})
}
