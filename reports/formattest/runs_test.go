package formattest

import (
	"fmt"
	"testing"

	"locksim/lock/fence"
	"locksim/scenarios"
)

// outcome is a real run of a scenario of the library.
func outcome(t *testing.T, name, lock string, seed uint64) *scenarios.Outcome {
	t.Helper()
	sc, err := scenarios.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := scenarios.FindLock(lock, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: seed, Modes: fence.Modes(), Repeat: scenarios.Once})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// rash is a scenario that expects too much, and too little.
const rash = `name: rash
workload: {rounds: 3, hold: 2s, think: 1s}
locks: [fenced, single]
faults:
  - when: {client: c0, event: read, nth: 1}
    pause: {process: c0, for: 15s}
expect:
  fenced: {none: safe, check: rescued}
`

// matrix is one of real runs: of a calm scenario, one that is not as expected,
// and a lock that does not suit it.
func matrix(t *testing.T) *scenarios.Matrix {
	t.Helper()
	calm, err := scenarios.Load("calm")
	if err != nil {
		t.Fatal(err)
	}
	own, err := scenarios.Parse("./rash.yaml", []byte(rash))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := scenarios.NewMatrixPlan(scenarios.MatrixOptions{Scenarios: []*scenarios.Scenario{calm, own}, Locks: []string{"fenced", "single"},
		Seeds: scenarios.Seeds{First: 1, Last: 2}, Modes: fence.Modes()})
	if err != nil {
		t.Fatal(err)
	}
	var answers []scenarios.MatrixAnswer
	for _, j := range plan.Jobs() {
		answers = append(answers, scenarios.NewMatrixAnswer(j.Play(nil, func() {})))
	}
	m := plan.Assemble(answers, func(scenario, lock string, seed uint64, modes ...fence.Mode) string {
		return fmt.Sprint("again ", scenario, " ", lock, " ", seed, " ", modes)
	})
	m.Timing = scenarios.NewMatrixTiming()
	m.Timing.Workers, m.Timing.WallSeconds, m.Timing.Slowest = 1, 0.5, []scenarios.JobTiming{plan.Timing(0, 1)}
	gap := scenarios.MatrixGap{Scenario: "rash", Lock: "mylock", Why: "lock mylock knows no owners\n  3 | workload"}
	m.NotRun = append(m.NotRun, gap)
	gap.Replay = "again rash mylock"
	m.Failures = append(m.Failures, gap)
	return m
}
