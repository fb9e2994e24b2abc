package publish

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/internal/campaign"
	"locksim/lock/fence"
	"locksim/reports/html"
	"locksim/scenarios/cause"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/records"
	"locksim/scenarios/replay"
	"locksim/scenarios/subject"
)

// Page is the page of a run, and a diagram of it for a page of several runs, where that
// was asked for. A child process writes it: a lock that exits its process must not end
// the command.
type Page struct {
	HTML   []byte `json:"html,omitempty"`
	Figure []byte `json:"figure,omitempty"`
	// Record is the file with the record of the run.
	Record []byte `json:"record,omitempty"`
}

// FoundPageJob is the job of a child that repeats a violation and writes its page.
type FoundPageJob struct {
	Run *outcome.RunFile `json:"run"`
	// Replay is the command at the end of the page.
	Replay string `json:"replay"`
	// Mode is the mode of the diagram on the page of the campaign; "" for no diagram.
	Mode fence.Mode `json:"mode,omitempty"`
	// Cause says whether the page says when the violation became inevitable.
	Cause bool `json:"cause,omitempty"`
	// Answers says whether that diagram begins with the answers of the run.
	Answers bool `json:"answers,omitempty"`
	// ID is the id of that diagram.
	ID string `json:"id,omitempty"`
}

// FoundPageTask makes the run of a violation again, and renders its page.
const FoundPageTask = campaign.Task[FoundPageJob, Page]("found page")

// FoundPage repeats the violation, twice.
func FoundPage(c *console.Console, extra []subject.Lock, j FoundPageJob) (Page, error) {
	sc, l, err := replay.Setup(j.Run, extra)
	if err != nil {
		return Page{}, err
	}
	o, err := replay.Run(j.Run, extra, outcome.Twice)
	if err != nil {
		return Page{}, err
	}
	if j.Cause {
		if o.Cause, err = cause.Find(o, foundCause, cause.Here(sc, l)); err != nil {
			return Page{}, err
		}
	}
	opt := runfiles.PageOptions(c, o, l, outcome.Twice)
	opt.Replay = j.Replay
	made, err := runfiles.Page(o, opt)
	if err != nil {
		return Page{}, err
	}
	page := Page{HTML: made.Data}
	if page.Record, err = records.File(o); err != nil || j.Mode == "" {
		return page, err
	}
	var figure bytes.Buffer
	err = html.Figure(&figure, o, j.Mode, html.FigureOptions{ID: j.ID, Width: FoundWidth, Answers: j.Answers})
	page.Figure = figure.Bytes()
	return page, err
}

// FoundWidth is the width of the diagram of a violation, in pixels, as wide as a page.
const FoundWidth = 1100

// foundCause bounds the continuations of a violation, of which a campaign can have many, to a quarter of those of a
// run.
var foundCause = cause.Options{Events: 1_000_000, Continuations: 100}

// PageJob is a page to be written: its file name and its job.
type PageJob struct {
	Name string
	Job  campaign.Job
}

// WritePages lets child processes write pages, and calls add for each as soon as it is
// written, or failed where it cannot be. An error of add ends all jobs.
func (c *Crew) WritePages(todo []PageJob, add func(name string, made Page) error,
	failed func(name string, err error)) error {
	defer c.Progress.Clear()
	jobs := make([]campaign.Job, len(todo))
	for i := range todo {
		jobs[i] = todo[i].Job
		jobs[i].Noun, jobs[i].Count = "reports written", 1
	}
	return c.Do(jobs, func(i int, answer json.RawMessage, err error) error {
		made := Page{}
		if err == nil {
			err = json.Unmarshal(answer, &made)
		}
		if err != nil {
			failed(todo[i].Name, err)
			return nil
		}
		return add(todo[i].Name, made)
	})
}

// ModeOf is the mode in which a violation is shown; "" for a run that only differed.
func ModeOf(f *failure.Failure) fence.Mode {
	if len(f.Violations) == 0 {
		return ""
	}
	return f.Violations[0].Mode
}

// FoundName is the file of the i-th violation, counted from 1, and foundPageName its
// page.
func FoundName(i int) string     { return fmt.Sprintf("found-%d.json", i) }
func foundPageName(i int) string { return fmt.Sprintf("found-%d.html", i) }

// runOf is the file of the violation of a page.
func runOf(page string) string { return strings.TrimSuffix(page, ".html") + ".json" }

// FoundRuns are the files of the examined violations of a campaign, and a note on each
// with its command, which replay gives.
func FoundRuns(found failure.Failures,
	replay func(int, *failure.Failure) string) (files []func() (outfile.Document, error), notes []string) {
	for i := range found {
		f := &found[i]
		if f.Run == nil {
			continue
		}
		files = append(files, func() (outfile.Document, error) {
			data, err := f.Run.JSON()
			return outfile.Document{Name: FoundName(i + 1), Data: data}, err
		})
		notes = append(notes, f.Headline(), "replay: "+replay(i+1, f))
	}
	return files, notes
}

// FoundPages adds the pages of the violations of a campaign, and the page of the
// campaign, which has the name of its kind and links to them. jobs are the violations by
// their numbers, and opt has the other content of the page.
func (c *Crew) FoundPages(kind string, jobs map[int]FoundPageJob, opt html.CampaignOptions,
	render func(b *bytes.Buffer, opt html.CampaignOptions) error, add func(name string, data []byte) error) error {
	var todo []PageJob
	for i := 1; len(todo) < len(jobs); i++ {
		if job, ok := jobs[i]; ok {
			job.ID = fmt.Sprintf("found-%d", i)
			todo = append(todo, PageJob{foundPageName(i), FoundPageTask.Job(job)})
		}
	}
	written := map[string]Page{}
	err := c.WritePages(todo, func(name string, made Page) error {
		written[name] = made
		return errors.Join(add(records.Beside(runOf(name)), made.Record), add(name, made.HTML))
	}, func(name string, err error) { c.Note(fmt.Sprintf("%s cannot be written: %v", name, err)) })
	if err != nil {
		return err
	}
	opt.Page = func(i int) string {
		name := foundPageName(i)
		if _, ok := written[name]; ok {
			return name
		}
		return ""
	}
	opt.Figure = func(i int) html.Found { return written[foundPageName(i)].Figure }
	opt.Replay = func(i int) string { return jobs[i].Replay }
	var b bytes.Buffer
	if err := render(&b, opt); err != nil {
		return err
	}
	return add(kind+".html", b.Bytes())
}
