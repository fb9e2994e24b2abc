package formattest

import (
	"fmt"
	"testing"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
)

// played is a real run of a scenario of the library.
func played(t *testing.T, name, lock string, seed uint64) *outcome.Outcome {
	t.Helper()
	sc, err := file.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Find(lock, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: fence.Modes(), Repeat: outcome.Once})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// rash is a scenario with an expectation that is better than the result.
const rash = `name: rash
workload: {rounds: 3, hold: 2s, think: 1s}
locks: [fenced, single]
faults:
  - when: {client: c0, event: read, nth: 1}
    pause: {process: c0, for: 15s}
expect:
  fenced: {none: safe, check: rescued}
`

// aMatrix is a matrix of real runs: of a scenario without faults, of one that is not as
// expected, and with a lock that cannot run it.
func aMatrix(t *testing.T) *matrices.Matrix {
	t.Helper()
	calm, err := file.Load("calm")
	if err != nil {
		t.Fatal(err)
	}
	own, err := file.Parse("./rash.yaml", []byte(rash))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := matrix.NewPlan(matrix.Options{Scenarios: []*file.Scenario{calm, own}, Locks: []string{"fenced", "single"},
		Seeds: outcome.Seeds{First: 1, Last: 2}, Modes: fence.Modes()})
	if err != nil {
		t.Fatal(err)
	}
	var answers []matrix.Answer
	for _, j := range plan.Jobs() {
		answers = append(answers, matrix.NewAnswer(j.Play(nil, func() {})))
	}
	m := plan.Assemble(answers, func(scenario, lock string, seed uint64, modes ...fence.Mode) string {
		return fmt.Sprint("again ", scenario, " ", lock, " ", seed, " ", modes)
	})
	m.Timing = matrices.NewTiming()
	m.Timing.Workers, m.Timing.WallSeconds, m.Timing.Slowest = 1, 0.5, []matrices.JobTiming{plan.Timing(0, 1)}
	gap := matrices.Gap{Scenario: "rash", Lock: "mylock", Why: "lock mylock has no owners\n  3 | workload"}
	m.NotRun = append(m.NotRun, gap)
	gap.Replay = "again rash mylock"
	m.Failures = append(m.Failures, gap)
	return m
}
