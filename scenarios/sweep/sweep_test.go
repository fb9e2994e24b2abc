package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/replay"
	"locksim/scenarios/subject"
)

// sweepOf plans and makes a whole sweep, with minimal failures.
func sweepOf(t *testing.T, sc *file.Scenario, l subject.Lock, opts Options, extra ...subject.Lock) *sweeps.Sweep {
	t.Helper()
	if opts.Judge == "" {
		opts.Judge = explorations.JudgeEverything
	}
	opts.Seed = 1
	plan, err := NewPlan(sc, l, opts)
	if err != nil {
		t.Fatal(err)
	}
	blocks := blocksOf(t, plan, extra, func(int) bool { return true })
	return sweeps.Assemble(plan, blocks, examineAll(t, plan, blocks, extra))
}

// blocksOf does some jobs of a plan; jobs and blocks are sent as JSON.
func blocksOf(t *testing.T, plan *sweeps.Plan, extra []subject.Lock, wanted func(i int) bool) map[int]sweeps.Block {
	t.Helper()
	blocks := map[int]sweeps.Block{}
	for i := range plan.Jobs() {
		if !wanted(i) {
			continue
		}
		job, steps := sent(t, NewJob(plan, i)), 0
		b, err := job.Play(extra, func() { steps++ })
		if err != nil {
			t.Fatal(err)
		}
		if steps != job.Runs {
			t.Errorf("job %d: %d steps for %d runs", i, steps, job.Runs)
		}
		blocks[i] = sent(t, b)
	}
	return blocks
}

func examineAll(t *testing.T, plan *sweeps.Plan, blocks map[int]sweeps.Block,
	extra []subject.Lock) map[string]*failure.Failure {
	t.Helper()
	found := map[string]*failure.Failure{}
	for _, e := range Examinations(plan, blocks) {
		f, err := sent(t, e).Play(extra)
		if err != nil {
			t.Fatal(err)
		}
		found[e.Shape] = sent(t, f)
	}
	return found
}

// sent is a value as another process reads it.
func sent[T any](t *testing.T, v T) (again T) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &again)
	}
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// shapes are the shapes of the failures of a sweep.
func shapes(s *sweeps.Sweep) []string {
	var out []string
	for _, c := range s.Summary.Failures {
		out = append(out, c.Shape)
	}
	return out
}

// Each lock breaks in the published way: a pause makes a lock without a fence lose
// a write, also in a quorum; a client that checks that it holds the lock, and then
// deletes the key, deletes another client's; a node's clock that jumps ends a lease
// early.
func TestSweepFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	for _, tt := range []struct {
		scenario, lock string
		faults         []lock.Fault
		want           []string
	}{
		{"gc-pause", "single", []lock.Fault{"pause"}, []string{"corrupted in mode none: pause"}},
		{"gc-pause", "fenced", []lock.Fault{"pause", "partition", "lose_reply"}, nil},
		{"gc-pause", "fenced", []lock.Fault{"node-clock"}, []string{"overlap in mode seal: clock_jump"}},
		{"get-then-del", "broken/get-then-del", []lock.Fault{"pause"}, []string{"corrupted in mode none: pause"}},
	} {
		sc, err := file.Load(tt.scenario)
		if err != nil {
			t.Fatal(err)
		}
		l, err := redislocks.Kind(tt.lock)
		if err != nil {
			t.Fatal(err)
		}
		s := sweepOf(t, sc, l, Options{Faults: tt.faults})
		if diff := cmp.Diff(tt.want, shapes(s)); diff != "" || !s.Complete || s.Problem() != "" {
			t.Errorf("%s with %s: complete: %v, %s%s", tt.scenario, tt.lock, s.Complete, s.Problem(), diff)
		}
		for _, c := range s.Summary.Failures {
			if c.Faults > 1 || c.Same != c.Replays {
				t.Errorf("%s with %s: not minimal:\n%s", tt.scenario, tt.lock, c.Text(""))
			}
			if _, err := replay.Run(c.Run, nil, outcome.Once); err != nil {
				t.Errorf("%s with %s: %v", tt.scenario, tt.lock, err)
			}
		}
	}
}

