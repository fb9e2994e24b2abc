package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"locksim/internal/campaign"
	"locksim/internal/workers"
	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/explore"
	"locksim/scenarios/search"
	"locksim/scenarios/sweep"
)

// examine has child processes make the first violation of each shape as small as
// it gets.
func (s sweeps) examine(plan *sweep.Plan, blocks map[int]sweep.Block, children int) (map[string]*search.Found, error) {
	command, err := s.child()
	if err != nil {
		return nil, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	found := map[string]*search.Found{}
	var failed error
	opt := workers.Options{Command: command, Workers: children, Silence: silence}
	err = workers.Run(ctx, opt, examinations(plan.Examinations(blocks)), func(d workers.Done[workerJob, workerAnswer]) {
		if d.Err != nil {
			failed = errors.Join(failed, d.Err)
		}
		found[d.Job.Examine.Shape] = d.Result.Found
	})
	if errors.Is(err, context.Canceled) {
		return nil, &brokenError{cause: errors.New("interrupted while the violations were examined: what --out keeps is complete; go on with the same command and --resume")}
	}
	if err := errors.Join(err, failed); err != nil {
		return nil, &brokenError{cause: fmt.Errorf("examine the violations: %w", err)}
	}
	return found, nil
}

// examinations are what is to be examined as children take it.
func examinations(todo []sweep.Examination) func(yield func(workerJob) bool) {
	return func(yield func(workerJob) bool) {
		for i := range todo {
			if !yield(workerJob{Examine: &todo[i]}) {
				return
			}
		}
	}
}

// swept is a sweep as it is published. scenario is what the user calls the
// scenario, dir the folder that keeps the sweep, or "". children is how many child
// processes may write its pages, failed is what kept jobs from having a result.
func (s sweeps) swept(sw *sweep.Sweep, scenario, dir string, children int, failed error) finished {
	replay := func(i int, c sweep.Class) string { return s.sweepReplay(&sw.Plan, scenario, dir, i, c) }
	return finished{
		kind:     sweep.Name,
		document: sw,
		text:     func(w io.Writer, opt reports.Options) error { return terminal.Sweep(w, sw, replay, opt) },
		files:    sweptFiles(sw),
		pages:    func() ([]document, error) { return s.sweepPages(sw, scenario, children) },
		notes:    sweepNotes(sw, replay),
		problem:  sweepProblem(sw, failed),
	}
}

// sweptFiles are the smallest runs as replay reads them.
func sweptFiles(sw *sweep.Sweep) []func() (document, error) {
	var all []func() (document, error)
	for i, c := range sw.Summary.Classes {
		if c.Shown == nil {
			continue
		}
		all = append(all, func() (document, error) {
			data, err := c.Shown.Run.JSON()
			return document{foundName(i + 1), data}, err
		})
	}
	return all
}

// sweepReplay is the command that makes a violation again: from its file or,
// where there is none, by placing the same kind of fault.
func (s sweeps) sweepReplay(plan *sweep.Plan, scenario, dir string, i int, c sweep.Class) string {
	if dir != "" {
		return fmt.Sprintf("%s replay %s", s.command(), quote(filepath.Join(dir, foundName(i))))
	}
	text := fmt.Sprintf("%s sweep %s --lock %s --seed %d", s.command(), quote(scenario), quote(plan.Lock), plan.Seed)
	kinds := plan.Kinds
	if len(c.Kinds) == 1 {
		kinds = c.Kinds
	} else {
		text += fmt.Sprintf(" --pairs %d", plan.Pairs) // which pairs are drawn depends on the kinds
	}
	if len(kinds) > 0 {
		text += " --faults " + strings.Join(kinds, ",")
	}
	if plan.Judge == explore.JudgePromise {
		text += " --promise"
	}
	return text
}

// sweepNotes say to people what a program reads in the document.
func sweepNotes(sw *sweep.Sweep, replay terminal.SweepReplay) []string {
	notes := []string{sw.Statement()}
	for i, c := range sw.Summary.Classes {
		if c.Shown != nil {
			notes = append(notes, c.Shown.Headline(), "replay: "+replay(i+1, c))
		}
	}
	return notes
}

// sweepProblem is the error that the exit code speaks of.
func sweepProblem(sw *sweep.Sweep, failed error) error {
	problem := sw.Summary.Problem()
	switch {
	case problem != "":
		return &brokenError{cause: errors.New(problem)}
	case failed != nil:
		return failed
	case sw.Summary.Violating > 0:
		return errUnexpected
	}
	return nil
}

// mergedSweep is the sweep that shards have made together. It examines what they
// have found anew: the first violation of each shape is in one of them.
func (s sweeps) mergedSweep(r *campaign.Record, dir string, children int) (finished, error) {
	plan, err := sweep.ReadPlan(r.Plan)
	if err != nil {
		return finished{}, fmt.Errorf("%s: %w", r.Name, err)
	}
	blocks, err := decoded[sweep.Block](r, plan.Jobs())
	if err != nil {
		return finished{}, err
	}
	found, err := s.examine(plan, blocks, children)
	if err != nil {
		return finished{}, err
	}
	sw := sweep.AssembleSweep(plan, blocks, found)
	sw.Timing = explore.NewTiming()
	done := s.swept(sw, plan.Scenario, dir, children, nil)
	if done.problem == nil {
		done.problem = missing(sw.Missing)
	}
	return done, nil
}
