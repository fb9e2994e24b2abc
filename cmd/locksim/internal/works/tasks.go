// Package works has what child processes do for the command: explorations, sweeps, matrices, reviews and comparisons,
// each with its jobs, its results and the commands that make them again.
package works

import (
	"fmt"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/roster"
	"locksim/internal/campaign"
	"locksim/internal/workers"
	"locksim/scenarios/cause"
	"locksim/scenarios/explore"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/review"
	"locksim/scenarios/sweep"
	"locksim/sim"
)

// The tasks of the child processes, each with the types of its job and its answer.
const (
	matrixTask  = campaign.Task[matrix.Job, matrix.Answer]("matrix")
	exploreTask = campaign.Task[explore.Job, explorations.Block]("explore")
	sweepTask   = campaign.Task[sweep.Job, sweeps.Block]("sweep")
	// examineTask makes a violation of a sweep minimal.
	examineTask = campaign.Task[sweep.Examination, *failure.Failure]("examine")
	// againTask plays a violation of an earlier exploration once more.
	againTask = campaign.Task[explore.Again, bool]("again")
	// fencesTask makes the run of a failure of a review in each fencing mode.
	fencesTask = campaign.Task[review.FenceJob, []reviews.Fence]("fences")
	// compareTask measures a lock.
	compareTask = campaign.Task[compareJob, compareAnswer]("compare")
	// figureTask draws a run of a comparison.
	figureTask = campaign.Task[figureJob, publish.Page]("figure")
	// causeTask plays continuations of a run.
	causeTask = campaign.Task[cause.Job, cause.Answer]("cause")
	// runPageTask makes a run of a matrix again, and renders its page.
	runPageTask = campaign.Task[runPageJob, publish.Page]("run page")
)

// handle makes the handler of a task. After a run in a frozen world the process is not used again: the bubble still
// exists, and may be busy.
func handle[J, A any](task campaign.Task[J, A], do func(J, func()) (A, error)) campaign.Handler {
	return task.Handler(func(j J, step func()) (A, error) {
		a, err := do(j, step)
		switch {
		case !sim.Spent():
		case err == nil:
			err = workers.ErrLast
		default:
			err = fmt.Errorf("%w: %w", workers.ErrSpent, err)
		}
		return a, err
	})
}

// Handlers execute these tasks in a child process.
func Handlers(c *console.Console, r roster.Roster) []campaign.Handler {
	return []campaign.Handler{
		handle(matrixTask, func(j matrix.Job, step func()) (matrix.Answer, error) {
			tallies, err := j.Play(r.Extra, step)
			a := matrix.NewAnswer(tallies, err)
			if a.BadInput != nil {
				return a, nil // bad input is an answer of the matrix, not a failure of the job
			}
			return a, err
		}),
		handle(exploreTask, func(j explore.Job, step func()) (explorations.Block, error) { return j.Play(r.Extra, step) }),
		handle(sweepTask, func(j sweep.Job, step func()) (sweeps.Block, error) { return j.Play(r.Extra, step) }),
		handle(examineTask, func(j sweep.Examination, _ func()) (*failure.Failure, error) { return j.Play(r.Extra) }),
		handle(againTask, func(j explore.Again, _ func()) (bool, error) { return j.Fails(r.Extra) }),
		handle(fencesTask, func(j review.FenceJob, _ func()) ([]reviews.Fence, error) { return j.Play(r.Extra) }),
		handle(compareTask, func(j compareJob, step func()) (compareAnswer, error) { return measure(c, r, j, step) }),
		handle(figureTask, func(j figureJob, _ func()) (publish.Page, error) { return draw(r, j) }),
		handle(causeTask, func(j cause.Job, step func()) (cause.Answer, error) { return j.Play(r.Extra, step) }),
		handle(runPageTask, func(j runPageJob, _ func()) (publish.Page, error) { return runPage(c, r, j) }),
		handle(publish.FoundPageTask, func(j publish.FoundPageJob, _ func()) (publish.Page, error) {
			return publish.FoundPage(c, r.Extra, j)
		}),
	}
}
