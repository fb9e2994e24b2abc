package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"locksim/internal/campaign"
	"locksim/internal/workers"
	"locksim/reports"
	"locksim/scenarios/explore"
	"locksim/scenarios/matrix"
	"locksim/scenarios/play"
	"locksim/scenarios/review"
	"locksim/scenarios/search"
	"locksim/scenarios/sweep"
)

// reviewRenderer writes a review in one of its forms.
type reviewRenderer func(w io.Writer, r *review.Review, opt reports.Options) error

// reviewer has the parts of a review made, one after the other.
type reviewer struct {
	*shell
	ctx  context.Context
	work *review.Work
	opt  workers.Options
}

// reviewed measures all that a review needs.
func (s reviews) reviewed(l play.Lock, work *review.Work, f reviewFlags) (*review.Review, error) {
	command, err := s.child()
	if err != nil {
		return nil, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	children := cmp.Or(f.workers, runtime.GOMAXPROCS(0))
	r := &reviewer{s.shell, ctx, work, workers.Options{Command: command, Workers: children, Silence: silence}}
	parts := review.Parts{Missing: work.Missing}
	if parts.Matrix, err = r.matrix(); err != nil {
		return nil, err
	}
	if parts.Within, err = r.exploration(work.Within, "within the promise"); err != nil {
		return nil, err
	}
	if parts.All, err = r.exploration(work.All, "with every fault"); err != nil {
		return nil, err
	}
	if parts.Sweep, err = r.sweep(); err != nil {
		return nil, err
	}
	failures := review.Failures(parts, func(f review.Failure) string { return s.failureAgain(work, f) })
	if err := r.fences(failures); err != nil {
		return nil, err
	}
	review, err := review.AssembleReview(work.Plan, l, parts, failures, reviews{r.shell}.cellAgain)
	if err != nil {
		return nil, &brokenError{cause: err}
	}
	return review, nil
}

// matrix runs the scenarios of the library.
func (r *reviewer) matrix() (*matrix.Matrix, error) {
	if r.work.Matrix == nil {
		return nil, nil
	}
	answers, timing, err := matrices{r.shell}.work(r.work.Matrix, r.opt.Workers)
	if err != nil {
		return nil, err
	}
	m := r.work.Matrix.Assemble(answers, reviews{r.shell}.cellAgain)
	m.Timing = timing
	return m, nil
}

// exploration tries random schedules.
func (r *reviewer) exploration(plan *explore.Plan, what string) (*explore.Exploration, error) {
	if plan == nil {
		return nil, nil
	}
	var sofar search.Tally
	c := campaign.Campaign[workerJob, workerAnswer, explore.Block]{
		Kind: explore.Kind, Plan: plan, Jobs: plan.Jobs(), Result: exploreResult,
		Job: func(i int) workerJob {
			job := plan.Job(i)
			return workerJob{Explore: &job}
		},
		Done: func(_ int, b explore.Block) { sofar.Add(b.Tally) },
	}
	h := r.newHeadway("runs "+what, campaign.Shard{}, plan.Jobs(), func(i int) int { return plan.Job(i).Seeds.Len() },
		func() string { return exploreDetail(plan, &sofar) })
	blocks, err := conducted(r, c, h)
	if err != nil {
		return nil, err
	}
	return explore.AssembleExploration(plan, blocks), nil
}

// sweep places single faults.
func (r *reviewer) sweep() (*sweep.Sweep, error) {
	plan := r.work.Sweep
	if plan == nil {
		return nil, nil
	}
	var sofar sweep.Tally
	c := campaign.Campaign[workerJob, workerAnswer, sweep.Block]{
		Kind: sweep.Name, Plan: plan, Jobs: plan.Jobs(), Result: sweepResult,
		Job: func(i int) workerJob {
			job := plan.Job(i)
			return workerJob{Sweep: &job}
		},
		Done: func(_ int, b sweep.Block) { sofar.Add(b.Tally) },
	}
	h := r.newHeadway("placements", campaign.Shard{}, plan.Jobs(), func(i int) int { return plan.Job(i).Runs }, func() string { return sweepDetail(&sofar) })
	blocks, err := conducted(r, c, h)
	if err != nil {
		return nil, err
	}
	found := map[string]*search.Failure{}
	err = r.each("examine the violations of the sweep", examinations(plan.Examinations(blocks)), func(d workers.Done[workerJob, workerAnswer]) {
		found[d.Job.Examine.Shape] = d.Result.Failure
	})
	return sweep.AssembleSweep(plan, blocks, found), err
}

// fences makes each failure in every fencing mode.
func (r *reviewer) fences(failures []review.Failure) error {
	return r.each("make the breaks with each fence", fenceJobs(failures), func(d workers.Done[workerJob, workerAnswer]) {
		failures[d.ID].Fences = d.Result.Fences
	})
}

// fenceJobs are failures as children take them.
func fenceJobs(failures []review.Failure) func(yield func(workerJob) bool) {
	return func(yield func(workerJob) bool) {
		for _, f := range failures {
			if !yield(workerJob{Fences: &review.FenceJob{Run: f.Run}}) {
				return
			}
		}
	}
}

// each has child processes do some jobs, all of which must have a result.
func (r *reviewer) each(what string, jobs func(yield func(workerJob) bool), done func(workers.Done[workerJob, workerAnswer])) error {
	var failed error
	err := workers.Run(r.ctx, r.opt, jobs, func(d workers.Done[workerJob, workerAnswer]) {
		failed = errors.Join(failed, d.Err)
		done(d)
	})
	if err := errors.Join(err, failed); err != nil {
		return r.failed(what, err)
	}
	return nil
}

// conducted has the jobs of a campaign done, all of which must have a result.
func conducted[R any](r *reviewer, c campaign.Campaign[workerJob, workerAnswer, R], h *headway) (map[int]R, error) {
	defer h.clear()
	done := c.Done
	c.Step = h.step
	c.Done = func(i int, b R) {
		h.done(i)
		done(i, b)
	}
	results, err := c.Run(r.ctx, campaign.Options{Workers: r.opt})
	if err == nil {
		_, err = results.FirstFailed()
	}
	if err != nil {
		return nil, r.failed(c.Kind, err)
	}
	return results.Finished, nil
}

// failed is an error that ends a review. Nothing was written then.
func (r *reviewer) failed(what string, err error) error {
	if errors.Is(err, context.Canceled) {
		return &brokenError{cause: errors.New("interrupted: the review was not written")}
	}
	return &brokenError{cause: fmt.Errorf("%s: %w", what, err)}
}
