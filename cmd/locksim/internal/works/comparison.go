package works

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/roster"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/internal/campaign"
	"locksim/lock/fence"
	"locksim/reports/csv"
	"locksim/reports/grid"
	"locksim/reports/html"
	"locksim/reports/markdown"
	"locksim/scenarios/compare"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// StoreComparison writes a comparison in every form into a folder. Child processes draw the runs
// that show harm; the page leaves out a diagram that cannot be made, with a note.
func StoreComparison(w *publish.Crew, dir string, c *comparisons.Comparison, names []string) error {
	var drawn map[figureJob]html.Found
	if !c.Live { // a live run cannot be made again for its diagram
		var err error
		if drawn, err = figures(w, c); err != nil {
			return err
		}
	}
	again := w.PublicName() + " compare"
	for _, name := range names {
		again += " " + console.Quote(name)
	}
	for _, files := range c.Also {
		again += " --also " + console.Quote(files)
	}
	again += fmt.Sprintf(" --seeds %d --out DIR", c.Seeds.Len())
	if c.Live {
		again += " --live"
	}
	timing := explorations.NewTiming()
	var page, md bytes.Buffer
	err := html.Comparison(&page, c,
		html.ComparisonOptions{Again: again, Versions: runfiles.VersionsOf(timing.Go, timing.Modules),
			Figure: func(lock string, run comparisons.Seen) html.Found { return drawn[figureOf(lock, run)] }})
	if err != nil {
		return err
	}
	if err := markdown.Comparison(&md, c); err != nil {
		return err
	}
	table, err := publish.CSVFile("compare.csv", csv.Comparison(c))
	if err != nil {
		return err
	}
	whole, err := c.JSON()
	if err != nil {
		return err
	}
	return outfile.WriteAll(dir, []outfile.Document{{Name: ComparePage, Data: page.Bytes()},
		{Name: "compare.md", Data: md.Bytes()}, table, {Name: "compare.json", Data: whole}})
}

// ComparePage is the page of a comparison in its folder.
const ComparePage = "compare.html"

// figureJob is a run of a comparison that a child process draws.
type figureJob struct {
	Lock     string     `json:"lock"`
	Scenario string     `json:"scenario"`
	Seed     uint64     `json:"seed"`
	Mode     fence.Mode `json:"mode"`
	ID       string     `json:"id"`
	Width    int        `json:"width"` // in pixels
	Answers  bool       `json:"answers,omitempty"`
}

// figureOf is the job that draws a run, without its id.
func figureOf(lock string, run comparisons.Seen) figureJob {
	return figureJob{Lock: lock, Scenario: run.Scenario, Seed: run.Seed, Mode: run.Mode, Width: figureWidth}
}

// figureWidth is the width of a diagram of a comparison, in pixels: two fit side by side.
const figureWidth = 560

// draw makes the run of a job again, and draws it, in a child process.
func draw(r roster.Roster, j figureJob) (publish.Page, error) {
	sc, err := r.Load(j.Scenario)
	if err != nil {
		return publish.Page{}, err
	}
	l, err := redislocks.Find(j.Lock, r.Extra)
	if err != nil {
		return publish.Page{}, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: j.Seed, Modes: []fence.Mode{j.Mode}, Alone: true})
	if err != nil {
		return publish.Page{}, err
	}
	var b bytes.Buffer
	err = html.Figure(&b, o, j.Mode, html.FigureOptions{ID: j.ID, Width: j.Width, Answers: j.Answers})
	return publish.Page{Figure: b.Bytes()}, err
}

// figures are the diagrams of the runs that show harm, by their jobs without an id.
func figures(w *publish.Crew, c *comparisons.Comparison) (map[figureJob]html.Found, error) {
	var todo []publish.PageJob
	asked := map[string]figureJob{} // by id
	for _, l := range c.Locks {
		drawn := map[figureJob]bool{}
		for _, survival := range l.Survives {
			for _, run := range grid.HarmShown(survival) {
				job := figureOf(l.Name, run)
				if drawn[job] {
					continue
				}
				drawn[job] = true
				id := fmt.Sprintf("run-%d", len(todo)+1)
				asked[id] = job
				job.ID = id
				todo = append(todo, publish.PageJob{Name: id, Job: figureTask.Job(job)})
			}
		}
	}
	out := map[figureJob]html.Found{}
	err := w.WritePages(todo, func(id string, made publish.Page) error {
		out[asked[id]] = made.Figure
		return nil
	}, func(id string, err error) {
		j := asked[id]
		w.Note(fmt.Sprintf("no diagram of %s with %s in mode %s: %v", j.Scenario, j.Lock, j.Mode, err))
	})
	return out, err
}

// compareJob is a lock that a child process measures.
type compareJob struct {
	Lock  string        `json:"lock"`
	Seeds outcome.Seeds `json:"seeds"`
	Also  []string      `json:"also,omitempty"`
}

// compareAnswer is the result of a child. Unusable is the reason why a lock cannot be
// measured, if the lock itself is the cause.
type compareAnswer struct {
	Lock     *comparisons.Lock `json:"lock,omitempty"`
	Unusable string            `json:"unusable,omitempty"`
}

// measure measures the lock of a job, in a child process.
func measure(c *console.Console, r roster.Roster, j compareJob, step func()) (compareAnswer, error) {
	l, err := redislocks.Find(j.Lock, r.Extra)
	if err != nil {
		return compareAnswer{}, err
	}
	also, err := r.Also(j.Also)
	if err != nil {
		return compareAnswer{}, err
	}
	m, err := compare.Measure(l, compare.Options{Seeds: j.Seeds, Also: also, Replay: runfiles.Again(c), Step: step})
	if errors.Is(err, compare.ErrUnusable) {
		return compareAnswer{Unusable: err.Error()}, nil
	}
	return compareAnswer{Lock: m}, err
}

// Compare measures the locks in child processes. It starts with the locks on most servers: they send most messages and
// take longest, and would delay the end. The scenarios of the files also are played too.
func Compare(c *publish.Crew, locks []subject.Lock, seeds outcome.Seeds,
	also []string) (*comparisons.Comparison, error) {
	order := make([]int, len(locks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return locks[b].Nodes() - locks[a].Nodes() })
	jobs := make([]campaign.Job, len(locks))
	for n, i := range order {
		jobs[n] = compareTask.Job(compareJob{Lock: locks[i].Name, Seeds: seeds, Also: also})
		jobs[n].Noun, jobs[n].Count = "locks", 1
	}
	rows := make([]comparisons.Lock, len(locks))
	var unusable []string
	var failed error
	finished := 0
	err := c.Do(jobs, func(n int, text json.RawMessage, err error) error {
		finished++
		name, answer := locks[order[n]].Name, compareAnswer{}
		if err == nil {
			answer, err = compareTask.Read(text)
		}
		switch {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("measure %s: %w", name, err))
		case answer.Lock == nil && answer.Unusable == "":
			failed = errors.Join(failed, fmt.Errorf("measure %s: the worker gave no answer", name))
		case answer.Unusable != "":
			unusable = append(unusable, answer.Unusable)
		default:
			rows[order[n]] = *answer.Lock
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, &console.BrokenError{Cause: fmt.Errorf("%w: %d of %d locks are measured", err, finished, len(locks))}
	case failed != nil:
		return nil, &console.BrokenError{Cause: failed}
	case len(unusable) > 0:
		slices.Sort(unusable)
		return nil, errors.New(strings.Join(unusable, "\n"))
	}
	made := comparisons.New(seeds, rows)
	made.Also = also
	return made, nil
}