// No single fault of a promise breaks it.
func TestSweepPromises(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	for _, kind := range []string{"single", "fenced", "watchdog-fenced"} {
		sc, _ := small(t, kind, 1)
		l, err := redislocks.Kind(kind)
		if err != nil {
			t.Fatal(err)
		}
		s := sweepOf(t, sc, l, Options{Judge: explorations.JudgePromise})
		if len(s.Summary.Failures) > 0 || s.Summary.Struck() == 0 || s.Problem() != "" {
			t.Errorf("%s: %s\n%s", kind, s.Statement(), s.Problem())
		}
		if n := s.Summary.Kinds["pause"].Planned; n == 0 {
			t.Errorf("%s: no pause was placed", kind)
		}
		if n := s.Summary.Classes[lock.FaultNodeClock].Struck; n > 0 {
			t.Errorf("%s: %d clocks of nodes were set, which the promise does not cover", kind, n)
		}
	}
}

// The document does not depend on who does the jobs, nor on their order.
func TestSweepShards(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	sc, l := small(t, "single", 1)
	plan, err := NewPlan(sc, l, Options{Seed: 1, Faults: []lock.Fault{"pause", "node-crash"}, Pairs: 30,
		Judge: explorations.JudgeEverything})
	if err != nil {
		t.Fatal(err)
	}
	plan.Block = 20
	document := func(blocks map[int]sweeps.Block) string {
		b, err := sweeps.Assemble(plan, blocks, examineAll(t, plan, blocks, nil)).JSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	whole := document(blocksOf(t, plan, nil, func(int) bool { return true }))
	parts := blocksOf(t, plan, nil, func(i int) bool { return i%2 == 1 })
	half := document(parts)
	for i, b := range blocksOf(t, plan, nil, func(i int) bool { return i%2 == 0 }) {
		parts[i] = b
	}
	if diff := cmp.Diff(whole, document(parts)); diff != "" {
		t.Error(diff)
	}
	if half == whole || !strings.Contains(half, `"complete": false`) {
		t.Error("half of the jobs count as complete")
	}
}

// A pair that does what one of its faults does alone is not counted, and two faults
// that do nothing alone can break a lock together.
func TestSweepPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	sc, l := small(t, "single", 1)
	s := sweepOf(t, sc, l, Options{Faults: []lock.Fault{"pause"}, Pairs: 100})
	n := s.Summary
	if n.Pairs != 100 || n.Reduced == 0 || s.Plan.AllPairs <= 100 {
		t.Errorf("%d pairs of %d, %d of them do what one fault does alone", n.Pairs, s.Plan.AllPairs, n.Reduced)
	}
	if n.Violating != sumOf(n.Failures) {
		t.Errorf("%d runs with a violation, and %d in failures", n.Violating, sumOf(n.Failures))
	}
	if text := s.Statement(); !strings.Contains(text, "100 pairs, a sample of") {
		t.Error(text)
	}
}

func sumOf(failures failure.Failures) int {
	n := 0
	for _, c := range failures {
		n += c.Runs
	}
	return n
}

// A scenario or lock that cannot be swept is refused, with a reason.
func TestSweepRefuses(t *testing.T) {
	sc, l := small(t, "single", 1)
	none := subject.Lock{Name: "none", Traits: subject.Traits{Lease: subject.LeaseHeld, Detection: time.Second},
		New: func(subject.Env) (lock.Locker, error) { return freeForAll{}, nil }}
	for _, tt := range []struct {
		lock subject.Lock
		opts Options
		want string
	}{
		{l, Options{Judge: explorations.JudgeEverything, Faults: []lock.Fault{"pase"}},
			`there is no class or kind of fault "pase": did you mean pause?`},
		{l, Options{Judge: explorations.JudgeEverything, Faults: []lock.Fault{"none"}},
			"a sweep without faults has nothing to place"},
		{l, Options{Judge: explorations.JudgeEverything, Faults: []lock.Fault{"wall-clock"}},
			"no fault can be placed: no client reads its wall clock"},
		{l, Options{Judge: explorations.JudgePromise}, "lock single promises nothing, and cannot be judged by its promise"},
		{l, Options{Judge: explorations.JudgeEverything, Pairs: -1}, "-1 pairs: give a number from 0 to 1000000"},
		{l, Options{}, `a lock is judged by ""`},
		{none, Options{Judge: explorations.JudgeEverything}, "lock none fails in scenario small-swept without any fault " +
			"(corrupted in mode none)"},
	} {
		if _, err := NewPlan(sc, tt.lock, tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %s", tt.opts, err, tt.want)
		}
	}
}

