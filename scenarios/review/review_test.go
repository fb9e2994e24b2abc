package review_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/review"
)

// reviewed is a small review of a lock, measured in this process: in some scenarios
// or, without any, in all that name it.
func reviewed(t *testing.T, name string, runs int, only ...string) *reviews.Review {
	t.Helper()
	l, err := redislocks.Find(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	work, err := review.NewWork(l, review.Options{Seeds: outcome.Seeds{First: 1, Last: 1}, Runs: runs})
	if err != nil {
		t.Fatal(err)
	}
	work.Sweep = nil // package sweep tests it
	if len(only) > 0 {
		work.Matrix, work.All, work.Within = matrixOf(t, name, only...), nil, nil
	}
	parts := reviews.Parts{Missing: work.Missing, Matrix: playedMatrix(work.Matrix),
		Within: playedExploration(t, work.Within), All: playedExploration(t, work.All)}
	failures := reviews.Failures(parts, func(f reviews.Failure) string { return fmt.Sprintf("again %d", f.Seed) })
	for i := range failures {
		if failures[i].Fences, err = (review.FenceJob{Run: failures[i].Run}).Play(nil); err != nil {
			t.Fatal(err)
		}
	}
	r, err := review.Assemble(work.Plan, l, parts, failures, runCommand)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// runCommand is a command with its arguments.
func runCommand(scenario, lock string, seed uint64, modes ...fence.Mode) string {
	return fmt.Sprintf("run %s %s %d %v", scenario, lock, seed, modes)
}

func matrixOf(t *testing.T, lock string, only ...string) *matrix.Plan {
	t.Helper()
	opts := matrix.Options{Locks: []string{lock}, Seeds: outcome.Seeds{First: 1, Last: 1}}
	for _, name := range only {
		sc, err := file.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		opts.Scenarios = append(opts.Scenarios, sc)
	}
	plan, err := matrix.NewPlan(opts)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func playedMatrix(plan *matrix.Plan) *matrices.Matrix {
	m := testruns.PlayMatrix(plan, runCommand)
	if m != nil {
		m.Timing.WallSeconds = 12
	}
	return m
}

func playedExploration(t *testing.T, plan *explorations.Plan) *explorations.Exploration {
	t.Helper()
	e := testruns.PlayExploration(t, plan)
	if e != nil {
		e.Timing.WallSeconds = 34
	}
	return e
}

// The searches of a review use only the faults that are named: within the promise,
// those that it covers. What they leave out is missing.
func TestReviewOfSomeFaults(t *testing.T) {
	l, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	work := func(names ...lock.Fault) *review.Work {
		w, err := review.NewWork(l, review.Options{Seeds: outcome.Seeds{First: 1, Last: 1}, Runs: 1, Faults: names})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	l.Promise = lock.Promise{Exclusion: []lock.Fault{lock.FaultPause}}
	w := work("pause", "half-open", "node-clock")
	if w.Tried() != "only pause, node-clock, half_open" ||
		!slices.Contains(w.Missing, reviews.Gap{What: "searches with other faults than pause, node-clock, half_open",
			Why: "they were not asked for"}) {
		t.Errorf("%s; missing: %v", w.Tried(), w.Missing)
	}
	if !slices.Equal(w.Within.Space.Faults, []lock.Fault{"pause"}) || w.Within.Space.Kinds != nil {
		t.Errorf("within the promise %v and %v", w.Within.Space.Faults, w.Within.Space.Kinds)
	}
	if !slices.Equal(w.All.Space.Faults, []lock.Fault{"pause", "node-clock"}) ||
		!slices.Equal(w.All.Space.Kinds, []string{"half_open"}) || !slices.Equal(w.Sweep.Faults, w.All.Space.Faults) {
		t.Errorf("with all %v and %v, swept %v", w.All.Space.Faults, w.All.Space.Kinds, w.Sweep.Faults)
	}
	if w := work("flush"); w.Within != nil || w.All == nil || w.Sweep != nil || len(w.Missing) != 3 {
		t.Errorf("of flush: %+v", w)
	}
	if w := work("none"); len(w.Within.Space.Classes())+len(w.All.Space.Classes()) > 0 || w.Sweep != nil ||
		w.Tried() != "no fault" {
		t.Errorf("without faults: %+v", w)
	}
	if w := work(); w.Tried() != "every fault" || w.Plan.Faults != nil || len(w.Missing) > 0 {
		t.Errorf("of every fault: %+v", w)
	}
}

// A specimen has no promise: it is judged for everything, its failures are made in
// every fencing mode, and the review says what was not measured. A second review is
// the same to the byte.
func TestReviewOfASpecimen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	const name = "broken/token-after-lock"
	r := reviewed(t, name, 20)
	if r.Lock.Promises || r.Lock.Judged != fence.Seal || !strings.Contains(r.Lock.About, "wrong on purpose") ||
		r.Within != nil {
		t.Errorf("the lock is %+v, explored within a promise: %v", r.Lock, r.Within != nil)
	}
	if len(r.Missing) != 1 || r.Missing[0].Why != "the lock promises nothing" {
		t.Errorf("missing is %v", r.Missing)
	}
	all, err := redislocks.Library(nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Scenarios) + len(r.NotRun); len(r.Scenarios) == 0 || n != len(all) {
		t.Errorf("%d scenarios of %d, of which %d were run", n, len(all), len(r.Scenarios))
	}
	if len(r.Failures) == 0 {
		t.Fatal("no failure was found: the rest of the test shows nothing")
	}
	for _, b := range r.Failures {
		checkFences(t, b)
	}
	one, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	two, err := reviewed(t, name, 20).JSON()
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("the second review differs: %v", err)
	}
	if bytes.Contains(one, []byte(`"wall_seconds": 12`)) || bytes.Contains(one, []byte(`"wall_seconds": 34`)) {
		t.Error("wall times are part of it")
	}
}

// checkFences checks that a failure was made in every mode, and that it shows its
// violation in the mode in which the lock is judged.
func checkFences(t *testing.T, b reviews.Failure) {
	t.Helper()
	var modes []fence.Mode
	for _, f := range b.Fences {
		modes = append(modes, f.Mode)
		if v := b.Violations[0]; f.Mode == v.Mode && v.Label != checker.Overlap && f.Label.Severity() < v.Label.Severity() {
			t.Errorf("%s: in mode %s it is only %s", b.Shape, f.Mode, f.Label)
		}
	}
	if !slices.Equal(modes, fence.Modes()) || b.Fences[0].Effect != reviews.NoFence {
		t.Errorf("%s was made in %v", b.Shape, b.Fences)
	}
	if b.Replay != fmt.Sprintf("again %d", b.Seed) || len(b.Run.Timing.WallSeconds) > 0 {
		t.Errorf("%s has the replay command %q, wall times %v", b.Shape, b.Replay, b.Run.Timing.WallSeconds)
	}
}

// A kind of lock is compared on the ground of its promise: every scenario has one
// ground, and the counts of a mode are those of its cells.
func TestReviewGrounds(t *testing.T) {
	r := reviewed(t, "fenced", 20, "gc-pause", "flushall", "torn-by-crash")
	want := map[string]reviews.Ground{"gc-pause": reviews.GroundPromised, "flushall": reviews.GroundOutside,
		"torn-by-crash": reviews.GroundSeveralWrites}
	for _, s := range r.Scenarios {
		if g, ok := want[s.Name]; ok && s.Ground != g {
			t.Errorf("%s has the ground %s, want %s", s.Name, s.Ground, g)
		}
		if s.Name == "gc-pause" && (s.Effect(fence.Seal) != reviews.FenceRescues ||
			s.Replay != "run gc-pause fenced 1 [none check seal strict claim cas]") {
			t.Errorf("gc-pause: %s, %s", s.Effect(fence.Seal), s.Replay)
		}
	}
	if len(r.Scenarios) != len(want) {
		t.Errorf("%d scenarios, want %d", len(r.Scenarios), len(want))
	}
	for _, m := range r.Figures.Modes {
		total := m.Total()
		if total.Scenarios != len(r.Scenarios) || total.Runs != len(r.Scenarios) {
			t.Errorf("mode %s: %d runs of %d scenarios, want %d", m.Mode, total.Runs, total.Scenarios, len(r.Scenarios))
		}
	}
	a := r.Advice[1]
	if a.Rule != "thin" || r.Figures.Seen["pause"] == 0 {
		t.Errorf("the advice is %+v, pauses did harm %d times", a, r.Figures.Seen["pause"])
	}
}

// A failure that several parts found counts once, and failures within the promise
// come first.
func TestReviewFailuresAreSorted(t *testing.T) {
	found := func(shape string, label checker.Label, faults int) failure.Failure {
		return failure.Failure{Shape: shape, Runs: 1, Faults: faults,
			Violations: []outcome.Violation{{Mode: fence.None, Label: label}}, Run: &outcome.RunFile{}}
	}
	of := func(failures ...failure.Failure) *explorations.Exploration {
		e := &explorations.Exploration{}
		e.Summary.Failures = failures
		return e
	}
	unexamined := failure.Failure{Shape: "not made minimal",
		Violations: []outcome.Violation{{Mode: fence.None, Label: checker.Stuck}}}
	parts := reviews.Parts{
		Within: of(found("b", checker.Overlap, 1)),
		All: of(found("c", checker.Stuck, 1), unexamined, found("b", checker.Overlap, 1), found("a", checker.Corrupted, 2),
			found("d", checker.Corrupted, 1)),
	}
	var got []string
	for _, b := range reviews.Failures(parts, func(reviews.Failure) string { return "" }) {
		got = append(got, b.Shape+" "+string(b.From))
	}
	want := []string{"b " + string(reviews.FromPromise), "d " + string(reviews.FromAll), "a " + string(reviews.FromAll),
		"c " + string(reviews.FromAll)}
	if !slices.Equal(got, want) {
		t.Errorf("the failures are %q, want %q", got, want)
	}
}

// Invalid options are an error before anything is run.
func TestReviewWorkRefuses(t *testing.T) {
	l, err := redislocks.Find("single", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := review.NewWork(l, review.Options{Seeds: outcome.Seeds{First: 1, Last: 1}}); err == nil ||
		errors.Is(err, matrix.ErrEmptyMatrix) {
		t.Errorf("no runs: %v", err)
	}
}

// Work is the same after it was stored and read.
func TestWorkIsStored(t *testing.T) {
	l, err := redislocks.Find("broken/redlock-keeps-minority", nil)
	if err != nil {
		t.Fatal(err)
	}
	work, err := review.NewWork(l, review.Options{Seeds: outcome.Seeds{First: 1, Last: 3}, Runs: 20})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(work)
	if err != nil {
		t.Fatal(err)
	}
	again, err := review.ReadWork(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(again)
	if err != nil || string(data) != string(twice) || again.Within != nil || again.Sweep != nil ||
		len(again.Missing) != 2 || len(again.Matrix.Jobs()) != len(work.Matrix.Jobs()) {
		t.Errorf("%v: stored were\n%s\nread was\n%s", err, data, twice)
	}
	for _, text := range []string{`[]`, `{}`, `{"lock":"single","matrix":{}}`, `{"lock":"single","all":{"lock":"fenced"}}`,
		strings.Replace(string(data), `"lock":"broken/`, `"lock":"other/`, 1)} {
		if w, err := review.ReadWork([]byte(text), nil); err == nil {
			t.Errorf("%.100s was read as the work %+v", text, w)
		}
	}
}
