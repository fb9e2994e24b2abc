package works

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
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/cmd/locksim/internal/searchflags"
	"locksim/internal/campaign"
	"locksim/lock"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/reports/terminal"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/sweep"
)

// Sweep is a sweep of one scenario.
type Sweep struct {
	*console.Console
	Plan *sweeps.Plan
	// Scenario is the name or the file that the user gave.
	Scenario string
	tally    sweeps.Tally // of the results so far
	records  string       // the folder for the records of all runs, or ""
}

func readSweep(c *console.Console, r *campaign.Record) (*Sweep, error) {
	plan, err := sweeps.ReadPlan(r.Plan)
	if err != nil {
		return nil, err
	}
	return &Sweep{Console: c, Plan: plan, Scenario: cmp.Or(r.Asked, plan.Scenario)}, nil
}

// Campaign implements [publish.Work].
func (x *Sweep) Campaign() campaign.Campaign {
	return campaign.Campaign{Kind: sweeps.Kind, Plan: x.Plan, Asked: x.Scenario, Jobs: x.Plan.Jobs(),
		Job: func(i int) campaign.Job {
			data := sweep.NewJob(x.Plan, i)
			data.Records = x.records
			job := sweepTask.Job(data)
			job.Name, job.Noun, job.Count = fmt.Sprintf("%d placements from number %d on", data.Runs, data.First), "placements",
				data.Runs
			if data.Of == sweeps.Pairs {
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
			for _, e := range sweep.Examinations(x.Plan, blocks) {
				job := examineTask.Job(e)
				job.Name, job.Noun, job.Count = "examine "+e.Shape, "violations examined", 1
				jobs = append(jobs, job)
			}
			return jobs, nil
		},
	}
}

// RecordInto implements [publish.Recorder].
func (x *Sweep) RecordInto(dir string) { x.records = dir }

// Detail implements [publish.Work].
func (x *Sweep) Detail() string {
	var parts []string
	for _, label := range x.tally.Labels() {
		parts = append(parts, fmt.Sprintf("%s %d", label, x.tally.Violations[label]))
	}
	return strings.Join(parts, ", ")
}

// Divisible implements [publish.Work].
func (x *Sweep) Divisible() bool { return true }

// assembled is the sweep, without what differs from run to run. ok is false where
// a violation has not been examined.
func (x *Sweep) assembled(r *campaign.Record) (sw *sweeps.Sweep, ok bool, err error) {
	blocks, err := sweepTask.Results(r)
	if err != nil {
		return nil, false, err
	}
	found := map[string]*failure.Failure{}
	for _, e := range sweep.Examinations(x.Plan, blocks) {
		f, ok, err := examineTask.Answer(r, e)
		if !ok || err != nil {
			return nil, false, err
		}
		found[e.Shape] = f
	}
	sw = sweeps.Assemble(x.Plan, blocks, found)
	sw.Timing = explorations.NewTiming()
	return sw, true, nil
}

// Finished implements [publish.Work].
func (x *Sweep) Finished(r *publish.Results) (publish.Finished, error) {
	sw, ok, err := x.assembled(r.Record)
	if err != nil || !ok {
		return publish.Finished{}, cmp.Or(err, publish.FailedJobs(x.Campaign(), r.Record, r.Dir))
	}
	r.Time(&sw.Timing)
	replay := func(i int, f *failure.Failure) string {
		if r.Dir != "" {
			return fmt.Sprintf("%s replay %s", x.Command(), console.Quote(filepath.Join(r.Dir, publish.FoundName(i))))
		}
		return x.again(f)
	}
	files, notes := publish.FoundRuns(sw.Summary.Failures, replay)
	return publish.Finished{
		Kind:     sweeps.Kind,
		Document: sw,
		Text: func(w io.Writer, opt reports.Options) error {
			return terminal.Sweep(w, sw, lastLines(x.Console, r.Dir, replay), opt)
		},
		Files:   files,
		Pages:   func(add func(string, []byte) error) (problem, err error) { return nil, x.pages(r, sw, add) },
		Notes:   append([]string{sw.Statement()}, notes...),
		Missing: sw.Missing,
		Problem: sweepProblem(sw),
	}, nil
}

func (x *Sweep) pages(r *publish.Results, sw *sweeps.Sweep, add func(string, []byte) error) error {
	public, jobs := &Sweep{Console: x.Public(), Plan: x.Plan, Scenario: x.Scenario}, map[int]publish.FoundPageJob{}
	for i := range sw.Summary.Failures {
		if f := &sw.Summary.Failures[i]; f.Run != nil {
			jobs[i+1] = publish.FoundPageJob{Run: f.Run, Replay: public.again(f), Mode: publish.ModeOf(f)}
		}
	}
	opt := html.CampaignOptions{Again: public.whole(), Versions: runfiles.VersionsOf(sw.Timing.Go, sw.Timing.Modules)}
	return r.FoundPages(sweeps.Kind, jobs, opt, func(b *bytes.Buffer, opt html.CampaignOptions) error {
		return html.Sweep(b, sw, opt)
	}, add)
}

// whole is the command that makes the whole sweep again.
func (x *Sweep) whole() string { return x.asking(x.Plan.Pairs, x.Plan.Faults, x.Plan.Kinds) }

// again is the command that finds a failure again, by placing the same kind of fault.
// A pair needs all kinds, since the draw of the pairs depends on them.
func (x *Sweep) again(f *failure.Failure) string {
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
func (x *Sweep) asking(pairs int, classes []lock.Fault, kinds []string) string {
	text := fmt.Sprintf("%s sweep %s --lock %s --seed %d", x.Command(), console.Quote(x.Scenario),
		console.Quote(x.Plan.Lock), x.Plan.Seed)
	if pairs > 0 {
		text += fmt.Sprintf(" --pairs %d", pairs)
	}
	if classes != nil {
		text += " --faults " + searchflags.FaultWords(classes, kinds)
	}
	if flag := x.Plan.Judge.Flag(); flag != "" {
		text += " " + flag
	}
	return text
}

// sweepProblem is the error that decides the exit code.
func sweepProblem(sw *sweeps.Sweep) error {
	if problem := sw.Problem(); problem != "" {
		return &console.BrokenError{Cause: errors.New(problem)}
	}
	if sw.Summary.Violating > 0 || sw.Summary.Unproven() != "" {
		return console.ErrUnexpected
	}
	return nil
}
