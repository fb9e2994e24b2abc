package terminal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/testreports"
	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/tally"
)

func exploreText(t *testing.T, e *explorations.Exploration) string {
	t.Helper()
	var b strings.Builder
	replay := func(i int, f *failure.Failure) []string { return []string{"replay: locksim replay found.json"} }
	if err := terminal.Exploration(&b, e, replay, reports.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The whole report of a violation.
func TestExploration(t *testing.T) {
	want := `exploration of lock mylock, 20 runs from seed 1 on, judged as if it promised that all goes well
under every fault

20 runs over 5 minutes of virtual time. 19 of them tested the lock: a client kept another out and a
fault was felt, or a violation was seen.
runs that did not test the lock: nobody contended 1
faults that struck, of those drawn: pause 3 of 4
classes of fault that struck: 1 of 2; never: crash
runs that tested the lock, by class of fault, and how many of such runs may break it (95 %
confidence): pause 2 (< 78 %)
violations: stuck 2
A violation in 2 of 19 runs that tested the lock; with 95 % confidence fewer than 30 % of such runs
break it. 1 different violation; 1 run with a violation not examined.

VIOLATION 1: stuck in mode none: pause (1 run like it, the first with seed 14)
seed 14: mylock fails: stuck in mode none
  the lock was never free again, and nobody could say why, and nobody could say why, and nobody
  could say why, and nobody could say why, and nobody could say why,

story in mode none:
     1           0s  c0     asks for the lock

schedule, 1 fault of the 3 that were drawn:
  name: drawn

replay: locksim replay found.json
`
	if diff := cmp.Diff(want, exploreText(t, testreports.Exploration())); diff != "" {
		t.Error(diff)
	}
}

// The verdict and the problems in each case.
func TestExplorationVerdicts(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*explorations.Exploration)
	}{
		{"No violation in 19 runs that tested the lock; with 95 % confidence fewer than 15 % of such runs\nbreak it. That " +
			"is no proof.\n", func(e *explorations.Exploration) {
			e.Summary.Violating, e.Summary.Failures, e.Summary.RateBound = 0, nil, tally.RateBound(0, 19)
		}},
		{"That is no proof. Not seen yet: about 21 % of further runs that test the lock would still\n" +
			"try something new (4 of 9 courses were seen in one run only); more runs would show much that is new.\n",
			func(e *explorations.Exploration) {
				e.Summary.Violating, e.Summary.Failures, e.Summary.RateBound = 0, nil, tally.RateBound(0, 19)
				e.Summary.Novelty = &tally.Novelty{Courses: 9, Once: 4, Rate: 4. / 19}
			}},
		{"That is no proof. Not asked: whether a waiter that gives up says why.\n", func(e *explorations.Exploration) {
			e.Summary.Violating, e.Summary.Failures, e.Summary.RateBound = 0, nil, tally.RateBound(0, 19)
			e.Plan.NotAsked = []string{"whether a waiter that gives up says why"}
		}},
		{"DOUBT: In 3 of 9 runs that nothing disturbed, a Release said that the lock was not held, although\n",
			func(e *explorations.Exploration) {
				e.Summary.Violating, e.Summary.Failures, e.Summary.Undisturbed, e.Summary.NotHeld = 0, nil, 9, 3
			}},
		{"No run tested the lock.\n", func(e *explorations.Exploration) {
			e.Summary.Violating, e.Summary.Evidence, e.Summary.Failures = 0, 0, nil
		}},
		{"The exploration ended with the first violation; --all goes on.\n",
			func(e *explorations.Exploration) { e.StoppedAt = new(1) }},
		{"INCOMPLETE: 3 jobs of 10 runs have no result.\n", func(e *explorations.Exploration) {
			e.Complete, e.Missing = false,
				3
		}},
		{"This is shard 1/4: 3 jobs of 10 runs are missing. Merge puts the shards together.\n",
			func(e *explorations.Exploration) {
				e.Complete, e.Missing, e.Timing.Shard = false, 3, "1/4"
			}},
		{"seed 7: NOT DETERMINISTIC, as were 2 runs in all: first divergent event:\n  a\n",
			func(e *explorations.Exploration) {
				e.Summary.Unsteady, e.Summary.Nondeterministic = &tally.BadRun{Seed: 7, Why: "first divergent event:\na"}, 2
			}},
		{"seed 8: NO RESULT, as with 1 runs in all: too many events\n", func(e *explorations.Exploration) {
			e.Summary.Broken, e.Summary.Failed = &tally.BadRun{Seed: 8, Why: "too many events"}, 1
		}},
		{", judged by its own promise, under the faults that",
			func(e *explorations.Exploration) { e.Plan.Judge = explorations.JudgePromise }},
	} {
		e := testreports.Exploration()
		c.change(e)
		if text := exploreText(t, e); !strings.Contains(text, c.want) {
			t.Errorf("%s\nhas no\n%s", text, c.want)
		}
	}
}

func TestExplorationErrors(t *testing.T) {
	replay := func(int, *failure.Failure) []string { return nil }
	if err := terminal.Exploration(testreports.FullDisk{}, testreports.Exploration(), replay,
		reports.Options{}); !errors.Is(err, testreports.ErrDiskFull) {
		t.Error(err)
	}
	if err := terminal.Exploration(new(strings.Builder), testreports.Exploration(), replay,
		reports.Options{Width: 1}); err == nil {
		t.Error("a width of one column")
	}
}
