package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"locksim/internal/workers"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
)

// slowest is how many jobs the timing of a matrix names.
const slowest = 10

// silence is how long a child may take for the runs of one seed: far longer than
// it takes a world to find out that it is frozen or over its limits.
const silence = 10 * time.Minute

// work has the jobs of a plan done by child processes. The answers are in the
// order of the jobs.
func (s matrices) work(plan *matrix.Plan, children int) ([]matrix.Answer, matrix.Timing, error) {
	timing := matrix.NewTiming()
	command, err := s.child()
	if err != nil {
		return nil, timing, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	jobs := plan.Jobs()
	progress := s.newProgress(jobs)
	defer progress.clear()
	answers, finished := make([]matrix.Answer, len(jobs)), 0
	opt := workers.Options{Command: command, Workers: children, Silence: silence, Step: progress.step}
	err = workers.Run(ctx, opt, matrixJobs(jobs), func(d workers.Done[workerJob, workerAnswer]) {
		finished++
		progress.done(d.ID)
		answers[d.ID] = matrixAnswer(d)
		timing.Slowest = append(timing.Slowest, plan.Timing(d.ID, d.Wall))
		if err := plan.Refusal(d.ID, answers[d.ID]); err != nil {
			refuse(err)
		}
	})
	timing.Workers = children
	slices.SortFunc(timing.Slowest, func(a, b matrix.JobTiming) int { return cmp.Compare(b.WallSeconds, a.WallSeconds) })
	timing.Slowest = timing.Slowest[:min(slowest, len(timing.Slowest))]
	return answers, timing, unfinished(err, finished, len(jobs))
}

// unfinished makes of the error that ended all work what it is to the user.
func unfinished(err error, finished, jobs int) error {
	input, isInput := errors.AsType[*file.InputError](err)
	switch {
	case err == nil:
		return nil
	case isInput:
		return input
	case errors.Is(err, context.Canceled):
		return &brokenError{cause: fmt.Errorf("interrupted, with %d of %d jobs done", finished, jobs)}
	}
	return &brokenError{cause: err}
}
