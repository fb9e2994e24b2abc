package app

import (
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"locksim/internal/campaign"
	"locksim/internal/workers"
	"locksim/scenarios/explore"
	"locksim/scenarios/matrix"
	"locksim/scenarios/review"
	"locksim/scenarios/search"
	"locksim/scenarios/sweep"
	"locksim/sim"
)

// What a child of this command can be asked to do, and what it answers.
const (
	matrixTask  = campaign.Task[matrix.Job, matrix.Answer]("matrix")
	exploreTask = campaign.Task[explore.Job, explore.Block]("explore")
	sweepTask   = campaign.Task[sweep.Job, sweep.Block]("sweep")
	// examineTask makes a violation of a sweep minimal.
	examineTask = campaign.Task[sweep.Examination, *search.Failure]("examine")
	// fencesTask makes a failure of a review with each fence.
	fencesTask = campaign.Task[review.FenceJob, []review.Fence]("fences")
	// compareTask measures a lock.
	compareTask = campaign.Task[compareJob, compareAnswer]("compare")
	// runPageTask and foundPageTask make a run again, and write its page.
	runPageTask   = campaign.Task[runPageJob, page]("run page")
	foundPageTask = campaign.Task[foundPageJob, page]("found page")
)

// handlers are how a child does all that.
func (s *shell) handlers() []campaign.Handler {
	return []campaign.Handler{
		handle(matrixTask, func(j matrix.Job, step func()) (matrix.Answer, error) {
			tallies, err := j.Play(s.extra, step)
			a := matrix.NewAnswer(tallies, err)
			if a.BadInput != nil {
				return a, nil // that is what is to be found out, and not a failure
			}
			return a, err
		}),
		handle(exploreTask, func(j explore.Job, step func()) (explore.Block, error) { return j.Play(s.extra, step) }),
		handle(sweepTask, func(j sweep.Job, step func()) (sweep.Block, error) { return j.Play(s.extra, step) }),
		handle(examineTask, func(j sweep.Examination, _ func()) (*search.Failure, error) { return j.Play(s.extra) }),
		handle(fencesTask, func(j review.FenceJob, _ func()) ([]review.Fence, error) { return j.Play(s.extra) }),
		handle(compareTask, comparisons{s}.measure),
		handle(runPageTask, func(j runPageJob, _ func()) (page, error) { return runs{s}.runPage(j) }),
		handle(foundPageTask, func(j foundPageJob, _ func()) (page, error) { return runs{s}.foundPage(j) }),
	}
}

// handle is how a child does the jobs of a task. After a run in a frozen world the
// process is of no more use: the bubble is still there, and may be busy.
func handle[J, A any](task campaign.Task[J, A], do func(J, func()) (A, error)) campaign.Handler {
	return task.By(func(j J, step func()) (A, error) {
		a, err := do(j, step)
		if _, frozen := errors.AsType[*sim.FrozenError](err); frozen {
			err = fmt.Errorf("%w: %w", workers.ErrSpent, err)
		}
		return a, err
	})
}

// workerCommand is what the children of this command run. People have no use
// for it.
func (s *shell) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Do jobs that come on standard input",
		Long:   "Worker does the jobs of another locksim, which starts it. It ends when its\nstandard input does.",
		Hidden: true,
		Args:   exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			signal.Ignore(os.Interrupt) // Ctrl-C reaches the parent too, which ends its children
			os.Stdout = os.Stderr       // what other people's code prints must not come between the answers
			err := campaign.Serve(s.in, s.out, s.handlers()...)
			switch {
			case err == nil, errors.Is(err, workers.ErrSpent): // the parent has been told
				return nil
			case errors.Is(err, workers.ErrBadRequest):
				return fmt.Errorf("worker: %w: only locksim itself calls it", err)
			}
			return &brokenError{cause: err}
		},
	}
}
