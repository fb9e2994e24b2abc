package works

import (
	"encoding/json"
	"fmt"

	"locksim/cmd/locksim/internal/publish"
	"locksim/internal/campaign"
	"locksim/scenarios/cause"
	"locksim/scenarios/outcome"
)

// Cause adds to an outcome when its violation became inevitable. Child processes play the continuations. An outcome
// without a violation stays as it is.
func Cause(w *publish.Crew, o *outcome.Outcome) error {
	found, err := cause.Find(o, cause.Options{}, func(jobs []cause.Job) ([]cause.Answer, error) {
		defer w.Progress.Clear()
		todo, answers := make([]campaign.Job, len(jobs)), make([]cause.Answer, len(jobs))
		for i, j := range jobs {
			todo[i] = causeTask.Job(j)
			todo[i].Name = fmt.Sprintf("continuations %d to %d from step %d on", j.First+1, j.First+j.Runs, j.Step)
			todo[i].Noun, todo[i].Count = "continuations", j.Runs
		}
		err := w.Do(todo, func(i int, answer json.RawMessage, err error) error {
			if err != nil {
				return err
			}
			answers[i], err = causeTask.Read(answer)
			return err
		})
		return answers, err
	})
	o.Cause = found
	return err
}
