package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// evidence counts the runs of one lock.
type evidence struct {
	runs, vacuous, violations int
}

// bound says which bound on the rate follows from the runs.
func (e evidence) bound() string {
	return fmt.Sprintf("%d of %d non-vacuous runs with a violation, rate below %.2g at 95 %% under this generator (%d "+
		"vacuous ones drawn again)",
		e.violations, e.runs, tally.RateBound(e.violations, e.runs), e.vacuous)
}

// No lock breaks its own promise in random runs with faults that the promise
// covers, in which clients contended and faults struck. The full size is that of
// make soak; locksim explore makes 50,000 runs for each lock. Claims exclude each
// other, the lock is free in the end, no client deletes another's key, no rightful
// holder is refused, and the data is right in the mode of the promise.
func TestSpecificity(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	kinds := kinds.Names()
	each := testruns.Soak(t, 100, 0.02)
	var all evidence
	for i, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			e := specificity(t, kind, each, uint64(i)<<32)
			t.Log(e.bound())
			all.runs, all.vacuous, all.violations = all.runs+e.runs, all.vacuous+e.vacuous, all.violations+e.violations
		})
	}
	t.Log(all.bound())
}

// specificity makes a number of non-vacuous runs of a kind of lock, with the seeds
// from one on.
func specificity(t *testing.T, kind string, runs int, seed uint64) evidence {
	var e evidence
	for ; e.runs < runs; seed++ {
		o, promise := drawnRun(t, kind, seed)
		broken := outcome.Violations(o, promise)
		if len(broken) == 0 && foreignReleases(o) == 0 && outcome.Vacuous(o) != "" {
			if e.vacuous++; e.vacuous > 20*runs {
				t.Fatalf("%d of %d runs are vacuous: the generator draws too little evidence", e.vacuous, e.vacuous+e.runs)
			}
			continue
		}
		e.runs++
		if len(broken) > 0 || foreignReleases(o) > 0 {
			e.violations++
			t.Error(complaint(t, o, broken))
		}
	}
	return e
}

// foreignReleases counts the keys that one client deleted and another had set: a
// mistake even if it did no harm.
func foreignReleases(o *outcome.Outcome) int {
	n := 0
	for _, m := range o.Modes {
		n += m.Verdict.Facts.ForeignReleases
	}
	return n
}

// drawnRun draws a scenario within the promise of a kind of lock and plays it,
// without a fence and with the one that the promise names.
func drawnRun(t *testing.T, kind string, seed uint64) (*outcome.Outcome, lock.Promise) {
	t.Helper()
	sc := search.Draw(spaces.Seeded(seed), promised(t, kind))
	l := testruns.Kind(t, kind)
	mode, ok := l.DataMode()
	if !ok || !l.Promises(sc.Faults) {
		t.Fatalf("seed %d: lock %s does not promise anything under %v", seed, kind, sc.Faults)
	}
	return testruns.Play(t, sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None, mode}}), l.Promise
}

// promised is the space that Check draws from for a kind of lock: the faults that
// its promise covers, and the workloads that are possible then.
func promised(t testing.TB, kind string) spaces.Space {
	t.Helper()
	l, err := redislocks.Kind(kind)
	if err != nil {
		t.Fatal(err)
	}
	space, err := search.Discover(l, spaces.Space{})
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// complaint has everything needed to reproduce a violation.
func complaint(t *testing.T, o *outcome.Outcome, broken []outcome.Violation) string {
	t.Helper()
	source, err := file.Format(o.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	var modes []string
	for _, m := range o.Modes {
		modes = append(modes, string(m.Mode))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, lock %s breaks its promise (foreign releases: %d):\n", o.Seed, o.Lock, foreignReleases(o))
	for _, v := range broken {
		fmt.Fprintf(&b, "  %v\n", v)
	}
	for _, m := range o.Modes {
		for _, r := range m.Verdict.Reasons {
			fmt.Fprintf(&b, "    %s: %s\n", m.Mode, r.Text)
		}
	}
	fmt.Fprintf(&b, "drawn.yaml:\n%sreplay: go run ./cmd/locksim run ./drawn.yaml --lock %s --seed %d --fencing %s\n",
		source, o.Lock, o.Seed, strings.Join(modes, ","))
	return b.String()
}

// The same generator and the same judgement find the mistakes of broken locks, so
// the absence of violations in the others is evidence.
func TestSpecificityHasPower(t *testing.T) {
	for _, c := range []struct {
		specimen, sound string // the lock whose promise is checked
		at              []lock.Fault
		points          []string
		want            checker.Label
		within          uint64 // runs
	}{
		{"del-without-owner", "single", nil, nil, checker.Overlap, 20},
		{"get-then-del", "single", []lock.Fault{lock.FaultPause}, []string{"compared"}, checker.Overlap, 300},
		{"setnx-then-expire", "single", nil, nil, checker.Stuck, 100},
		{"row-update-unchecked", "single", nil, nil, checker.Overlap, 20},
		{"redlock-keeps-minority", "redlock", nil, nil, checker.Stuck, 40},
	} {
		t.Run(c.specimen, func(t *testing.T) {
			promise, _ := lock.PromiseOf(c.sound)
			space := promised(t, c.sound)
			space.Lock, space.Points, space.Waits = "broken/"+c.specimen, c.points, nil
			space.Tries = false // few specimens can
			if c.at != nil {    // the mistake shows if the lock expires within the time that a release may take
				space.Faults, space.TTL = c.at, file.Range{Min: time.Second, Max: 1500 * time.Millisecond}
			}
			for seed := range c.within {
				sc := search.Draw(spaces.Seeded(seed), space)
				o := testruns.Play(t, sc, testruns.Kind(t, space.Lock),
					play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}})
				if slices.Contains(outcome.Violations(o, promise), outcome.Violation{Mode: fence.None, Label: c.want}) {
					t.Logf("found in run %d", seed+1)
					return
				}
			}
			t.Errorf("no %s in %d runs", c.want, c.within)
		})
	}
}
