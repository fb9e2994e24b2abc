package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/roster"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/internal/campaign"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/csv"
	"locksim/reports/grid"
	"locksim/reports/html"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/compare"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
)

// compareFlags are the flags of the compare command.
type compareFlags struct {
	liveFlag
	seeds    int
	json     bool
	markdown bool
	csv      bool
	out      string
	quiet    bool
}

func (s *shell) compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare [LOCK…]",
		Short: "Compare locks: servers, tokens, round trips, the faults that each survives",
		Long: `Compare shows for each lock how many servers it needs, whether it mints fencing
tokens, how many round trips an uncontended acquire, release and renewal take, for
whom it is, and which faults it survives behind which fence.

Without names, all locks are compared: the built-in ones and your own.

The servers, the tokens, the promise and for whom the lock is are declared by the
lock. All else is measured by this command: the round trips in a run of one client,
the rest in the scenarios of the library that are about the lock. For each class of
faults the table shows the weakest fencing mode in which no run did harm. --markdown
and --json also have, for each weaker mode, a run that did harm, with the command that
makes it again. --out writes a page with a diagram of each of these runs, and the
comparison in all other forms.

The scenarios of the library place their faults for locks on Redis with a lease of
ten seconds. Some of these faults do not strike your own lock, if it has another lease
or other servers: locksim explore --lock LOCK draws faults for it.

With --live what the locks survive is seen on real servers; see docs/live.md. Scenarios
with a fault that real servers cannot play do not count then.`,
		Example: `  locksim compare
  locksim compare single redlock
  locksim compare fenced broken/token-after-lock
  locksim compare --seeds 20
  locksim compare --markdown >docs/compare.md
  locksim compare single fenced --out /tmp/compare
  locksim compare fenced --live`,
		ValidArgsFunction: s.completeCompared,
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := f.liveFlag.check(cmd.Flags()); err != nil {
				return err
			}
			return s.compare(names, f)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.seeds, "seeds", 1, "play each scenario with `N` seeds")
	flags.BoolVar(&f.json, "json", false, "print one JSON document instead of the table; see locksim schema compare")
	flags.BoolVar(&f.markdown, "markdown", false, "print Markdown instead of the table")
	flags.BoolVar(&f.csv, "csv", false, csvUsage+": a row for each lock and class of faults")
	flags.StringVar(&f.out, "out", "", "also write compare.html, compare.md, compare.json and compare.csv into `DIR`")
	flags.BoolVar(&f.quiet, "quiet", false, "write no progress")
	f.liveFlag.add(flags, "play the scenarios on real servers, in real time: ten minutes and more", anyScale, 1, "")
	s.completeFlags(cmd)
	return cmd
}

