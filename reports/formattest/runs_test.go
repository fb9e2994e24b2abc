package formattest

import (
	"fmt"
	"testing"

	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// outcome is a real run of a scenario of the library.
func outcome(t *testing.T, name, lock string, seed uint64) *play.Outcome {
	t.Helper()
	sc, err := play.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := play.FindLock(lock, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: fence.Modes(), Repeat: play.Once})
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
func aMatrix(t *testing.T) *play.Matrix {
	t.Helper()
	calm, err := play.Load("calm")
	if err != nil {
		t.Fatal(err)
	}
	own, err := play.Parse("./rash.yaml", []byte(rash))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := play.NewMatrixPlan(play.MatrixOptions{Scenarios: []*play.Scenario{calm, own}, Locks: []string{"fenced", "single"},
		Seeds: play.Seeds{First: 1, Last: 2}, Modes: fence.Modes()})
	if err != nil {
		t.Fatal(err)
	}
	var answers []play.MatrixAnswer
	for _, j := range plan.Jobs() {
		answers = append(answers, play.NewMatrixAnswer(j.Play(nil, func() {})))
	}
	m := plan.Assemble(answers, func(scenario, lock string, seed uint64, modes ...fence.Mode) string {
		return fmt.Sprint("again ", scenario, " ", lock, " ", seed, " ", modes)
	})
	m.Timing = play.NewMatrixTiming()
	m.Timing.Workers, m.Timing.WallSeconds, m.Timing.Slowest = 1, 0.5, []play.JobTiming{plan.Timing(0, 1)}
	gap := play.MatrixGap{Scenario: "rash", Lock: "mylock", Why: "lock mylock knows no owners\n  3 | workload"}
	m.NotRun = append(m.NotRun, gap)
	gap.Replay = "again rash mylock"
	m.Failures = append(m.Failures, gap)
	return m
}