// freeForAll is a lock that grants every request.
type freeForAll struct{}

func (freeForAll) Acquire(ctx context.Context, _ string) (lock.Lease, error) {
	return freeLease{ctx}, nil
}

type freeLease struct{ ctx context.Context }

func (freeLease) Token() uint64                     { return 0 }
func (freeLease) Until() time.Time                  { return time.Time{} }
func (freeLease) Lost() <-chan struct{}             { return nil }
func (l freeLease) Context() context.Context        { return l.ctx }
func (freeLease) Release(ctx context.Context) error { return nil }

// A lock whose run without faults is not repeatable is detected before a fault is
// placed, and one whose run differs from that of the plan before a job begins.
func TestSweepNeedsOneRun(t *testing.T) {
	sc, l := small(t, "single", 1)
	chance := l
	chance.Name = "chance"
	chance.New = func(e subject.Env) (lock.Locker, error) {
		inner, err := l.New(e)
		return chanceLock{inner, e}, err
	}
	_, err := NewPlan(sc, chance, Options{Judge: explorations.JudgeEverything})
	if _, ok := errors.AsType[*play.NondeterminismError](err); !ok {
		t.Errorf("got %v", err)
	}
	plan, err := NewPlan(sc, l, Options{Judge: explorations.JudgeEverything})
	if err != nil {
		t.Fatal(err)
	}
	plan.TraceHash = strings.Repeat("0", 64)
	if _, err := NewJob(plan, 0).Play(nil, func() {}); !errors.Is(err, ErrAnotherRun) {
		t.Errorf("got %v", err)
	}
}

// chanceLock waits for a time from a source without a seed.
type chanceLock struct {
	lock.Locker
	e subject.Env
}

func (l chanceLock) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	if err := l.e.Clock().Sleep(ctx, rand.N(10*time.Millisecond)); err != nil {
		return nil, err
	}
	return l.Locker.Acquire(ctx, resource)
}

// A lock that does not follow the scenario keeps its own TTL.
func TestSweepOfOnesOwnLock(t *testing.T) {
	sc, l := small(t, "single", 1)
	spec := sc.Lock
	spec.TTL = 700 * time.Millisecond
	mine := testlocks.WithSpec(l, spec)
	mine.Keys = l.Keys
	s := sweepOf(t, sc, mine, Options{Faults: []lock.Fault{"pause"}}, mine)
	if s.Plan.TTL != spec.TTL || !slices.Equal(shapes(s), []string{"corrupted in mode none: pause"}) {
		t.Errorf("TTL %v, %v", s.Plan.TTL, shapes(s))
	}
	if first := s.Summary.Failures[0].Placed.Faults; !strings.Contains(first, "pause c0 for 1.05s") {
		t.Errorf("the pause is not measured by the lock's TTL: %s", first)
	}
}

// small is a scenario whose sweep is quick.
func small(t *testing.T, kind string, rounds int) (*file.Scenario, subject.Lock) {
	t.Helper()
	sc := file.Defaults()
	sc.Name, sc.Lock.Kind, sc.Lock.TTL = "small", kind, time.Second
	sc.Lock.Backoff = file.Range{Min: 60 * time.Millisecond, Max: 120 * time.Millisecond}
	sc.Workload.Rounds, sc.Workload.Hold, sc.Workload.Think = rounds, 200*time.Millisecond, 100*time.Millisecond
	l, err := redislocks.Kind(kind)
	if err != nil {
		t.Fatal(err)
	}
	l.Promise = lock.Promise{}
	return calmed(sc, l), l
}
