package testruns

import (
	"testing"

	"locksim/scenarios/explore"
	"locksim/scenarios/matrix"
)

// PlayExploration plays all jobs of a plan in this process. Without a plan it returns
// nil.
func PlayExploration(t testing.TB, plan *explore.Plan) *explore.Exploration {
	t.Helper()
	if plan == nil {
		return nil
	}
	blocks := map[int]explore.Block{}
	for i := range plan.Jobs() {
		b, err := plan.Job(i).Play(nil, func() {})
		if err != nil {
			t.Fatal(err)
		}
		blocks[i] = b
	}
	return explore.Assemble(plan, blocks)
}

// PlayMatrix plays all jobs of a plan in this process. command is the command that
// repeats a run. Without a plan it returns nil.
func PlayMatrix(plan *matrix.Plan, command matrix.ReplayCommand) *matrix.Matrix {
	if plan == nil {
		return nil
	}
	var answers []matrix.Answer
	for _, j := range plan.Jobs() {
		answers = append(answers, matrix.NewAnswer(j.Play(nil, func() {})))
	}
	return plan.Assemble(answers, command)
}
