// Package publish runs campaigns, and publishes their results: on standard output, in a folder, as pages that child
// processes write. A package that has campaigns implements Work.
package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/internal/campaign"
	"locksim/internal/workers"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
)

// work is one campaign as the command runs and shows it: an exploration, a sweep, a
// matrix or a review.
type work interface {
	// campaign has the plan, the jobs, and the jobs that follow from their results.
	campaign() campaign.Campaign
	// detail summarizes the results so far, for the line of progress; "" for nothing.
	detail() string
	// divisible reports whether a part of the results can be shown. If not, a shard
	// keeps only its journal, and merge makes the document.
	divisible() bool
	// finished makes the document, and what else is published, from results.
	finished(r *results) (finished, error)
}

// results are the results of a campaign, and how they were made.
type results struct {
	*crew
	*campaign.Record
	// dir is the folder of the results, or "".
	dir string
	// shard is the part of the campaign that was run, wall the time that it took, and
	// children the number of processes; they are zero for the results of a merge.
	shard    campaign.Shard
	wall     time.Duration
	children int
}

// time writes into a timing how the results were made.
func (r *results) time(t *explore.Timing) {
	t.WallSeconds, t.Made, t.Workers = r.wall.Seconds(), r.Made, r.children
	if !r.shard.Whole() {
		t.Shard = r.shard.String()
	}
}

// options say how campaigns are run and published.
type options struct {
	// shard is the part of the campaigns to run.
	shard campaign.Shard
	// resume continues from the results in the folder.
	resume bool
	// workers is the number of child processes, 0 for one per core.
	workers int
	// quiet is for no progress.
	quiet bool
	// folder is where the results are stored.
	folder resultFolder
	// form is how they are printed.
	form form
}

// runAll runs campaigns one after the other, stores and prints their results, and
// returns the error that decides the exit code. Several campaigns get folders named
// names in the folder of the results, and each shard gets its own folder there, so that
// all can be started with the same --out.
func runAll(out *console.Console, o options, works []work, names []string) error {
	if err := outfile.PrepareFolder(o.folder.dir); err != nil {
		return err
	}
	c, err := newCrew(out, o)
	if err != nil {
		return err
	}
	defer c.close()
	pub := &publication{Console: out, form: o.form}
	for i, w := range works {
		dir := o.folder.dir
		if dir != "" && len(works) > 1 {
			dir = filepath.Join(dir, strings.ReplaceAll(names[i], "/", "-"))
		}
		if dir != "" && !o.shard.Whole() {
			dir = filepath.Join(dir, fmt.Sprintf("shard-%d-of-%d", o.shard.Index, o.shard.Count))
		}
		if err := c.run(w, o, dir, pub); err != nil {
			return err
		}
	}
	problem := pub.end()
	if err := o.folder.list(out); err != nil {
		return err
	}
	return problem
}

// run runs one campaign and publishes its results.
func (c *crew) run(w work, o options, dir string, pub *publication) error {
	if err := outfile.PrepareFolder(dir); err != nil {
		return err
	}
	if dir != "" && o.resume {
		if err := outfile.RemoveLeftovers(dir); err != nil {
			return err
		}
	}
	began, what := time.Now(), w.campaign()
	journal := ""
	if dir != "" {
		journal = filepath.Join(dir, what.Kind+campaign.JournalSuffix)
	}
	opt := campaign.Options{Shard: o.shard, Journal: journal, Resume: o.resume, Workers: c.workers, Watch: c.watch(w.detail)}
	var lost error
	if o.shard.Whole() || w.divisible() { // else the journal is all that there will be
		opt.Unwritten = func(err error) {
			c.progress.Clear()
			c.Note(fmt.Sprintf("%s: cannot store the results in %s, goes on, and prints them in the end: %v", c.Program, dir, err))
			lost = &console.BrokenError{Cause: fmt.Errorf("the results are not stored in %s: %w", dir, err)}
			dir, journal = "", ""
		}
	}
	record, err := what.Run(c.ctx, opt)
	c.progress.Clear()
	made := func() (finished, error) {
		return w.finished(&results{crew: c, Record: record, dir: dir, shard: o.shard, wall: time.Since(began), children: c.workers.Workers})
	}
	if err != nil {
		if dir == "" && w.divisible() {
			pub.rescue(made)
		}
		return commandError(err, o.folder, resumeHint(record, dir))
	}
	failed := failedJobs(what, record, dir)
	if !o.shard.Whole() && !w.divisible() {
		if failed != nil {
			return failed
		}
		return c.Print(reportShard(c.Out, what.Kind, o.shard, record, journal, c.Command()+" merge "+console.Quote(o.folder.dir)))
	}
	done, err := made()
	if err != nil {
		return cmp.Or(failed, err)
	}
	if failed != nil && done.missing > 0 && !isBroken(done.problem) {
		done.problem = failed
	}
	if lost != nil {
		done.problem = lost
	}
	err = pub.add(dir, done, func() (finished, error) {
		dir = ""
		return made()
	})
	if err != nil {
		return commandError(err, o.folder, resumeHint(record, dir))
	}
	if w.divisible() || journal == "" || isBroken(pub.problem) {
		return nil
	}
	// The document has everything that the journal has. Without a journal, the same
	// command may write a new document into the folder.
	if err := os.Remove(journal); err != nil {
		return &console.BrokenError{Cause: err}
	}
	return nil
}

