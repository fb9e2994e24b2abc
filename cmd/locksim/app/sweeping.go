package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/cmd/locksim/internal/searchflags"
	"locksim/internal/campaign"
	"locksim/lock"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/reports/terminal"
	"locksim/scenarios/explore"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/sweep"
)

// sweeping is a sweep of one scenario.
type sweeping struct {
	*console.Console
	plan *sweep.Plan
	// scenario is the name or the file that the user gave.
	scenario string
	tally    sweep.Tally // of the results so far
}

func readSweep(c *console.Console, r *campaign.Record) (*sweeping, error) {
	plan, err := sweep.ReadPlan(r.Plan)
	if err != nil {
		return nil, err
	}
	return &sweeping{Console: c, plan: plan, scenario: cmp.Or(r.Asked, plan.Scenario)}, nil
}

func (x *sweeping) campaign() campaign.Campaign {
	return campaign.Campaign{Kind: sweep.Kind, Plan: x.plan, Asked: x.scenario, Jobs: x.plan.Jobs(),
		Job: func(i int) campaign.Job {
			data := x.plan.Job(i)
			job := sweepTask.Job(data)
			job.Name, job.Noun, job.Count = fmt.Sprintf("%d placements from number %d on", data.Runs, data.First), "placements", data.Runs
			if data.Of == sweep.Pairs {
				job.Name = fmt.Sprintf("%d pairs from number %d on", data.Runs, data.First)
			}
			job.Unit = func(reported int) string { return fmt.Sprintf("it ended in number %d", data.First+reported) }
			return job
		},
		Take: func(i int, result json.RawMessage) (last bool, err error) {
			b, err := sweepTask.Read(result)
			if err == nil && b.Job != i {
				err = fmt.Errorf("it is that of job %d", b.Job)
			}
			if err == nil {
				x.tally.Add(b.Tally)
			}
			return false, err
		},
		Follow: func(r *campaign.Record) ([]campaign.Job, error) {
			blocks, err := sweepTask.Results(r)
			if err != nil {
				return nil, err
			}
			var jobs []campaign.Job
			for _, e := range x.plan.Examinations(blocks) {
				job := examineTask.Job(e)
				job.Name, job.Noun, job.Count = "examine "+e.Shape, "violations examined", 1
				jobs = append(jobs, job)
			}
			return jobs, nil
		},
	}
}

func (x *sweeping) detail() string {
	var parts []string
	for _, label := range x.tally.Labels() {
		parts = append(parts, fmt.Sprintf("%s %d", label, x.tally.Violations[label]))
	}
	return strings.Join(parts, ", ")
}

func (x *sweeping) divisible() bool { return true }

// assembled is the sweep, without what differs from run to run. ok is false where
// a violation has not been examined.
func (x *sweeping) assembled(r *campaign.Record) (sw *sweep.Sweep, ok bool, err error) {
	blocks, err := sweepTask.Results(r)
	if err != nil {
		return nil, false, err
	}
	found := map[string]*failure.Failure{}
	for _, e := range x.plan.Examinations(blocks) {
		f, ok, err := examineTask.Answer(r, e)
		if !ok || err != nil {
			return nil, false, err
		}
		found[e.Shape] = f
	}
	sw = sweep.Assemble(x.plan, blocks, found)
	sw.Timing = explore.NewTiming()
	return sw, true, nil
}

func (x *sweeping) finished(r *results) (finished, error) {
	sw, ok, err := x.assembled(r.Record)
	if err != nil || !ok {
		return finished{}, cmp.Or(err, failedJobs(x.campaign(), r.Record, r.dir))
	}
	r.time(&sw.Timing)
	replay := func(i int, f *failure.Failure) string {
		if r.dir != "" {
			return fmt.Sprintf("%s replay %s", x.Command(), console.Quote(filepath.Join(r.dir, foundName(i))))
		}
		return x.again(f)
	}
	files, notes := foundRuns(sw.Summary.Failures, replay)
	return finished{
		kind:     sweep.Kind,
		document: sw,
		text:     func(w io.Writer, opt reports.Options) error { return terminal.Sweep(w, sw, replay, opt) },
		files:    files,
		pages:    func(add func(string, []byte) error) (problem, err error) { return nil, x.pages(r, sw, add) },
		notes:    append([]string{sw.Statement()}, notes...),
		missing:  sw.Missing,
		problem:  sweepProblem(sw),
	}, nil
}

// pages adds sweep.html and the pages of its violations.
func (x *sweeping) pages(r *results, sw *sweep.Sweep, add func(string, []byte) error) error {
	public, jobs := &sweeping{Console: x.Public(), plan: x.plan, scenario: x.scenario}, map[int]foundPageJob{}
	for i := range sw.Summary.Failures {
		if f := &sw.Summary.Failures[i]; f.Run != nil {
			jobs[i+1] = foundPageJob{Run: f.Run, Replay: public.again(f), Mode: modeOf(f)}
		}
	}
	opt := html.CampaignOptions{Again: public.whole(), Versions: runfiles.VersionsOf(sw.Timing.Go, sw.Timing.Modules)}
	return r.foundPages(sweep.Kind, jobs, opt, func(b *bytes.Buffer, opt html.CampaignOptions) error {
		return html.Sweep(b, sw, opt)
	}, add)
}

// whole is the command that makes the whole sweep again.
func (x *sweeping) whole() string { return x.asking(x.plan.Pairs, x.plan.Faults, x.plan.Kinds) }

// again is the command that finds a failure again, by placing the same kind of fault.
// A pair needs all kinds, since the draw of the pairs depends on them.
func (x *sweeping) again(f *failure.Failure) string {
	if len(f.Placed.Kinds) == 1 {
		var names []lock.Fault
		for _, kind := range f.Placed.Kinds {
			names = append(names, lock.Fault(kind))
		}
		return x.asking(0, names, nil)
	}
	return x.whole()
}

// asking is the command that makes a sweep with some pairs, classes and kinds of fault.
func (x *sweeping) asking(pairs int, classes []lock.Fault, kinds []string) string {
	text := fmt.Sprintf("%s sweep %s --lock %s --seed %d", x.Command(), console.Quote(x.scenario), console.Quote(x.plan.Lock), x.plan.Seed)
	if pairs > 0 {
		text += fmt.Sprintf(" --pairs %d", pairs)
	}
	if classes != nil {
		text += " --faults " + searchflags.FaultWords(classes, kinds)
	}
	if flag := x.plan.Judge.Flag(); flag != "" {
		text += " " + flag
	}
	return text
}

// sweepProblem is the error that decides the exit code.
func sweepProblem(sw *sweep.Sweep) error {
	if problem := sw.Summary.Problem(); problem != "" {
		return &console.BrokenError{Cause: errors.New(problem)}
	}
	if sw.Summary.Violating > 0 || sw.Summary.Unproven() != "" {
		return console.ErrUnexpected
	}
	return nil
}
