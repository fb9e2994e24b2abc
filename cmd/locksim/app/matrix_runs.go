package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/signal"
	"syscall"

	"locksim/internal/campaign"
	"locksim/internal/workers"
)

// runs has the reports made by child processes, so that a lock that ends its
// process cannot take down the command. A report that could not be made is a
// problem, and its cells lead to the page of their scenario; err ends all work.
func (p *pages) runs(children int) (problem, err error) {
	command, err := p.child()
	if err != nil {
		return nil, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	jobs, names := p.pageJobs()
	failed := 0
	h := p.newHeadway("reports", campaign.Shard{}, len(jobs), func(int) int { return 1 }, func() string { return "" })
	defer h.clear()
	err = workers.Run(ctx, workers.Options{Command: command, Workers: children, Silence: silence}, runPages(jobs), func(d workers.Done[workerJob, workerAnswer]) {
		h.made++
		h.done(d.ID)
		if err := p.keep(names[d.ID], d); err != nil {
			giveUp(err)
		}
		if d.Err != nil {
			failed++
			problem = fmt.Errorf("%d of the reports of runs could not be made, and their cells lead to the pages of their scenarios; the last: %s: %w", failed, names[d.ID], d.Err)
		}
	})
	switch {
	case errors.Is(err, context.Canceled):
		return nil, fmt.Errorf("interrupted, with %d of %d reports of runs made: no page was written, and matrix.json was; --no-runs leaves the reports out", len(p.made), len(jobs))
	case err != nil:
		return nil, err
	}
	return problem, nil
}

// keep writes a report, if there is one.
func (p *pages) keep(name string, d workers.Done[workerJob, workerAnswer]) error {
	if d.Err != nil || d.Result.Page == nil {
		return nil
	}
	p.made[name] = true
	return p.write(name, d.Result.Page.HTML)
}

// runPages are the jobs as children take them.
func runPages(jobs []pageJob) iter.Seq[workerJob] {
	return func(yield func(workerJob) bool) {
		for i := range jobs {
			if !yield(workerJob{Page: &jobs[i]}) {
				return
			}
		}
	}
}