// completeCompared offers the locks that are not named yet.
func (s *shell) completeCompared(_ *cobra.Command, named []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := slices.DeleteFunc(s.EveryLock(), func(name string) bool { return slices.Contains(named, name) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// compare is the compare command.
func (s *shell) compare(names []string, f compareFlags) error {
	if err := oneForm(map[string]bool{"--json": f.json, "--markdown": f.markdown, "--csv": f.csv}); err != nil {
		return err
	}
	if err := outfile.PrepareFolder(f.out); err != nil {
		return err
	}
	seeds, err := outcome.NewSeeds(1, f.seeds)
	if err != nil {
		return fmt.Errorf("--seeds %d: %w", f.seeds, err)
	}
	locks, err := s.compared(names)
	if err != nil {
		return err
	}
	w, err := newCrew(s.Console, options{quiet: f.quiet})
	if err != nil {
		return err
	}
	defer w.close()
	measured := func() (*compare.Comparison, error) { return s.measured(w, locks, seeds) }
	if f.live {
		measured = func() (*compare.Comparison, error) { return s.measuredLive(locks, seeds, f) }
	}
	c, err := measured()
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := s.storeComparison(w, f.out, c, names); err != nil {
			return &console.BrokenError{Cause: fmt.Errorf("store the comparison in %s: %w", f.out, err)}
		}
	}
	switch {
	case f.json:
		b, err := c.JSON()
		if err != nil {
			return &console.BrokenError{Cause: err}
		}
		_, err = s.Out.Write(b)
		return s.Print(err)
	case f.markdown:
		return s.Print(markdown.Comparison(s.Out, c))
	case f.csv:
		return s.Print(csv.Write(s.Out, csv.Comparison(c)))
	}
	err = terminal.Comparison(s.Out, c, reports.Options{Width: compareWidth, Colour: s.Colour(console.IsTerminal)})
	if err == nil && f.out != "" {
		_, err = fmt.Fprintf(s.Out, "\n%s\n", filepath.Join(f.out, comparePage))
	}
	return s.Print(err)
}

// comparePage is the page of a comparison in its folder.
const comparePage = "compare.html"

// storeComparison writes a comparison in every form into a folder. Child processes draw the runs
// that show harm; the page leaves out a diagram that cannot be made, with a note.
func (s *shell) storeComparison(w *crew, dir string, c *compare.Comparison, names []string) error {
	var figures map[figureJob]html.Found
	if !c.Live { // a live run cannot be made again for its diagram
		var err error
		if figures, err = s.figures(w, c); err != nil {
			return err
		}
	}
	again := s.PublicName() + " compare"
	for _, name := range names {
		again += " " + console.Quote(name)
	}
	again += fmt.Sprintf(" --seeds %d --out DIR", c.Seeds.Len())
	if c.Live {
		again += " --live"
	}
	timing := explore.NewTiming()
	var page, md bytes.Buffer
	err := html.Comparison(&page, c, html.ComparisonOptions{Again: again, Versions: runfiles.VersionsOf(timing.Go, timing.Modules),
		Figure: func(lock string, run compare.Seen) html.Found { return figures[figureOf(lock, run)] }})
	if err != nil {
		return err
	}
	if err := markdown.Comparison(&md, c); err != nil {
		return err
	}
	table, err := csvFile("compare.csv", csv.Comparison(c))
	if err != nil {
		return err
	}
	whole, err := c.JSON()
	if err != nil {
		return err
	}
	return outfile.WriteAll(dir, []outfile.Document{{Name: comparePage, Data: page.Bytes()}, {Name: "compare.md", Data: md.Bytes()}, table, {Name: "compare.json", Data: whole}})
}

// figureJob is a run of a comparison that a child process draws.
type figureJob struct {
	Lock     string     `json:"lock"`
	Scenario string     `json:"scenario"`
	Seed     uint64     `json:"seed"`
	Mode     fence.Mode `json:"mode"`
	ID       string     `json:"id"`
}

// figureOf is the job that draws a run, without its id.
func figureOf(lock string, run compare.Seen) figureJob {
	return figureJob{Lock: lock, Scenario: run.Scenario, Seed: run.Seed, Mode: run.Mode}
}

// figureWidth is the width of a diagram of a comparison, in pixels: two fit side by side.
const figureWidth = 560

// draw makes the run of a job again, and draws it, in a child process.
func (s *shell) draw(j figureJob) (page, error) {
	sc, err := file.Load(j.Scenario)
	if err != nil {
		return page{}, err
	}
	l, err := play.FindLock(j.Lock, s.Extra)
	if err != nil {
		return page{}, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: j.Seed, Modes: []fence.Mode{j.Mode}, Alone: true})
	if err != nil {
		return page{}, err
	}
	var b bytes.Buffer
	err = html.Figure(&b, o, j.Mode, html.FigureOptions{ID: j.ID, Width: figureWidth})
	return page{Figure: b.Bytes()}, err
}

// figures are the diagrams of the runs that show harm, by their jobs without an id.
func (s *shell) figures(w *crew, c *compare.Comparison) (map[figureJob]html.Found, error) {
	var todo []pageOf
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
				todo = append(todo, pageOf{id, figureTask.Job(job)})
			}
		}
	}
	out := map[figureJob]html.Found{}
	err := w.writePages(todo, func(id string, made page) error {
		out[asked[id]] = made.Figure
		return nil
	}, func(id string, err error) {
		j := asked[id]
		w.Note(fmt.Sprintf("no diagram of %s with %s in mode %s: %v", j.Scenario, j.Lock, j.Mode, err))
	})
	return out, err
}

// compareWidth is the maximal width of the table.
const compareWidth = 80

// compared are the locks of some names; without names, all locks but the specimens.
func (s *shell) compared(names []string) ([]play.Lock, error) {
	if len(names) == 0 {
		names = s.Playable(s.Console)
	}
	var locks []play.Lock
	for i, name := range names {
		l, err := play.FindLock(name, s.Extra)
		if err != nil {
			return nil, roster.NoLock(err, fmt.Errorf("there is no lock %s: %s", console.Quote(name), prose.Choose(name, s.EveryLock())))
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("lock %s is named twice: name each lock once", name)
		}
		locks = append(locks, l)
	}
	return locks, nil
}

// compareJob is a lock that a child process measures.
type compareJob struct {
	Lock  string        `json:"lock"`
	Seeds outcome.Seeds `json:"seeds"`
}

// compareAnswer is the result of a child. Unusable is the reason why a lock cannot be
// measured, if the lock itself is the cause.
type compareAnswer struct {
	Lock     *compare.Lock `json:"lock,omitempty"`
	Unusable string        `json:"unusable,omitempty"`
}

// measure measures the lock of a job, in a child process.
func (s *shell) measure(j compareJob, step func()) (compareAnswer, error) {
	l, err := play.FindLock(j.Lock, s.Extra)
	if err != nil {
		return compareAnswer{}, err
	}
	m, err := compare.Measure(l, compare.Options{Seeds: j.Seeds, Replay: runfiles.Again(s.Console), Step: step})
	if errors.Is(err, compare.ErrUnusable) {
		return compareAnswer{Unusable: err.Error()}, nil
	}
	return compareAnswer{Lock: m}, err
}

// measured measures the locks in child processes. It starts with the locks on most
// servers: they send most messages and take longest, and would delay the end.
func (s *shell) measured(c *crew, locks []play.Lock, seeds outcome.Seeds) (*compare.Comparison, error) {
	order := make([]int, len(locks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return locks[b].Nodes() - locks[a].Nodes() })
	jobs := make([]campaign.Job, len(locks))
	for n, i := range order {
		jobs[n] = compareTask.Job(compareJob{Lock: locks[i].Name, Seeds: seeds})
		jobs[n].Noun, jobs[n].Count = "locks", 1
	}
	rows := make([]compare.Lock, len(locks))
	var unusable []string
	var failed error
	finished := 0
	err := campaign.Do(c.ctx, c.workers, c.watch(func() string { return "" }), jobs, func(n int, text json.RawMessage, err error) error {
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
	return compare.New(seeds, rows), nil
}