// failedJobs is an error for the jobs that have no result, or nil.
func failedJobs(c campaign.Campaign, r *campaign.Record, dir string) error {
	n, err := c.FirstFailed(r)
	if err == nil {
		return nil
	}
	hint := "the same command tries again"
	if dir != "" {
		hint = "the same command with --resume tries them again"
	}
	return &console.BrokenError{Cause: fmt.Errorf("%d jobs failed; %w\n%s", n, err, hint)}
}

// incomplete is the error of a campaign with missing results.
func incomplete(jobs int) error {
	return &console.BrokenError{Cause: fmt.Errorf("the result is not complete, without %d of its jobs: wait for their shards, or continue these with --resume", jobs)}
}

// commandError turns the error that ended a campaign into the one to report.
// interrupted is the end of the message after Ctrl-C.
func commandError(err error, k resultFolder, interrupted string) error {
	_, aboutPlan := errors.AsType[*campaign.PlanError](err)
	_, aboutJournal := errors.AsType[*campaign.JournalError](err)
	input, isInput := errors.AsType[*file.InputError](err)
	switch {
	case err == nil:
		return nil
	case isInput:
		return input
	case errors.Is(err, campaign.ErrJournalExists):
		return fmt.Errorf("%s%w: continue with --resume, or %s", k.flag, err, k.elsewhere)
	case aboutPlan:
		return fmt.Errorf("--resume: %w: give the same flags as before, or another folder", err)
	case aboutJournal:
		return fmt.Errorf("%s%w", k.flag, err)
	case errors.Is(err, context.Canceled):
		return &console.BrokenError{Cause: errors.New("interrupted" + interrupted)}
	case isBroken(err):
		return err
	}
	return &console.BrokenError{Cause: err}
}

// resumeHint states how many jobs of a campaign are done, and how to continue.
func resumeHint(r *campaign.Record, dir string) string {
	text := fmt.Sprintf(", with %d of %d jobs done", r.Done(), r.All)
	if dir == "" {
		return text + ": --out would have stored them"
	}
	return text + ", which are in " + dir + ": continue with the same command and --resume"
}

// crew has the child processes of a command and its progress. The children end with
// the context, which Ctrl-C cancels.
type crew struct {
	*console.Console
	ctx      context.Context
	stop     context.CancelFunc
	workers  workers.Options
	progress *console.Progress
}

// maxSilence is how long a child may take for the runs of one seed: far longer than a
// world takes to detect that it is frozen or over its limits.
const maxSilence = 10 * time.Minute

func newCrew(c *console.Console, o options) (*crew, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, &console.BrokenError{Cause: fmt.Errorf("find this program, to run it in child processes: %w", err)}
	}
	command := func() *exec.Cmd {
		cmd := exec.Command(program, "worker")
		cmd.Args[0] = os.Args[0] // so that its messages name the program as this one's do
		return cmd
	}
	w := &crew{Console: c, progress: console.NewProgress(c, o.quiet),
		workers: workers.Options{Command: command, Workers: cmp.Or(o.workers, runtime.GOMAXPROCS(0)), Silence: maxSilence}}
	w.ctx, w.stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	return w, nil
}

func (c *crew) close() {
	c.stop()
	c.progress.End()
}

// do lets the child processes do jobs, and shows the progress. It calls take for each job as campaign.Do does.
func (c *crew) do(jobs []campaign.Job, take func(i int, answer json.RawMessage, err error) error) error {
	return campaign.Do(c.ctx, c.workers, c.watch(func() string { return "" }), jobs, take)
}

// watch shows the progress of a campaign, with its detail.
func (c *crew) watch(detail func() string) func(campaign.Progress) {
	return func(p campaign.Progress) {
		line := p.String()
		if more := detail(); more != "" {
			line += ", " + more
		}
		c.progress.Show(line)
	}
}
