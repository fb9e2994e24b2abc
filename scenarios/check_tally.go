package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// tally counts what runs without a violation were worth.
type tally struct {
	blocks, runs, useful int
	vacuous              map[string]int // by the reason
	drawn                map[string]int // runs with a kind of fault
}

func (t *tally) add(sc *Scenario, o *Outcome) {
	if t.drawn == nil {
		t.vacuous, t.drawn = map[string]int{}, map[string]int{}
	}
	t.runs++
	if why := play.Vacuous(o); why != "" {
		t.vacuous[why]++
	} else {
		t.useful++
	}
	kinds := map[string]bool{}
	for _, f := range sc.Faults {
		kinds[f.Action.Kind()] = true
	}
	for kind := range kinds {
		t.drawn[kind]++
	}
}

// worthless says that next to none of so many runs is evidence.
func (t *tally) worthless() bool {
	const least = 20
	return t.runs >= least && t.useful*20 < t.runs
}

// sentence is what a pass is worth.
func (t *tally) sentence() string {
	return fmt.Sprintf("%s runs, %s of them non-vacuous, no violation: rate below %.2g %% at 95 %% under this generator (faults drawn: %s)",
		prose.Thousands(t.runs), prose.Thousands(t.useful), 100*search.RateBound(0, t.useful), counts(t.drawn))
}

// reasons say why runs were vacuous.
func (t *tally) reasons() string { return "why runs are no evidence: " + counts(t.vacuous) }

// counts lists what was counted, the most frequent first.
func counts(of map[string]int) string {
	if len(of) == 0 {
		return "none"
	}
	keys := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		if of[a] != of[b] {
			return of[b] - of[a]
		}
		return strings.Compare(a, b)
	})
	for i, k := range keys {
		keys[i] = k + " " + prose.Thousands(of[k])
	}
	return strings.Join(keys, ", ")
}
