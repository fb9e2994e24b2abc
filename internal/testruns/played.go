package testruns

import (
	"testing"

	"locksim/scenarios/explore"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/matrices"
)

// PlayExploration plays all jobs of a plan in this process. Without a plan it returns
// nil.
func PlayExploration(t testing.TB, plan *explorations.Plan) *explorations.Exploration {
	t.Helper()
	if plan == nil {
		return nil
	}
	blocks := map[int]explorations.Block{}
	for i := range plan.Jobs() {
		b, err := explore.NewJob(plan, i).Play(nil, func() {})
		if err != nil {
			t.Fatal(err)
		}
		blocks[i] = b
	}
	return explorations.Assemble(plan, blocks)
}

// PlayMatrix plays all jobs of a plan in this process. command is the command that
// repeats a run. Without a plan it returns nil.
func PlayMatrix(plan *matrix.Plan, command matrix.ReplayCommand) *matrices.Matrix {
	if plan == nil {
		return nil
	}
	var answers []matrix.Answer
	for _, j := range plan.Jobs() {
		answers = append(answers, matrix.NewAnswer(j.Play(nil, func() {})))
	}
	return plan.Assemble(answers, command)
}
