package explore_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/scenarios/explore"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
)

func planOf(t *testing.T, l subject.Lock, opts explore.Options) *explorations.Plan {
	t.Helper()
	plan, err := explore.NewPlan(l, opts)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func ofKind(t *testing.T, name string) subject.Lock {
	t.Helper()
	l, err := redislocks.Kind(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func block(t *testing.T, job explore.Job, extra ...subject.Lock) explorations.Block {
	t.Helper()
	b, err := job.Play(extra, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A job and a block do not change when they are sent, and a block depends on its
// job alone.
func TestExploreBlockIsAValue(t *testing.T) {
	plan := planOf(t, ofKind(t, "single"), explore.Options{Runs: 150, FirstSeed: 1, Faults: []lock.Fault{lock.FaultPause},
		Judge: explorations.JudgeEverything, Collect: explorations.CollectFirst})
	job := explore.NewJob(plan, 0)
	first := asJSON(t, block(t, job))
	var sent explore.Job
	if err := json.Unmarshal([]byte(asJSON(t, job)), &sent); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, asJSON(t, block(t, sent))); diff != "" {
		t.Error(diff)
	}
	var back explorations.Block
	if err := json.Unmarshal([]byte(first), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, asJSON(t, back)); diff != "" {
		t.Error(diff)
	}
}

// The jobs of a plan have all of its seeds, each once.
func TestExploreJobs(t *testing.T) {
	plan := explorations.Plan{Runs: 230, FirstSeed: 7, Block: 100}
	var got []string
	for i := range plan.Jobs() {
		got = append(got, explore.NewJob(&plan, i).Seeds.String())
	}
	if diff := cmp.Diff([]string{"seeds 7 to 106", "seeds 107 to 206", "seeds 207 to 236"}, got); diff != "" {
		t.Error(diff)
	}
}

// A violation ends its block: it is the last run, and examined.
func TestExploreFindsAndStops(t *testing.T) {
	plan := planOf(t, ofKind(t, "broken/del-without-owner"), explore.Options{Runs: 100, FirstSeed: 1,
		Faults: []lock.Fault{},
		Judge:  explorations.JudgeEverything, Collect: explorations.CollectFirst})
	b := block(t, explore.NewJob(plan, 0))
	if !b.Ends() || b.Violating != 1 || len(b.Failures) != 1 || b.Runs == 100 {
		t.Fatalf("%+v", b)
	}
	f := b.Failures[0]
	if f.Seed != uint64(b.Runs) || f.Run == nil || f.Faults != 0 || f.Shape == "" || len(f.Run.Timing.WallSeconds) > 0 {
		t.Errorf("run %d: %+v", b.Runs, f)
	}
}

// With CollectAll every run is made, and failures that are not examined are
// counted.
func TestExploreCollects(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	plan := planOf(t, ofKind(t, "single"), explore.Options{Runs: 60, FirstSeed: 1,
		Judge: explorations.JudgeEverything, Collect: explorations.CollectAll})
	steps := 0
	b, err := explore.NewJob(plan, 0).Play(nil, func() { steps++ })
	if err != nil {
		t.Fatal(err)
	}
	like := b.Unexamined
	for _, f := range b.Failures {
		like += f.Runs
	}
	if b.Runs != 60 || steps < 60 || b.Violating < 2 || like != b.Violating || len(b.Failures) > 4 {
		t.Errorf("%d runs, %d steps, %d violating, %d of them like what was found or not examined, %d found", b.Runs, steps,
			b.Violating, like, len(b.Failures))
	}
	if sum := b.Evidence + total(b.Vacuous); sum != b.Runs {
		t.Errorf("%d runs are evidence or not, of %d", sum, b.Runs)
	}
}

func total[K comparable](counts map[K]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// For a lock that is judged by its promise only the faults of the promise are drawn.
func TestExplorePromise(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	l := ofKind(t, "single")
	plan := planOf(t, l, explore.Options{Runs: 100, FirstSeed: 1, Judge: explorations.JudgePromise,
		Collect: explorations.CollectAll})
	b := block(t, explore.NewJob(plan, 0))
	if b.Ends() || b.Evidence < 30 {
		t.Errorf("%+v", b)
	}
	for class := range b.Classes {
		if !slices.Contains(l.Promise.Exclusion, class) {
			t.Errorf("a fault of class %s struck", class)
		}
	}
}

// erratic is a lock that draws from a source without a seed.
func erratic() subject.Lock {
	return subject.Lock{Name: "erratic", New: func(e subject.Env) (lock.Locker, error) {
		return lock.NewSingle(redisclient.New(e, "r0"), lock.Options{TTL: time.Second, Clock: e.Clock(),
			Entropy: e.Entropy("lock"),
			Jitter:  rand.NewPCG(rand.Uint64(), 1)})
	}}
}

// A run whose repetition differs is detected, and played ten times. If one of the plays breaks the promise, that is a
// failure, which says how often it does; if none does, the exploration fails by the number of such runs.
func TestExploreNondeterminism(t *testing.T) {
	for _, judge := range []explorations.Judge{explorations.JudgeEverything, explorations.JudgePromise} {
		t.Run(string(judge), func(t *testing.T) { nondeterminism(t, judge) })
	}
}

func nondeterminism(t *testing.T, judge explorations.Judge) {
	l := erratic()
	l.Promise.Exclusion = []lock.Fault{lock.FaultPause}
	plan := planOf(t, l, explore.Options{Runs: 40, FirstSeed: 1, Faults: l.Promise.Exclusion,
		Space: spaces.Space{Strategy: spaces.StrategySwarm}, Judge: judge, Collect: explorations.CollectAll})
	b := block(t, explore.NewJob(plan, 0), l)
	problems := explorations.Assemble(plan, map[int]explorations.Block{0: b}).Problems()
	if judge == explorations.JudgeEverything {
		unsure := slices.ContainsFunc(b.Failures, func(f failure.Failure) bool {
			return f.Same < f.Replays && strings.Contains(f.Headline(), fmt.Sprintf("erratic fails in %d of 1", f.Again))
		})
		if b.Violating == 0 || !unsure || b.Nondeterministic > 0 {
			t.Errorf("%d runs with a violation, %d not deterministic: %+v", b.Violating, b.Nondeterministic, b.Failures)
		}
		return
	}
	if b.Violating+b.Nondeterministic > 0 || b.Differing == 0 || b.Unequal == nil ||
		!strings.Contains(b.Unequal.Why, "c") || b.Evidence > b.Runs {
		t.Fatalf("%+v", b)
	}
	if len(problems) != 1 || !strings.Contains(problems[0], "of 40 runs came out differently when played again") ||
		!strings.Contains(problems[0], "first divergent event") {
		t.Error(problems)
	}
}

// A run that does not end is counted, with its error, and the others are made.
func TestExploreBrokenRuns(t *testing.T) {
	n := 0
	faulty := subject.Lock{Name: "faulty", New: func(e subject.Env) (lock.Locker, error) {
		if n++; n > 60 && n%7 == 0 {
			return nil, fmt.Errorf("no lock for client %d", n)
		}
		return lock.NewSingle(redisclient.New(e, "r0"), lock.Options{TTL: time.Second, Clock: e.Clock(),
			Entropy: e.Entropy("lock"), Jitter: e.Source("lock")})
	}}
	plan := planOf(t, faulty, explore.Options{Runs: 40, FirstSeed: 1, Faults: []lock.Fault{},
		Judge: explorations.JudgeEverything, Collect: explorations.CollectAll})
	b := block(t, explore.NewJob(plan, 0), faulty)
	if b.Failed == 0 || b.Broken == nil || !strings.Contains(b.Broken.Why, "no lock for client") || b.Runs+b.Failed < 40 ||
		b.Runs < 10 {
		t.Errorf("%+v", b)
	}
}

// A frozen run is one run: the block has all others, and its search goes on.
func TestExploreFrozenRun(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the watchdog")
	}
	l := testlocks.Freezes(t, "freezes", 17)
	l.Promise.Exclusion = []lock.Fault{lock.FaultPause}
	plan := planOf(t, l, explore.Options{Runs: 100, FirstSeed: 1, Judge: explorations.JudgePromise,
		Collect: explorations.CollectFirst})
	b := block(t, explore.NewJob(plan, 0), l)
	if b.Ends() || b.NoVerdict != 1 || b.Runs != 99 || b.Unjudged == nil || b.Unjudged.Seed != 17 ||
		!strings.HasPrefix(b.Unjudged.Why, "frozen: a goroutine of c0 waits for a mutex in "+
			"locksim/internal/testlocks.Freezes") {
		t.Fatalf("%+v, %v", b, b.Unjudged)
	}
	if !sim.Spent() {
		t.Error("the process can be used as before")
	}
	blocks := map[int]explorations.Block{0: b}
	if problems := explorations.Assemble(plan, blocks).Problems(); len(problems) > 0 {
		t.Error(problems)
	}
	plan.Runs = 99 // of which none may be so
	e := explorations.Assemble(plan, blocks)
	if problems := e.Problems(); len(problems) != 1 ||
		!strings.HasPrefix(problems[0], "NO RESULT: 1 of 99 runs without a verdict, where at most 0 may be: the first is "+
			"that with seed 17") {
		t.Error(problems)
	}
	if e.StoppedAt == nil {
		t.Error("an exploration that has failed goes on")
	}
}

func TestExplorePlanErrors(t *testing.T) {
	good := explore.Options{Runs: 10, FirstSeed: 1, Judge: explorations.JudgeEverything,
		Collect: explorations.CollectFirst}
	for want, change := range map[string]func(*explore.Options){
		"0 runs: give a number":                         func(o *explore.Options) { o.Runs = 0 },
		"there are no seeds beyond":                     func(o *explore.Options) { o.FirstSeed = 1<<64 - 5 },
		`judged by "luck"`:                              func(o *explore.Options) { o.Judge = "luck" },
		`"some" failures`:                               func(o *explore.Options) { o.Collect = "some" },
		`there is no class or kind of fault "sabotage"`: func(o *explore.Options) { o.Faults = []lock.Fault{"sabotage"} },
		"lock single promises nothing under flush:": func(o *explore.Options) {
			o.Judge, o.Faults = explorations.JudgePromise, []lock.Fault{lock.FaultPause, lock.FaultFlush}
		},
	} {
		opts := good
		change(&opts)
		l := ofKind(t, "single")
		l.Promise.Exclusion = []lock.Fault{lock.FaultPause}
		if _, err := explore.NewPlan(l, opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	plan := planOf(t, ofKind(t, "single"), good)
	plan.Lock = "nobody"
	if _, err := explore.NewJob(plan, 0).Play(nil, func() {}); err == nil ||
		!strings.Contains(err.Error(), `there is no lock "nobody"`) {
		t.Error(err)
	}
	plan.Block = 0
	if _, err := explorations.ReadPlan([]byte(asJSON(t, plan))); err == nil {
		t.Error("a plan whose jobs have no runs was accepted")
	}
}

// blocks are invented results: a block for each number of violating runs.
func blocks(violating ...int) map[int]explorations.Block {
	all := map[int]explorations.Block{}
	for i, n := range violating {
		b := explorations.Block{Job: i}
		b.Runs, b.Evidence, b.Violating, b.Virtual = 10, 8, n, time.Second
		if n > 0 {
			b.Violations = map[checker.Label]int{checker.Corrupted: n}
			b.Failures = failure.Failures{{Runs: n, Shape: fmt.Sprint("shape ", n), Seed: uint64(100 - i),
				FirstSeed: uint64(100 - i), Faults: 2}}
		}
		all[i] = b
	}
	return all
}

// An exploration that ends with the first failure has the blocks up to that one,
// whatever other blocks exist, and counts the missing ones before it.
func TestAssembleStops(t *testing.T) {
	plan := &explorations.Plan{Runs: 50, Block: 10, Collect: explorations.CollectFirst}
	e := explorations.Assemble(plan, blocks(0, 0, 1, 0, 2))
	if e.StoppedAt == nil || *e.StoppedAt != 2 || !e.Complete || len(e.Blocks) != 3 || e.Summary.Runs != 30 ||
		len(e.Summary.Failures) != 1 {
		t.Errorf("%+v", e)
	}
	some := blocks(0, 0, 1, 0, 2)
	delete(some, 1)
	if e = explorations.Assemble(plan, some); e.Complete || e.Missing != 1 || *e.StoppedAt != 2 {
		t.Errorf("%+v", e)
	}
	delete(some, 2)
	if e = explorations.Assemble(plan, some); e.Complete || e.Missing != 2 || *e.StoppedAt != 4 {
		t.Errorf("%+v", e)
	}
	if e = explorations.Assemble(plan, blocks(0, 0, 0, 0)); e.Complete || e.Missing != 1 || e.StoppedAt != nil {
		t.Errorf("%+v", e)
	}
	plan.Collect = explorations.CollectAll
	if e = explorations.Assemble(plan, blocks(0, 0, 1, 0, 2)); !e.Complete || e.StoppedAt != nil || e.Summary.Runs != 50 {
		t.Errorf("%+v", e)
	}
}

// Violations of one shape count as one: the one with the fewest faults is shown,
// and of these the one with the lowest seed.
func TestAssembleDistinct(t *testing.T) {
	plan := &explorations.Plan{Runs: 60, Block: 10, Collect: explorations.CollectAll}
	all := blocks(3, 1, 1, 1, 1, 1)
	all[3].Failures[0].Faults = 1 // the smallest, with seed 97
	all[4].Failures[0].Faults = 1 // as small, with seed 96
	e := explorations.Assemble(plan, all)
	var got []string
	for _, d := range e.Summary.Failures {
		got = append(got, fmt.Sprintf("%s: %d runs, first seed %d, shown seed %d", d.Shape, d.Runs, d.FirstSeed, d.Seed))
	}
	if diff := cmp.Diff([]string{"shape 1: 5 runs, first seed 95, shown seed 96", "shape 3: 3 runs, first seed 100, " +
		"shown seed 100"}, got); diff != "" {
		t.Error(diff)
	}
	if want := tally.RateBound(8, 48); e.Summary.RateBound != want || e.Summary.VirtualSeconds != 6 ||
		e.Summary.Violations[checker.Corrupted] != 8 {
		t.Errorf("%+v", e.Summary)
	}
}

// The estimate of what was not seen is that of all runs, not of the blocks, and there is
// none without evidence or if a run failed.
func TestAssembleNovelty(t *testing.T) {
	plan := &explorations.Plan{Runs: 30, Block: 10, Collect: explorations.CollectAll}
	all := blocks(0, 0, 0)
	for i, courses := range []tally.Courses{{"a": 7, "b": 1}, {"a": 6, "b": 1, "c": 1}, {"a": 7, "d": 1}} {
		b := all[i]
		b.Courses = courses
		all[i] = b
	}
	if diff := cmp.Diff(&tally.Novelty{Courses: 4, Once: 2, Rate: 2. / 24},
		explorations.Assemble(plan, all).Summary.Novelty); diff != "" {
		t.Error(diff)
	}
	for why, change := range map[string]func(*explorations.Block){
		"no evidence":        func(b *explorations.Block) { b.Evidence = -16 },
		"a violation":        func(b *explorations.Block) { b.Violating = 1 },
		"a run that differs": func(b *explorations.Block) { b.Nondeterministic = 1 },
		"a run without end":  func(b *explorations.Block) { b.Failed = 1 },
	} {
		changed := maps.Clone(all)
		b := changed[1]
		change(&b)
		changed[1] = b
		if n := explorations.Assemble(plan, changed).Summary.Novelty; n != nil {
			t.Errorf("%s: %+v", why, n)
		}
	}
	if courses := block(t,
		explore.NewJob(planOf(t, ofKind(t, "single"),
			explore.Options{Runs: 10, FirstSeed: 1, Judge: explorations.JudgePromise, Collect: explorations.CollectAll}),
			0)).Courses; len(courses) == 0 {
		t.Error("a block without courses")
	}
}

// The document does not depend on the order of the blocks, and can be read back.
func TestExplorationJSON(t *testing.T) {
	plan := &explorations.Plan{Lock: "a<b", Runs: 30, Block: 10, Collect: explorations.CollectAll}
	a, err := explorations.Assemble(plan, blocks(0, 2, 1)).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var e explorations.Exploration
	if err := json.Unmarshal(a, &e); err != nil {
		t.Fatal(err)
	}
	back := map[int]explorations.Block{}
	for _, b := range slices.Backward(e.Blocks) {
		back[b.Job] = b
	}
	b, err := explorations.Assemble(&e.Plan, back).JSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) || !bytes.Contains(a, []byte(`"lock": "a<b"`)) {
		t.Error(cmp.Diff(string(a), string(b)))
	}
}
