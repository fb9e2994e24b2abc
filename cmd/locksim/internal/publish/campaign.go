// Package publish runs campaigns, and publishes their results: on standard output, in a folder, as pages that child
// processes write. A package that has campaigns implements Work.
package publish

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
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/explorations"
)

// Work is one campaign as the command runs and shows it: an exploration, a sweep, a
// matrix or a review.
type Work interface {
	// Campaign has the plan, the jobs, and the jobs that follow from their results.
	Campaign() campaign.Campaign
	// Detail summarizes the results so far, for the line of progress; "" for nothing.
	Detail() string
	// Divisible reports whether a part of the results can be shown. If not, a shard
	// keeps only its journal, and merge makes the document.
	Divisible() bool
	// Finished makes the document, and what else is published, from results.
	Finished(r *Results) (Finished, error)
}

// Recorder is a work whose jobs can store the records of their runs.
type Recorder interface {
	// RecordInto makes them store the records in a folder. It is called before Campaign.
	RecordInto(dir string)
}

// Results are the results of a campaign, and how they were made.
type Results struct {
	*Crew
	*campaign.Record
	// Dir is the folder of the results, or "".
	Dir string
	// shard is the part of the campaign that was run, wall the time that it took, and
	// children the number of processes; they are zero for the results of a merge.
	shard    campaign.Shard
	Wall     time.Duration
	Children int
}

// Time writes into a timing how the results were made.
func (r *Results) Time(t *explorations.Timing) {
	t.WallSeconds, t.Made, t.Workers = r.Wall.Seconds(), r.Made, r.Children
	if !r.shard.Whole() {
		t.Shard = r.shard.String()
	}
}

// Options say how campaigns are run and published.
type Options struct {
	// Shard is the part of the campaigns to run.
	Shard campaign.Shard
	// Resume continues from the results in the folder.
	Resume bool
	// Workers is the number of child processes, 0 for one per core.
	Workers int
	// Quiet is for no progress.
	Quiet bool
	// Folder is where the results are stored.
	Folder Folder
	// Form is how they are printed.
	Form Form
	// Records says that a [Recorder] stores the records of all its runs in the folder.
	Records bool
}

// Run runs campaigns one after the other, stores and prints their results, and
// returns the error that decides the exit code. Several campaigns get folders named
// names in the folder of the results, and each shard gets its own folder there, so that
// all can be started with the same --out.
func Run(out *console.Console, o Options, works []Work, names []string) error {
	if err := outfile.PrepareFolder("out", o.Folder.Dir); err != nil {
		return err
	}
	c, err := NewCrew(out, o)
	if err != nil {
		return err
	}
	defer c.Close()
	pub := &publication{Console: out, form: o.Form}
	for i, w := range works {
		dir := o.Folder.Dir
		if dir != "" && len(works) > 1 {
			dir = filepath.Join(dir, strings.ReplaceAll(names[i], "/", "-"))
		}
		if dir != "" && !o.Shard.Whole() {
			dir = filepath.Join(dir, fmt.Sprintf("shard-%d-of-%d", o.Shard.Index, o.Shard.Count))
		}
		if err := c.run(w, o, dir, pub); err != nil {
			return err
		}
	}
	problem := pub.end()
	if err := o.Folder.List(out); err != nil {
		return err
	}
	return problem
}

// RecordsFolder is the folder with the records of all runs, in the folder of the results.
const RecordsFolder = "records"

