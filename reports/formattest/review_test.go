package formattest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/compare"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/review"
	"locksim/scenarios/subject"
)

// again is a replay command.
func again(scenario, lock string, seed uint64, _ ...fence.Mode) string {
	return fmt.Sprintf("locksim run %s --lock %s --seed %d", scenario, lock, seed)
}

func lockOf(t *testing.T, name string) subject.Lock {
	t.Helper()
	l, err := redislocks.Find(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// promisedReview is the review of a lock with a promise, without a sweep.
func promisedReview(t *testing.T) *reviews.Review {
	t.Helper()
	return once("review", func() *reviews.Review { return aReview(t, "single", "gc-pause", nil) })
}

// aReview is a small review of a lock: its matrix has one scenario, its explorations
// have 100 and 20 runs, and it has the given sweep.
func aReview(t *testing.T, lock, scenario string, swept *sweeps.Sweep) *reviews.Review {
	t.Helper()
	l := lockOf(t, lock)
	opts := review.Options{Seeds: outcome.Seeds{First: 1, Last: 1}, Runs: 100}
	work, err := review.NewWork(l, opts)
	if err != nil {
		t.Fatal(err)
	}
	parts := reviews.Parts{Missing: work.Missing, Within: testruns.PlayExploration(t, work.Within),
		All: testruns.PlayExploration(t, work.All), Sweep: swept}
	sc, err := file.Load(scenario)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := matrix.NewPlan(matrix.Options{Scenarios: []*file.Scenario{sc}, Locks: []string{lock}, Seeds: opts.Seeds})
	if err != nil {
		t.Fatal(err)
	}
	parts.Matrix = testruns.PlayMatrix(plan, again)
	parts.Matrix.Timing = matrices.NewTiming()
	failures := reviews.Failures(parts, func(f reviews.Failure) string { return fmt.Sprintf("again %d", f.Seed) })
	for i := range failures {
		if failures[i].Fences, err = (review.FenceJob{Run: failures[i].Run}).Play(nil); err != nil {
			t.Fatal(err)
		}
	}
	r, err := review.Assemble(work.Plan, l, parts, failures, again)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// specimenReview is the review of a lock that promises nothing and breaks in every
// part.
func specimenReview(t *testing.T) *reviews.Review {
	t.Helper()
	r := aReview(t, "broken/del-without-owner", "del-without-owner", aSweep(t))
	if len(r.Failures) == 0 || len(r.Failures[0].Fences) == 0 {
		t.Fatal("the review has no failure, or no run behind a fence")
	}
	return r
}

// A review is valid with a promise and without, with all parts and with some missing.
func TestReviewIsValid(t *testing.T) {
	s := compiled(t, "review")
	for name, r := range map[string]*reviews.Review{"a specimen": specimenReview(t),
		"a lock with a promise": promisedReview(t)} {
		if err := s.Validate(parsed(t, document(t, r))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// aComparison compares a lock without tokens and one that is wrong on purpose.
func aComparison(t *testing.T) *comparisons.Comparison {
	t.Helper()
	return once("comparison", func() *comparisons.Comparison { return compared(t) })
}

func compared(t *testing.T) *comparisons.Comparison {
	t.Helper()
	seeds := outcome.Seeds{First: 1, Last: 1}
	var rows []comparisons.Lock
	for _, name := range []string{"single", "broken/token-after-lock"} {
		row, err := compare.Measure(lockOf(t, name), compare.Options{Seeds: seeds, Replay: again, Troubles: 2})
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, *row)
	}
	return comparisons.New(seeds, rows)
}

func TestComparisonIsValid(t *testing.T) {
	if err := compiled(t, "compare").Validate(parsed(t, document(t, aComparison(t)))); err != nil {
		t.Error(err)
	}
}

// What a review and a comparison can do without, and what can be null in them.
var (
	sparedComparison = regexp.MustCompile(
		`/promise/(free_after|order|returns_within|tokens_unordered|resend_excludes)|/(about|for_whom|renew|crowd|availability|fence|refused|overlap)$`)
	sparedReview = regexp.MustCompile(
		`^/failures/[0-9]+/answers$|/promise/(free_after|order|returns_within|resend_excludes)|^/modules(/[^/]+)?$|/catalogue$|/(fence|expected|vacuous|faults_never_fired)$|/fences/[0-9]+/trace_hash$|^/figures/[a-z]+/nearest_miss(/slack/(other|at))?$` +
			`|^/figures/data$|^/figures/seen/[^/]+$|^/figures/[^/]+/(vacuous|violations|faults|classes|rare_paths)(/[^/]+)?$|^/figures/(all|within)/(calls|errors|unknown|noticed_late|connections|per_second|undisturbed|undisturbed_not_held|fenced)$|/plan/space/(tries|beside)$|/grounds/[^/]+$|./scenarios$|/(failures|promised|outside)/corrupted$|^/figures/modes/.*/labels/[^/]+$|/failures/[0-9]+/(same|again|replays|run|reasons|story)$`)
	nullInReview = regexp.MustCompile(
		`^/(plan|figures)/faults$|^/figures/modes/.*/labels$|^/lock/promise/(exclusion|duties)$|^/(matrix|within|sweep)$|^/failures/[0-9]+/violations$`)
)

// Whatever is taken from a comparison or a review, set to null, or added to it, is
// noticed, and so are values that make no sense.
func TestBrokenReviewsAreRefused(t *testing.T) {
	comparison := document(t, aComparison(t))
	breakApart(t, "compare", comparison, 300, func(path, key string, _ map[string]any) bool {
		return sparedComparison.MatchString(path + "/" + key)
	}, func(path string) bool {
		return strings.HasSuffix(path, "/promise/exclusion") || strings.HasSuffix(path, "/promise/duties")
	})

	// The parts of a review are broken by the tests of their own schemas.
	r := *promisedReview(t)
	docs := map[string]string{"compare": string(comparison), "review": string(document(t, &r))}
	r.Matrix, r.Within, r.All, r.Failures = nil, nil, explorations.Assemble(&r.All.Plan, nil), slices.Clone(r.Failures[:1])
	r.All.Timing = explorations.NewTiming()
	r.Failures[0].Run = nil
	breakApart(t, "review", document(t, &r), 300, func(path, key string, _ map[string]any) bool {
		if part, ok := strings.CutPrefix(path+"/"+key, "/all/"); ok {
			return spared["explore"].MatchString("/" + part)
		}
		return sparedReview.MatchString(path + "/" + key)
	}, func(path string) bool {
		return nullInReview.MatchString(path) || spareNull.MatchString(strings.TrimPrefix(path, "/all"))
	})

	for _, tt := range []struct{ schema, old, wrong string }{
		{"compare", `"version": 1`, `"version": 2`},
		{"compare", `"wall-clock"`, `"bad-luck"`},
		{"compare", `"count": 1`, `"count": 0`},
		{"compare", `"round_trips": `, `"round_trips": -`},
		{"compare", `"data": "claim"`, `"data": "luck"`},
		{"compare", `"label": "corrupted"`, `"label": "bad"`},
		{"review", `"kind": "review"`, `"kind": "sweep"`},
		{"review", `"runs_with_every_fault": `, `"runs_with_every_fault": -`},
		{"review", `"judged_in": "claim"`, `"judged_in": "luck"`},
		{"review", `"use": "efficiency"`, `"use": "luck"`},
		{"review", `"verdict": "undecided"`, `"verdict": "safe"`},
		{"review", `"effect": "no-fence"`, `"effect": "none"`},
		{"review", `"trace_hash": "`, `"trace_hash": "X`},
	} {
		broken := strings.Replace(docs[tt.schema], tt.old, tt.wrong, 1)
		if broken == docs[tt.schema] {
			t.Errorf("there is no %s in the %s", tt.old, tt.schema)
			continue
		}
		if compiled(t, tt.schema).Validate(parsed(t, []byte(broken))) == nil {
			t.Errorf("a %s with %s is valid", tt.schema, tt.wrong)
		}
	}
}
