package matrix_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	"locksim/sim"
)

// parsed is a scenario from a text.
func parsed(t *testing.T, name, text string) *file.Scenario {
	t.Helper()
	sc, err := file.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// paused is a scenario in which the holder outlives its lease; expect is the
// rest of the file.
func paused(t *testing.T, expect string) *file.Scenario {
	t.Helper()
	return parsed(t, "./paused.yaml", `name: paused
workload: {rounds: 1, hold: 2s, stagger: 1s}
faults:
  - when: {client: c0, event: read, nth: 1}
    pause: {process: c0, for: 15s}
`+expect)
}

func plan(t *testing.T, opts matrix.Options) *matrix.Plan {
	t.Helper()
	if opts.Seeds == (outcome.Seeds{}) {
		opts.Seeds = outcome.Seeds{First: 1, Last: 2}
	}
	p, err := matrix.NewPlan(opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// played is a matrix whose jobs are all done in this process, in the order of the plan.
func played(t *testing.T, opts matrix.Options) *matrices.Matrix {
	t.Helper()
	p := plan(t, opts)
	jobs := p.Jobs()
	answers := make([]matrix.Answer, len(jobs))
	for i, j := range jobs {
		answers[i] = matrix.NewAnswer(j.Play(opts.Extra, func() {}))
	}
	return p.Assemble(answers, again)
}

func again(scenario, lock string, seed uint64, modes ...fence.Mode) string {
	return fmt.Sprint("again ", scenario, " ", lock, " ", seed, " ", modes)
}

// pairs are the jobs of a plan as "scenario lock mode,mode", sorted.
func pairs(p *matrix.Plan) []string {
	var all []string
	for _, j := range p.Jobs() {
		name, _, _ := strings.Cut(strings.TrimPrefix(j.Source, "name: "), "\n")
		var modes []string
		for _, m := range j.Modes {
			modes = append(modes, string(m))
		}
		all = append(all, name+" "+j.Lock+" "+strings.Join(modes, ","))
	}
	slices.Sort(all)
	return all
}

// The locks of a plan are those of the scenario, unless a flag names others;
// specimens only if asked for; the user's own locks in every scenario. A lock of locksim
// that few programs have is the user's own only if it is asked for by its name.
func TestMatrixPlan(t *testing.T) {
	one := parsed(t, "one.yaml", "name: one\nlocks: [fenced, single, broken/get-then-del]\n")
	two := parsed(t, "two.yaml", "name: two\nlock: {kind: redlock}\n")
	mine, ours := subject.Lock{Name: "mine"}, subject.Lock{Name: "etcd"}
	for name, tt := range map[string]struct {
		opts matrix.Options
		want []string
	}{
		"as the scenarios say": {matrix.Options{}, []string{"one fenced none,seal", "one single none", "two redlock none"}},
		"with specimens": {matrix.Options{Specimens: true}, []string{
			"one broken/get-then-del none", "one fenced none,seal", "one single none", "two redlock none"}},
		"one lock": {matrix.Options{Locks: []string{"single"}}, []string{"one single none"}},
		"a pattern": {matrix.Options{Locks: []string{"*d*"}},
			[]string{"one fenced none,seal", "two redlock none"}},
		"specimens by a pattern": {matrix.Options{Locks: []string{"broken/*"}}, []string{"one broken/get-then-del none"}},
		"a lock and specimens": {matrix.Options{Locks: []string{"redlock"}, Specimens: true},
			[]string{"one broken/get-then-del none", "two redlock none"}},
		"user's lock": {matrix.Options{Extra: []subject.Lock{mine}}, []string{
			"one fenced none,seal", "one mine none", "one single none", "two mine none", "two redlock none"}},
		"a lock that is not named": {matrix.Options{Extra: []subject.Lock{ours}},
			[]string{"one fenced none,seal", "one single none", "two redlock none"}},
		"nor by a pattern": {matrix.Options{Extra: []subject.Lock{ours}, Locks: []string{"etc*", "single"}},
			[]string{"one single none"}},
		"but by a flag": {matrix.Options{Extra: []subject.Lock{ours}, Locks: []string{"etcd"}},
			[]string{"one etcd none", "two etcd none"}},
		"their own locks": {matrix.Options{Own: true, Extra: []subject.Lock{mine}},
			[]string{"one fenced none,seal", "two redlock none"}},
		"one of their own locks": {matrix.Options{Own: true, Locks: []string{"redlock"}}, []string{"two redlock none"}},
		"only the user's lock": {matrix.Options{Extra: []subject.Lock{mine}, Locks: []string{"mine"}},
			[]string{"one mine none", "two mine none"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.opts.Scenarios, tt.opts.Modes = []*file.Scenario{two, one}, []fence.Mode{fence.Seal, fence.None}
			if diff := cmp.Diff(tt.want, pairs(plan(t, tt.opts))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A specimen takes part without a flag in a scenario whose own lock it is.
func TestMatrixPlanOfOwnLocks(t *testing.T) {
	sc := parsed(t, "wrong.yaml", "name: wrong\nlock: {kind: broken/get-then-del}\nlocks: [single, broken/get-then-del]\n")
	p := plan(t, matrix.Options{Scenarios: []*file.Scenario{sc}, Own: true, Modes: []fence.Mode{fence.None}})
	if diff := cmp.Diff([]string{"wrong broken/get-then-del none"}, pairs(p)); diff != "" {
		t.Error(diff)
	}
}

// A lock without tokens has no job in modes that need them, and no job at all if
// there are no others.
func TestMatrixPlanWithoutModes(t *testing.T) {
	sc := parsed(t, "one.yaml", "name: one\nlocks: [fenced, single]\n")
	p := plan(t, matrix.Options{Scenarios: []*file.Scenario{sc}, Modes: []fence.Mode{fence.Check, fence.Seal}})
	if diff := cmp.Diff([]string{"one fenced check,seal"}, pairs(p)); diff != "" {
		t.Error(diff)
	}
	m := p.Assemble([]matrix.Answer{{Tallies: []matrix.Tally{oneSafe(fence.Check), oneSafe(fence.Seal)}}}, again)
	var got []string
	for _, c := range m.Cells {
		got = append(got, fmt.Sprint(c.Lock, " ", c.Mode, " ", c.Label))
	}
	if diff := cmp.Diff([]string{"single check n/a", "single seal n/a", "fenced check safe", "fenced seal safe"},
		got); diff != "" {
		t.Error(diff)
	}
}

// oneSafe is the tally of one safe run.
func oneSafe(mode fence.Mode) matrix.Tally {
	return matrix.Tally{Mode: mode, Tally: tally.Tally{Runs: 1, Evidence: 1}, Contended: 1, AllFired: 1,
		Seen: []matrix.LabelTally{{Label: checker.Safe, Seeds: 1, NonVacuous: 1, Seed: 1}}}
}

func TestMatrixPlanRefused(t *testing.T) {
	sc := parsed(t, "x.yaml", "name: x\n")
	for name, tt := range map[string]struct {
		opts matrix.Options
		want string
	}{
		"no such lock": {matrix.Options{Scenarios: []*file.Scenario{sc}, Locks: []string{"fencd"}},
			"did you mean fenced?"},
		"a broken pattern": {matrix.Options{Scenarios: []*file.Scenario{sc}, Locks: []string{"[a"}}, `"[a" is no pattern`},
		"nothing to run": {matrix.Options{Scenarios: []*file.Scenario{sc}, Locks: []string{"redlock"}},
			matrix.ErrEmptyMatrix.Error()},
		"no scenario": {matrix.Options{}, matrix.ErrEmptyMatrix.Error()},
		"two of one name": {matrix.Options{Scenarios: []*file.Scenario{sc, parsed(t, "y.yaml", "name: x\n")}},
			"x.yaml and y.yaml"},
		"made in Go": {matrix.Options{Scenarios: []*file.Scenario{{Name: "go"}}}, "has no source"},
		"unknown in a file": {matrix.Options{Scenarios: []*file.Scenario{parsed(t, "x.yaml",
			"name: x\nlocks: [fenced, zookeper]\n")}}, "x.yaml:2:17: "},
		"of another package": {matrix.Options{Scenarios: []*file.Scenario{parsed(t, "x.yaml", "name: x\nlocks: [etcd]\n")}},
			"x.yaml:2:9: there is no lock \"etcd\" in this program: package locksim/scenarios/etcdlocks has it"},
		"unknown kind": {matrix.Options{Scenarios: []*file.Scenario{parsed(t, "x.yaml", "name: x\nlock: {kind: fencd}\n")}},
			"x.yaml:2:14: "},
	} {
		t.Run(name, func(t *testing.T) {
			tt.opts.Seeds = outcome.Seeds{First: 1, Last: 1}
			_, err := matrix.NewPlan(tt.opts)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want %q in: %v", tt.want, err)
			}
		})
	}
}

// The longest jobs come first. Many seeds make more than one job, whose answers are
// combined in the order of the seeds.
func TestMatrixJobs(t *testing.T) {
	light := parsed(t, "a.yaml", "name: a-light\n")
	heavy := parsed(t, "b.yaml", "name: b-heavy\nworld: {clients: 5}\nlock: {kind: redlock}\nworkload: {rounds: 9}\n")
	p := plan(t, matrix.Options{Scenarios: []*file.Scenario{light, heavy}, Modes: []fence.Mode{fence.None},
		Seeds: outcome.Seeds{First: 1, Last: 50}})
	jobs := p.Jobs()
	var got []string
	answers := make([]matrix.Answer, len(jobs))
	for i, j := range jobs {
		got = append(got, fmt.Sprint(j.Lock, " ", j.Seeds))
		one := oneSafe(fence.None)
		one.Seen[0].Seed, one.Digest = j.Seeds.First, fmt.Sprint(j.Seeds)
		answers[i].Tallies = []matrix.Tally{one}
	}
	want := []string{"redlock seeds 1 to 20", "redlock seeds 21 to 40", "redlock seeds 41 to 50", "fenced seeds 1 to 20",
		"fenced seeds 21 to 40", "fenced seeds 41 to 50"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range p.Assemble(answers, again).Cells {
		if c.Seeds != 3 || c.SeedsWithLabel != 3 || c.Seed != 1 {
			t.Errorf("%s: %+v", c.Scenario, c.CellRuns)
		}
	}
}

// Jobs with a server outside the world take long, though they have few messages.
func TestMatrixJobsOutside(t *testing.T) {
	outside := subject.ServerKind{Facts: server.Facts{Name: "outside", Prefix: "o"},
		Make: func(int) sim.Kind { return nil },
		Stop: func() error { return nil }}
	slow := subject.Lock{Name: "slow", Traits: subject.Traits{Servers: []subject.Servers{{Kind: outside, Count: 1}}},
		New: func(subject.Env) (lock.Locker, error) { return nil, nil }}
	heavy := parsed(t, "a.yaml", "name: a-heavy\nworld: {clients: 5}\nworkload: {rounds: 3}\n")
	light := parsed(t, "b.yaml", "name: b-light\nworld: {clients: 2}\nlock: {kind: slow}\nworkload: {rounds: 1}\n")
	var got []string
	for _, j := range plan(t, matrix.Options{Scenarios: []*file.Scenario{heavy, light}, Modes: []fence.Mode{fence.None},
		Extra: []subject.Lock{slow}, Locks: []string{"slow", "fenced"}}).Jobs() {
		got = append(got, fmt.Sprint(j.Lock, " ", j.Weight))
	}
	want := []string{"slow 900", "slow 120", "fenced 30"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A job's tallies are the verdicts of Run, and every seed is a step.
func TestMatrixJobPlay(t *testing.T) {
	sc, l := testruns.Load(t, "gc-pause")
	job := matrix.Job{File: sc.File, Source: string(sc.Source), Lock: l.Name, Modes: []fence.Mode{fence.None, fence.Seal},
		Seeds: outcome.Seeds{First: 4, Last: 6}}
	steps := 0
	tallies, err := job.Play(nil, func() { steps++ })
	if err != nil || steps != 3 || len(tallies) != 2 {
		t.Fatalf("%d tallies, %d steps, %v", len(tallies), steps, err)
	}
	for i, mode := range job.Modes {
		want := map[checker.Label]int{}
		for seed := range job.Seeds.All() {
			want[testruns.Play(t, sc, l, play.RunOptions{Seed: seed, Modes: job.Modes}).Modes[i].Verdict.Label]++
		}
		got := map[checker.Label]int{}
		for _, label := range tallies[i].Seen {
			got[label.Label] = label.Seeds
		}
		if diff := cmp.Diff(want, got); diff != "" || tallies[i].Mode != mode || tallies[i].Runs != 3 {
			t.Errorf("mode %s, %d runs: %s", mode, tallies[i].Runs, diff)
		}
	}
}

// The first seed of a job is run twice: a lock that draws from a source without a
// seed gets no tally.
func TestMatrixJobNondeterminism(t *testing.T) {
	sc, l := testruns.Load(t, "calm")
	drawing := l
	drawing.Name = "drawing"
	drawing.New = func(e subject.Env) (lock.Locker, error) {
		inner, err := l.New(e)
		return testlocks.UnseededDelay(inner, e.Clock()), err
	}
	job := matrix.Job{File: sc.File, Source: string(sc.Source), Lock: "drawing", Modes: []fence.Mode{fence.None},
		Seeds: outcome.Seeds{First: 1, Last: 5}}
	_, err := job.Play([]subject.Lock{drawing}, func() { t.Error("the seed was counted") })
	if _, ok := errors.AsType[*play.NondeterminismError](err); !ok {
		t.Errorf("%v", err)
	}
}

// The matrix must detect these mutants of a scenario: an expectation that is too
// good, one that is too bad, a lock without contention, a fault that never fires.
// The right scenario has no problem.
func TestMatrixCatches(t *testing.T) {
	right := paused(t, "expect:\n  fenced: {none: corrupted, seal: rescued}\n")
	alone := parsed(t, "./alone.yaml", "name: alone\nworld: {clients: 1}\nexpect:\n  fenced: {none: safe, seal: safe}\n")
	never := parsed(t, "./never.yaml", "name: never\nworkload: {rounds: 1}\nfaults:\n  - when: {client: c0, event: "+
		"renewal}\n    pause: {process: c0, for: 1s}\nexpect:\n  fenced: {none: safe, seal: safe}\n")
	for name, tt := range map[string]struct {
		scenario *file.Scenario
		seeds    outcome.Seeds
		want     []string
	}{
		"right": {right, outcome.Seeds{First: 1, Last: 20}, nil},
		"too good": {paused(t, "expect:\n  fenced: {none: overlap, seal: rescued}\n"), outcome.Seeds{First: 1, Last: 2},
			[]string{"none: corrupted, and overlap was expected"}},
		"too bad": {paused(t, "expect:\n  fenced: {none: corrupted, seal: corrupted}\n"),
			outcome.Seeds{First: 1, Last: 20}, []string{"seal: rescued, and corrupted was expected"}},
		"no contention": {alone, outcome.Seeds{First: 1, Last: 2}, []string{"none: vacuous: one client alone held the lock",
			"seal: vacuous: one client alone held the lock"}},
		"without fault": {never, outcome.Seeds{First: 1, Last: 2}, []string{"none: vacuous: fault 1 never fired (pause c0 " +
			"for 1s, when c0 passes renewal)", "seal: vacuous: fault 1 never fired (pause c0 for 1s, when c0 passes renewal)"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := played(t, matrix.Options{Scenarios: []*file.Scenario{tt.scenario}, Modes: []fence.Mode{fence.None, fence.Seal},
				Seeds: tt.seeds})
			var got []string
			for _, c := range m.Problems() {
				got = append(got, string(c.Mode)+": "+c.Problem())
				if want := fmt.Sprintf("again ./%s.yaml fenced %d [%s]", c.Scenario, c.Seed, c.Mode); c.Replay != want {
					t.Errorf("replay %q, want %q", c.Replay, want)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || m.Expected != (len(tt.want) == 0) {
				t.Errorf("expected %v: %s", m.Expected, diff)
			}
		})
	}
}

// pointed is a scenario with a fault at the named point "checked"; rest is the rest
// of the file.
func pointed(t *testing.T, rest string) *file.Scenario {
	t.Helper()
	return parsed(t, "./pointed.yaml", `name: pointed
workload: {rounds: 1, hold: 2s, stagger: 1s}
faults:
  - when: {client: c0, event: checked, nth: 1}
    pause: {process: c0, for: 1s}
`+rest)
}

// passing is a user's lock that passes a point in every acquire.
func passing(t *testing.T, point string) subject.Lock {
	t.Helper()
	l, err := redislocks.Kind("fenced")
	if err != nil {
		t.Fatal(err)
	}
	inner := l.New
	l.Name = "mine"
	l.New = func(e subject.Env) (lock.Locker, error) {
		locks, err := inner(e)
		return pointLock{locks, e, point}, err
	}
	return l
}

type pointLock struct {
	lock.Locker
	env   subject.Env
	point string
}

func (l pointLock) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, name)
	if pointErr := l.env.Point(l.point); err == nil && pointErr != nil {
		return nil, pointErr
	}
	return lease, err
}

// A scenario whose fault strikes at a named point is left out for a user's lock that
// does not pass that point, with the reason, and with what its runs without the
// fault came to if that was not safe. It is played with a lock that passes the point,
// also if an earlier fault keeps every client from it, and with one that the scenario
// names. A fault at an event of the driver strikes with every lock.
func TestMatrixLeavesOut(t *testing.T) {
	left := func(why string) []matrices.Gap {
		return []matrices.Gap{{Scenario: "pointed", Lock: "mine", Why: why, Replay: "again ./pointed.yaml mine 1 " +
			"[none seal]"}}
	}
	const away = "a fault strikes at the point checked, which this lock does not pass"
	long := strings.Replace(string(pointed(t, "").Source), "hold: 2s", "hold: 20s", 1)
	two := string(pointed(t, "").Source) + "  - when: {client: c1, event: compared, nth: 1}\n    pause: {process: c1, " +
		"for: 1s}\n"
	first := string(pointed(t, "").Source) + "  - at: 0s\n    crash: {process: c0}\n  - at: 0s\n    crash: {process: c1}\n"
	second := strings.Replace(string(pointed(t, "").Source), "nth: 1", "nth: 9", 1)
	for name, tt := range map[string]struct {
		source  string
		point   string
		want    []matrices.Gap
		vacuous bool
	}{
		"another point": {string(pointed(t, "").Source), "locked", left(away), false},
		"harm without the fault": {long, "locked", left(away + "; without it: corrupted in mode none, rescued in " +
			"mode seal"), false},
		"two points": {two, "locked", left("a fault strikes at the points checked, compared, which " +
			"this lock does not pass"), false},
		"one point of two": {two, "checked", left("a fault strikes at the point compared, which this lock " +
			"does not pass"), false},
		"it passes the point":            {string(pointed(t, "").Source), "checked", nil, false},
		"not so often":                   {second, "checked", nil, true},
		"an earlier fault is in the way": {first, "checked", nil, true},
		"the scenario names the lock":    {string(pointed(t, "").Source) + "locks: [mine]\n", "locked", nil, true},
		"an event of the driver": {strings.Replace(string(pointed(t, "").Source), "checked", "read", 1), "locked",
			nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := played(t, matrix.Options{Scenarios: []*file.Scenario{parsed(t, "./pointed.yaml", tt.source)},
				Modes: []fence.Mode{fence.None, fence.Seal},
				Seeds: outcome.Seeds{First: 1, Last: 2}, Extra: []subject.Lock{passing(t, tt.point)}, Locks: []string{"mine"}})
			if diff := cmp.Diff(tt.want, m.NotRun, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if played := len(m.Cells) > 0; played == (len(tt.want) > 0) || m.Expected == tt.vacuous {
				t.Errorf("%d cells, as expected: %v, problems: %+v", len(m.Cells), m.Expected, m.Problems())
			}
		})
	}
}

// A replay command repeats the run that the cell shows: it has that label.
func TestMatrixReplays(t *testing.T) {
	m := played(t, matrix.Options{Scenarios: []*file.Scenario{paused(t, "")}, Seeds: outcome.Seeds{First: 3, Last: 5}})
	for _, c := range m.Cells {
		l, err := redislocks.Kind(c.Lock)
		if err != nil {
			t.Fatal(err)
		}
		o := testruns.Play(t, paused(t, ""), l, play.RunOptions{Seed: c.Seed, Modes: []fence.Mode{c.Mode}})
		if got := o.Modes[0]; got.Verdict.Label != c.Label || got.TraceHash != c.TraceHash {
			t.Errorf("mode %s: seed %d is %s (%s), the cell says %s (%s)", c.Mode, c.Seed, got.Verdict.Label, got.TraceHash,
				c.Label, c.TraceHash)
		}
	}
}

// The document does not depend on which process did which job when: answers come in
// any order.
func TestMatrixIsStable(t *testing.T) {
	opts := matrix.Options{Scenarios: []*file.Scenario{paused(t, "")}, Seeds: outcome.Seeds{First: 1, Last: 3}}
	first, err := played(t, opts).JSON()
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, opts)
	jobs := p.Jobs()
	answers := make([]matrix.Answer, len(jobs))
	for i := len(jobs) - 1; i >= 0; i-- {
		answers[i] = matrix.NewAnswer(jobs[i].Play(nil, func() {}))
	}
	second, err := p.Assemble(answers, again).JSON()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Error(diff)
	}
}

// A job that did not end is a failure; a user's lock that does not suit a scenario
// is no failure, unless the scenario names it.
func TestMatrixGaps(t *testing.T) {
	bad := matrix.Answer{Error: "x.yaml: it has no owners", BadInput: &file.InputError{Msg: "it has no owners"}}
	lost := matrix.Answer{Error: "the worker process hung"}
	opts := matrix.Options{Scenarios: []*file.Scenario{parsed(t, "x.yaml", "name: x\nlocks: [single, fenced]\n")},
		Extra: []subject.Lock{{Name: "mine"}}}
	p := plan(t, opts)
	var answers []matrix.Answer
	refused := 0
	for i, j := range p.Jobs() {
		answers = append(answers, map[string]matrix.Answer{"single": bad, "fenced": lost, "mine": bad}[j.Lock])
		if err := p.Refusal(i, answers[i]); err != nil {
			refused++
			if j.Lock != "single" || err.Error() != "it has no owners" {
				t.Errorf("%s: %v", j.Lock, err)
			}
		}
	}
	m := p.Assemble(answers, again)
	if refused != 1 || len(m.Cells) != 0 || m.Expected {
		t.Errorf("%d refused, %d cells, expected %v", refused, len(m.Cells), m.Expected)
	}
	if diff := cmp.Diff([]matrices.Gap{{Scenario: "x", Lock: "mine", Why: bad.Error}}, m.NotRun); diff != "" {
		t.Error(diff)
	}
	if len(m.Failures) != 2 || m.Failures[1].Why != lost.Error ||
		!strings.HasPrefix(m.Failures[1].Replay, "again x.yaml fenced 1 ") {
		t.Errorf("%+v", m.Failures)
	}
}

// The answer to an invalid job has the error.
func TestMatrixAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		job   matrix.Job
		want  string
		input bool
	}{
		"no scenario":  {matrix.Job{File: "x.yaml", Source: "nam: x\n"}, "x.yaml:1:", true},
		"no such lock": {matrix.Job{File: "x.yaml", Source: "name: x\n", Lock: "fencd"}, `there is no lock "fencd"`, false},
	} {
		a := matrix.NewAnswer(tt.job.Play(nil, nil))
		if !strings.Contains(a.Error, tt.want) || (a.BadInput != nil) != tt.input || a.Tallies != nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// A scenario of the library that names locks of several packages is planned with those that the program has.
func TestPlanOfAPartOfTheLocks(t *testing.T) {
	mine, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	mine.Name = "etcd-cas"
	all, err := redislocks.Library([]subject.Lock{mine})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(sc *file.Scenario) bool { return sc.Name == "no-lock" })
	if i < 0 {
		t.Fatal("no-lock is not in the library of the program")
	}
	plan, err := matrix.NewPlan(matrix.Options{Scenarios: all[i : i+1], Extra: []subject.Lock{mine},
		Seeds: outcome.Seeds{First: 1, Last: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if locks := plan.Locks(); len(locks) != 1 || locks[0].Name != mine.Name {
		t.Errorf("the plan has %d locks, want %s alone", len(locks), mine.Name)
	}
}

// A plan has the same rows and columns as its matrix.
func TestMatrixPlanRowsAndColumns(t *testing.T) {
	all, err := redislocks.Library(nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := matrix.NewPlan(matrix.Options{Scenarios: all, Specimens: true, Seeds: outcome.Seeds{First: 1, Last: 1}})
	if err != nil {
		t.Fatal(err)
	}
	m := plan.Assemble(make([]matrix.Answer, len(plan.Jobs())), nil)
	rows, columns := plan.Scenarios(), plan.Locks()
	if len(rows) != len(m.Scenarios) || len(columns) != len(m.Locks) || len(rows) == 0 {
		t.Fatalf("%d rows and %d columns, want %d and %d", len(rows), len(columns), len(m.Scenarios), len(m.Locks))
	}
	for i, sc := range rows {
		if sc.Name != m.Scenarios[i].Name {
			t.Errorf("row %d is %s, want %s", i, sc.Name, m.Scenarios[i].Name)
		}
	}
	for i, l := range columns {
		if l.Name != m.Locks[i].Name {
			t.Errorf("column %d is %s, want %s", i, l.Name, m.Locks[i].Name)
		}
	}
}