func (c *Crew) run(w Work, o Options, dir string, pub *publication) error {
	if err := outfile.PrepareFolder("out", dir); err != nil {
		return err
	}
	if dir != "" && o.Resume {
		if err := outfile.RemoveLeftovers(dir); err != nil {
			return err
		}
	}
	if r, ok := w.(Recorder); ok && o.Records {
		r.RecordInto(filepath.Join(dir, RecordsFolder))
	}
	began, what := time.Now(), w.Campaign()
	journal := ""
	if dir != "" {
		journal = filepath.Join(dir, what.Kind+campaign.JournalSuffix)
	}
	opt := campaign.Options{Shard: o.Shard, Journal: journal, Resume: o.Resume, Workers: c.workers,
		Watch: c.watch(w.Detail)}
	var lost error
	if o.Shard.Whole() || w.Divisible() { // else the journal is all that there will be
		opt.Unwritten = func(err error) {
			c.Progress.Clear()
			c.Note(fmt.Sprintf("%s: cannot store the results in %s, goes on, and prints them in the end: %v",
				c.Program, dir, err))
			lost = &console.BrokenError{Cause: fmt.Errorf("the results are not stored in %s: %w", dir, err)}
			dir, journal = "", ""
		}
	}
	record, err := what.Run(c.Ctx, opt)
	c.Progress.Clear()
	made := func() (Finished, error) {
		return w.Finished(&Results{Crew: c, Record: record, Dir: dir, shard: o.Shard, Wall: time.Since(began),
			Children: c.workers.Workers})
	}
	if err != nil {
		if dir == "" && w.Divisible() {
			pub.rescue(made)
		}
		return commandError(err, o.Folder, resumeHint(record, dir))
	}
	failed := FailedJobs(what, record, dir)
	if !o.Shard.Whole() && !w.Divisible() {
		if failed != nil {
			return failed
		}
		merge := c.Command() + " merge " + console.Quote(o.Folder.Dir)
		return c.Print(reportShard(c.Out, what.Kind, o.Shard, record, journal, merge))
	}
	done, err := made()
	if err != nil {
		return cmp.Or(failed, err)
	}
	if failed != nil && done.Missing > 0 && !isBroken(done.Problem) {
		done.Problem = failed
	}
	if lost != nil {
		done.Problem = lost
	}
	err = pub.add(dir, done, func() (Finished, error) {
		dir = ""
		return made()
	})
	if err != nil {
		return commandError(err, o.Folder, resumeHint(record, dir))
	}
	if w.Divisible() || journal == "" || isBroken(pub.problem) {
		return nil
	}
	// The document has everything that the journal has. Without a journal, the same
	// command may write a new document into the folder.
	if err := os.Remove(journal); err != nil {
		return &console.BrokenError{Cause: err}
	}
	return nil
}

// FailedJobs is an error for the jobs that have no result, or nil.
func FailedJobs(c campaign.Campaign, r *campaign.Record, dir string) error {
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

// Incomplete is the error of a campaign with missing results.
func Incomplete(jobs int) error {
	return &console.BrokenError{Cause: fmt.Errorf("the result is not complete, without %d of its jobs: "+
		"wait for their shards, or continue these with --resume", jobs)}
}

// commandError turns the error that ended a campaign into the one to report.
// interrupted is the end of the message after Ctrl-C.
func commandError(err error, k Folder, interrupted string) error {
	_, aboutPlan := errors.AsType[*campaign.PlanError](err)
	_, aboutJournal := errors.AsType[*campaign.JournalError](err)
	input, isInput := errors.AsType[*file.InputError](err)
	switch {
	case err == nil:
		return nil
	case isInput:
		return input
	case errors.Is(err, campaign.ErrJournalExists):
		return fmt.Errorf("%s%w: continue with --resume, or %s", k.Flag, err, k.elsewhere)
	case aboutPlan:
		return fmt.Errorf("--resume: %w: give the same flags as before, or another folder", err)
	case aboutJournal:
		return fmt.Errorf("%s%w", k.Flag, err)
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

// Crew has the child processes of a command and its progress. The children end with
// the context, which Ctrl-C cancels.
type Crew struct {
	*console.Console
	// Ctx ends with Ctrl-C and with Close.
	Ctx context.Context
	// Progress is what the command shows of its progress.
	Progress *console.Progress

	stop    context.CancelFunc
	workers workers.Options
}

// maxSilence is how long a child may take for the runs of one seed: far longer than a
// world takes to detect that it is frozen or over its limits.
const maxSilence = 10 * time.Minute

// NewCrew starts to show progress, and catches Ctrl-C until Close. The processes start with their first job.
func NewCrew(c *console.Console, o Options) (*Crew, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, &console.BrokenError{Cause: fmt.Errorf("find this program, to run it in child processes: %w", err)}
	}
	command := func() *exec.Cmd {
		cmd := exec.Command(program, "worker")
		cmd.Args[0] = os.Args[0] // so that its messages name the program as this one's do
		return cmd
	}
	w := &Crew{Console: c, Progress: console.NewProgress(c, o.Quiet),
		workers: workers.Options{Command: command, Workers: cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), Silence: maxSilence}}
	w.Ctx, w.stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	return w, nil
}

// Close stops the child processes and the progress.
func (c *Crew) Close() {
	c.stop()
	c.Progress.End()
}

// Do lets the child processes do jobs, and shows the progress. It calls take for each job as campaign.Do does.
func (c *Crew) Do(jobs []campaign.Job, take func(i int, answer json.RawMessage, err error) error) error {
	return campaign.Do(c.Ctx, c.workers, c.watch(func() string { return "" }), jobs, take)
}

// watch shows the progress of a campaign, with its detail.
func (c *Crew) watch(detail func() string) func(campaign.Progress) {
	return func(p campaign.Progress) {
		line := p.String()
		if more := detail(); more != "" {
			line += ", " + more
		}
		c.Progress.Show(line)
	}
}
