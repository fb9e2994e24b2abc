package search_test

import (
	"context"
	"iter"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// The tallies of two parts of a search add up to that of the whole, wherever the
// search is cut, and every run is evidence or vacuous.
func TestTally(t *testing.T) {
	l, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	l.Promise = lock.Promise{}
	space, err := search.Discover(l, spaces.Space{})
	if err != nil {
		t.Fatal(err)
	}
	const runs = 20
	var whole tally.Tally
	var trials []*search.Trial
	for trial := range search.Trials(l, search.Drawn(l, space, outcome.Seeds{First: 1, Last: runs})) {
		trials = append(trials, trial)
		whole.Add(trial.Tally())
	}
	var nearest *tally.NearMiss
	for _, trial := range trials {
		s, ok := trial.Outcome.Modes[0].Verdict.NearestMiss()
		if ok && len(trial.Violations) == 0 && trial.Vacuous == "" && (nearest == nil || s.Nearer(nearest.Slack)) {
			nearest = &tally.NearMiss{Seed: trial.Seed, Slack: s}
		}
	}
	if d := cmp.Diff(nearest, whole.Nearest); d != "" || nearest == nil {
		t.Errorf("nearest miss (-want +got):\n%s", d)
	}
	planned, vacuous := 0, 0
	for _, n := range whole.Faults {
		planned += n.Planned
		if n.Struck > n.Planned || n.Violating > n.Struck || n.Violating > whole.Violating {
			t.Errorf("%+v", n)
		}
	}
	for _, n := range whole.Vacuous {
		vacuous += n
	}
	if whole.Runs != runs || whole.Evidence+vacuous != runs || whole.Violating == 0 ||
		whole.Violations[checker.Corrupted] == 0 ||
		planned == 0 || len(whole.Classes) == 0 || whole.Events == 0 || whole.Virtual == 0 {
		t.Errorf("%+v", whole)
	}
	for _, cut := range []int{0, 1, runs / 2, runs} {
		var first, second tally.Tally
		for i, trial := range trials {
			if i < cut {
				first.Add(trial.Tally())
			} else {
				second.Add(trial.Tally())
			}
		}
		if first.Add(second); !cmp.Equal(whole, first) {
			t.Errorf("cut at %d: %s", cut, cmp.Diff(whole, first))
		}
	}
}

// Runs that differed or did not end are counted, with the first of each sort.
func TestTallyOfBadRuns(t *testing.T) {
	var sum tally.Tally
	placed := search.Case{Seed: 7, Placed: &failure.Placed{Number: 3, Faults: "pause c0"}}
	sum.Add(placed.Unsteady("one"))
	sum.Add(search.Case{Seed: 8}.Unsteady("two"))
	for _, seed := range []uint64{9, 10} {
		unable := subject.Lock{Name: "unable"}
		sum.Add(search.Play(unable, search.Case{Scenario: search.Draw(spaces.Seeded(seed), spaces.Space{}),
			Seed: seed}).Tally())
	}
	if sum.Nondeterministic != 2 || sum.Failed != 2 || sum.Runs != 0 || sum.Broken == nil || sum.Broken.Seed != 9 ||
		sum.Broken.Why == "" {
		t.Errorf("%+v", sum)
	}
	if diff := cmp.Diff(&tally.BadRun{Seed: 7, Faults: "pause c0", Why: "one"}, sum.Unsteady); diff != "" {
		t.Error(diff)
	}
}

// A lock that loses its lease although nothing goes wrong is a doubt; one whose lease is over is not.
func TestDoubt(t *testing.T) {
	gives := testlocks.UserLock("gives-up", func(e subject.Env, l lock.Locker) lock.Locker { return hasty{l, e} })
	gives.Promise = testlocks.Correct("right").Promise
	gives.Promise.Duties = nil
	for _, c := range []struct {
		l     subject.Lock
		doubt bool
	}{{gives, true}, {testlocks.Correct("right"), false}} {
		space := discovered(t, c.l, spaces.Space{})
		var sum tally.Tally
		for _, trials := range []iter.Seq[*search.Trial]{search.CalmTrials(c.l, space),
			search.Trials(c.l, search.Drawn(c.l, space, outcome.Seeds{First: 1, Last: 200}))} {
			for one := range trials {
				if one.Err != nil {
					t.Fatalf("%s, %v: %v", c.l.Name, one, one.Err)
				}
				sum.Add(one.Tally())
			}
		}
		if got := sum.Doubt(); (got != "") != c.doubt || sum.Undisturbed < 9 {
			t.Errorf("%s: %q, %d of %d", c.l.Name, got, sum.NotHeld, sum.Undisturbed)
		}
	}
}

// hasty is a lock that gives its lease up at a quarter of it, announces that, and says so when it is released.
type hasty struct {
	lock.Locker
	env subject.Env
}

type given struct {
	lock.Lease
	lost chan struct{}
}

func (h hasty) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := h.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	lost := make(chan struct{})
	go func() {
		if h.env.Clock().Sleep(l.Context(), testlocks.TTL/4) == nil && l.Release(h.env.Context()) == nil {
			close(lost)
		}
	}()
	return given{l, lost}, nil
}

func (l given) Lost() <-chan struct{} { return l.lost }

func (l given) Release(ctx context.Context) error {
	select {
	case <-l.lost:
		return lock.ErrNotHeld
	default:
		return l.Lease.Release(ctx)
	}
}

// Of the runs without a violation, those of every twentieth seed are repeated.
func TestTrialsRepeat(t *testing.T) {
	l := testlocks.Correct("counted").Cached()
	runs, makeLocker := 0, l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		if testlocks.IsRunStart(e) {
			runs++
		}
		return makeLocker(e)
	}
	// what is learnt takes runs too
	if _, err := play.Renews(l, search.Draw(spaces.Seeded(1), spaces.Space{Lock: l.Name})); err != nil {
		t.Fatal(err)
	}
	runs = 0
	var got []uint64
	for trial := range search.Trials(l,
		search.Drawn(l, spaces.Space{Lock: l.Name, Faults: []lock.Fault{}, Strategy: spaces.StrategySwarm},
			outcome.Seeds{First: 15, Last: 42})) {
		if trial.Err != nil || trial.Difference != nil || len(trial.Violations) > 0 {
			t.Fatalf("seed %d: %v, %v, %v", trial.Seed, trial.Err, trial.Difference, trial.Violations)
		}
		if runs > 1 {
			got = append(got, trial.Seed)
		}
		runs = 0
	}
	if diff := cmp.Diff([]uint64{20, 40}, got); diff != "" {
		t.Error(diff)
	}
}

// The bound without violations is exact, 1 - 0.05^(1/n), and nearly 3/n; with
// violations it is as in published tables.
func TestRateBound(t *testing.T) {
	for _, c := range []struct {
		violations, runs int
		want             float64
	}{
		{0, 0, 1}, {1, 1, 1}, {0, 1, 0.95}, {0, 100, 0.029513}, {0, 20_000, 0.00014978}, {1, 20, 0.216106},
		{5, 100, 0.102253}, {10, 10, 1},
	} {
		if got := tally.RateBound(c.violations, c.runs); math.Abs(got-c.want) > c.want*1e-4 {
			t.Errorf("%d of %d: %v, want %v", c.violations, c.runs, got, c.want)
		}
	}
	for _, n := range []int{10, 1000, 1_000_000} {
		if got, want := tally.RateBound(0, n), 1-math.Pow(0.05, 1/float64(n)); math.Abs(got-want) > 1e-9 {
			t.Errorf("0 of %d: %v, want %v", n, got, want)
		}
	}
}
