package works

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/cmd/locksim/internal/searchflags"
	"locksim/internal/campaign"
	"locksim/reports"
	"locksim/reports/csv"
	"locksim/reports/html"
	"locksim/reports/terminal"
	"locksim/scenarios/explore"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/subject"
)

// Exploration is an exploration of one lock.
type Exploration struct {
	*console.Console
	Plan *explorations.Plan
	// Against is the folder whose memory of earlier explorations this one is compared with, "" for none. JUnit is the file
	// for the comparison as JUnit XML, or "".
	Against, JUnit string

	// Cause says whether the page of each violation says when it became inevitable.
	Cause bool

	records string // the folder for the records of all runs, or ""

	tally tally.Tally // of the results so far
}

func readExploration(c *console.Console, r *campaign.Record) (*Exploration, error) {
	plan, err := explorations.ReadPlan(r.Plan)
	return &Exploration{Console: c, Plan: plan}, err
}

// Campaign implements [publish.Work].
func (x *Exploration) Campaign() campaign.Campaign {
	return campaign.Campaign{Kind: explorations.Kind, Plan: x.Plan, Jobs: x.Plan.Jobs(),
		Job: func(i int) campaign.Job {
			data := explore.NewJob(x.Plan, i)
			data.Records = x.records
			job := exploreTask.Job(data)
			job.Name, job.Noun, job.Count = data.Seeds.String(), "runs", data.Seeds.Len()
			job.Unit = func(reported int) string {
				what, seed, ok := data.Unit(reported)
				if ok {
					what += "\nagain: " + x.again(seed) + "\na panic in a goroutine that the lock has started is made minimal, with " +
						"a page, by a test with scenarios.Check"
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
			return x.Plan.Collect == explorations.CollectFirst && b.Ends(), nil
		},
	}
}

// RecordInto implements [publish.Recorder].
func (x *Exploration) RecordInto(dir string) { x.records = dir }

// Detail implements [publish.Work].
func (x *Exploration) Detail() string {
	t := &x.tally
	if t.Runs == 0 {
		return ""
	}
	text := fmt.Sprintf("%s: %v virtual, %d of %d classes of fault", x.Plan.Lock, t.Virtual.Round(time.Minute),
		len(t.Classes), len(x.Plan.Classes()))
	for _, label := range t.Labels() {
		text += fmt.Sprintf(", %s %d", label, t.Violations[label])
	}
	return text
}

// Divisible implements [publish.Work].
func (x *Exploration) Divisible() bool { return true }

// assembled is the exploration, without what differs from run to run.
func (x *Exploration) assembled(r *campaign.Record) (*explorations.Exploration, error) {
	blocks, err := exploreTask.Results(r)
	if err != nil {
		return nil, err
	}
	e := explorations.Assemble(x.Plan, blocks)
	e.Timing = explorations.NewTiming()
	return e, nil
}

// Finished implements [publish.Work].
func (x *Exploration) Finished(r *publish.Results) (publish.Finished, error) {
	e, err := x.assembled(r.Record)
	if err != nil {
		return publish.Finished{}, err
	}
	r.Time(&e.Timing)
	remember, err := x.triage(r, e)
	if err != nil {
		return publish.Finished{}, err
	}
	replay := func(i int, f *failure.Failure) string {
		if r.Dir != "" {
			return fmt.Sprintf("%s replay %s", x.Command(), console.Quote(filepath.Join(r.Dir, publish.FoundName(i))))
		}
		return x.again(f.Seed)
	}
	files, notes := publish.FoundRuns(e.Summary.Failures, replay)
	return publish.Finished{
		Kind:     explorations.Kind,
		Document: e,
		Text: func(w io.Writer, opt reports.Options) error {
			return terminal.Exploration(w, e, lastLines(x.Console, r.Dir, replay), opt)
		},
		CSV: func() csv.Table {
			return csv.Exploration(e, func(i int) string { return replay(i, &e.Summary.Failures[i-1]) })
		},
		Files:   files,
		Pages:   func(add func(string, []byte) error) (problem, err error) { return nil, x.pages(r, e, add) },
		Notes:   notes,
		Missing: e.Missing,

		WriteExtra: remember,
		Problem:    x.problem(e),
	}, nil
}

func (x *Exploration) pages(r *publish.Results, e *explorations.Exploration, add func(string, []byte) error) error {
	public, jobs := &Exploration{Console: x.Public(), Plan: x.Plan}, map[int]publish.FoundPageJob{}
	for i, f := range e.Summary.Failures {
		jobs[i+1] = publish.FoundPageJob{Run: f.Run, Replay: public.again(f.Seed), Mode: publish.ModeOf(&f), Cause: x.Cause}
	}
	opt := html.CampaignOptions{Again: public.whole(), Versions: runfiles.VersionsOf(e.Timing.Go, e.Timing.Modules)}
	return r.FoundPages(explorations.Kind, jobs, opt, func(b *bytes.Buffer, opt html.CampaignOptions) error {
		return html.Exploration(b, e, opt)
	}, add)
}

// again is the command that makes the run of a seed again.
func (x *Exploration) again(seed uint64) string {
	text := fmt.Sprintf("%s explore %s --from-seed %d --runs 1", x.Command(), x.subject(), seed)
	text += x.judged()
	if x.Plan.Space.Faults != nil {
		text += " --faults " + searchflags.FaultWords(x.Plan.Space.Faults, x.Plan.Space.Kinds)
	}
	text += searchflags.SpaceWords(x.Plan.Asked)
	return text
}

// subject are the flags that name what is judged.
func (x *Exploration) subject() string {
	var flags []string
	if s := x.Plan.Space; s.Store != "" {
		flags = append(flags, "--fence "+console.Quote(s.Store))
	}
	if s := x.Plan.Space; s.Store == "" || s.Lock != subject.Ledger {
		flags = append(flags, "--lock "+console.Quote(cmp.Or(s.Lock, x.Plan.Lock)))
	}
	return strings.Join(flags, " ")
}

// judged is the flag that says by what a lock is judged, after a blank; a fence is always judged by its promise.
func (x *Exploration) judged() string {
	if flag := x.Plan.Judge.Flag(); flag != "" && x.Plan.Space.Store == "" {
		return " " + flag
	}
	return ""
}

// whole is the command that makes the whole exploration again.
func (x *Exploration) whole() string {
	text := fmt.Sprintf("%s explore %s --runs %d", x.Command(), x.subject(), x.Plan.Runs)
	if x.Plan.FirstSeed != 1 {
		text += fmt.Sprintf(" --from-seed %d", x.Plan.FirstSeed)
	}
	if x.Plan.Space.Faults != nil {
		text += " --faults " + searchflags.FaultWords(x.Plan.Space.Faults, x.Plan.Space.Kinds)
	}
	text += searchflags.SpaceWords(x.Plan.Asked)
	text += x.judged()
	if x.Plan.Collect == explorations.CollectAll {
		text += " --all"
	}
	return text
}

// problem is the error that decides the exit code.
func (x *Exploration) problem(e *explorations.Exploration) error {
	sum := &e.Summary
	problems := e.Problems()
	switch first := cmp.Or(sum.Unsteady, sum.Broken, sum.Unjudged, sum.Unequal); {
	case len(problems) > 0:
		return &console.BrokenError{Cause: errors.New(problems[0]), Replay: x.again(first.Seed)}
	case sum.Unproven() != "":
		return console.ErrUnexpected
	case e.Triage != nil: // what is known already is no news
		if !e.Triage.Worse() {
			return nil
		}
		return console.ErrUnexpected
	case sum.Violating > 0:
		return console.ErrUnexpected
	}
	return nil
}

// lastLines are the commands that show a violation step by step and that repeat it, each whole. A violation that no
// folder has is first stored, in a folder that is named after it. replay is the command that repeats it.
func lastLines(c *console.Console, dir string, replay func(int, *failure.Failure) string) terminal.Replay {
	return func(i int, f *failure.Failure) []string {
		again := replay(i, f)
		steps := again
		if dir == "" {
			to := fmt.Sprintf("found-%s-seed-%d", strings.ReplaceAll(f.Lock, "/", "-"), f.Seed)
			if f.Placed != nil { // a sweep makes all of its runs again
				to = "found-" + strings.ReplaceAll(f.Lock, "/", "-")
			} else {
				i = 1
			}
			steps = fmt.Sprintf("%s --out %s; %s replay %s", again, console.Quote(to), c.Command(),
				console.Quote(path.Join(to, publish.FoundName(i))))
		}
		return []string{"step by step: " + steps + " --timeline", "replay: " + again}
	}
}
