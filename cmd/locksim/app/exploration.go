package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/cmd/locksim/internal/searchflags"
	"locksim/internal/campaign"
	"locksim/reports"
	"locksim/reports/csv"
	"locksim/reports/html"
	"locksim/reports/terminal"
	"locksim/scenarios/explore"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/tally"
)

// exploration is an exploration of one lock.
type exploration struct {
	*console.Console
	plan  *explore.Plan
	tally tally.Tally // of the results so far
}

func readExploration(c *console.Console, r *campaign.Record) (*exploration, error) {
	plan, err := explore.ReadPlan(r.Plan)
	return &exploration{Console: c, plan: plan}, err
}

func (x *exploration) campaign() campaign.Campaign {
	return campaign.Campaign{Kind: explore.Kind, Plan: x.plan, Jobs: x.plan.Jobs(),
		Job: func(i int) campaign.Job {
			data := x.plan.Job(i)
			job := exploreTask.Job(data)
			job.Name, job.Noun, job.Count = data.Seeds.String(), "runs", data.Seeds.Len()
			job.Unit = func(reported int) string {
				what, seed, ok := data.Unit(reported)
				if ok {
					what += "\nagain: " + x.again(seed) + "\na panic in a goroutine that the lock has started is made minimal, with a page, by a test with scenarios.Check"
				}
				return "it ended " + what
			}
			return job
		},
		Take: func(i int, result json.RawMessage) (last bool, err error) {
			b, err := exploreTask.Read(result)
			if err == nil && b.Job != i {
				err = fmt.Errorf("it is that of job %d", b.Job)
			}
			if err != nil {
				return false, err
			}
			x.tally.Add(b.Tally)
			return x.plan.Collect == explore.CollectFirst && b.Ends(), nil
		},
	}
}

func (x *exploration) detail() string {
	t := &x.tally
	if t.Runs == 0 {
		return ""
	}
	text := fmt.Sprintf("%s: %v virtual, %d of %d classes of fault", x.plan.Lock, t.Virtual.Round(time.Minute), len(t.Classes), len(x.plan.Classes()))
	for _, label := range t.Labels() {
		text += fmt.Sprintf(", %s %d", label, t.Violations[label])
	}
	return text
}

func (x *exploration) divisible() bool { return true }

// assembled is the exploration, without what differs from run to run.
func (x *exploration) assembled(r *campaign.Record) (*explore.Exploration, error) {
	blocks, err := exploreTask.Results(r)
	if err != nil {
		return nil, err
	}
	e := explore.Assemble(x.plan, blocks)
	e.Timing = explore.NewTiming()
	return e, nil
}

func (x *exploration) finished(r *results) (finished, error) {
	e, err := x.assembled(r.Record)
	if err != nil {
		return finished{}, err
	}
	r.time(&e.Timing)
	replay := func(i int, f *failure.Failure) string {
		if r.dir != "" {
			return fmt.Sprintf("%s replay %s", x.Command(), console.Quote(filepath.Join(r.dir, foundName(i))))
		}
		return x.again(f.Seed)
	}
	files, notes := foundRuns(e.Summary.Failures, replay)
	return finished{
		kind:     explore.Kind,
		document: e,
		text:     func(w io.Writer, opt reports.Options) error { return terminal.Exploration(w, e, replay, opt) },
		csv: func() csv.Table {
			return csv.Exploration(e, func(i int) string { return replay(i, &e.Summary.Failures[i-1]) })
		},
		files:   files,
		pages:   func(add func(string, []byte) error) (problem, err error) { return nil, x.pages(r, e, add) },
		notes:   notes,
		missing: e.Missing,
		problem: x.problem(e),
	}, nil
}

// pages adds explore.html and the pages of its violations.
func (x *exploration) pages(r *results, e *explore.Exploration, add func(string, []byte) error) error {
	public, jobs := &exploration{Console: x.Public(), plan: x.plan}, map[int]foundPageJob{}
	for i, f := range e.Summary.Failures {
		jobs[i+1] = foundPageJob{Run: f.Run, Replay: public.again(f.Seed), Mode: modeOf(&f)}
	}
	opt := html.CampaignOptions{Again: public.whole(), Versions: runfiles.VersionsOf(e.Timing.Go, e.Timing.Modules)}
	return r.foundPages(explore.Kind, jobs, opt, func(b *bytes.Buffer, opt html.CampaignOptions) error {
		return html.Exploration(b, e, opt)
	}, add)
}

// again is the command that makes the run of a seed again.
func (x *exploration) again(seed uint64) string {
	text := fmt.Sprintf("%s explore --lock %s --from-seed %d --runs 1", x.Command(), console.Quote(x.plan.Lock), seed)
	if flag := x.plan.Judge.Flag(); flag != "" {
		text += " " + flag
	}
	if x.plan.Space.Faults != nil {
		text += " --faults " + searchflags.FaultWords(x.plan.Space.Faults, x.plan.Space.Kinds)
	}
	text += searchflags.SpaceWords(x.plan.Asked)
	return text
}

// whole is the command that makes the whole exploration again.
func (x *exploration) whole() string {
	text := fmt.Sprintf("%s explore --lock %s --runs %d", x.Command(), console.Quote(x.plan.Lock), x.plan.Runs)
	if x.plan.FirstSeed != 1 {
		text += fmt.Sprintf(" --from-seed %d", x.plan.FirstSeed)
	}
	if x.plan.Space.Faults != nil {
		text += " --faults " + searchflags.FaultWords(x.plan.Space.Faults, x.plan.Space.Kinds)
	}
	text += searchflags.SpaceWords(x.plan.Asked)
	if flag := x.plan.Judge.Flag(); flag != "" {
		text += " " + flag
	}
	if x.plan.Collect == explore.CollectAll {
		text += " --all"
	}
	return text
}

// problem is the error that decides the exit code.
func (x *exploration) problem(e *explore.Exploration) error {
	sum := &e.Summary
	switch first := cmp.Or(sum.Unsteady, sum.Broken); {
	case first != nil:
		return &console.BrokenError{Cause: errors.New(sum.Problems()[0]), Replay: x.again(first.Seed)}
	case sum.Violating > 0, sum.Unproven() != "":
		return console.ErrUnexpected
	}
	return nil
}
