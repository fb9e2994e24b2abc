package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/internal/campaign"
	"locksim/internal/workers"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
)

// work is one campaign as the command runs and shows it: an exploration, a sweep, a
// matrix or a review. [shell.workOf] makes each of them from a record.
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

// workOf is the work whose results a record has.
func (s *shell) workOf(r *campaign.Record, f mergeFlags) (w work, err error) {
	switch r.Kind {
	case exploreKind:
		w, err = s.readExploration(r)
	case sweepKind:
		w, err = s.readSweep(r)
	case matrixKind:
		w, err = s.readMatrix(r, f)
	case reviewKind:
		w, err = s.readReview(r)
	default:
		return nil, fmt.Errorf("%s has results of a kind %q that this version of locksim does not know", r.Name, r.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	return w, nil
}

// resultNames are the files that hold results of single jobs.
var resultNames = []string{exploreKind + ".json", exploreKind + campaign.JournalSuffix, sweepKind + ".json", sweepKind + campaign.JournalSuffix,
	matrixKind + campaign.JournalSuffix, reviewKind + campaign.JournalSuffix}

// crewFlags are the flags of the commands that start child processes.
type crewFlags struct {
	out     string
	json    bool
	workers int
	quiet   bool
}

func (f *crewFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.json, "json", false, "print one JSON document instead of the report; see locksim schema")
	flags.IntVar(&f.workers, "workers", 0, "`N` child processes (default: one per core)")
	flags.BoolVar(&f.quiet, "quiet", false, "write no progress")
}

// form is how the results are printed.
func (f crewFlags) form() form {
	if f.json {
		return asJSON
	}
	return asText
}

// maxWorkers limits the number of processes: a mistyped number must not start more.
const maxWorkers = 1024

var workersHint = fmt.Sprintf("give a number from 1 to %d, or leave it out for one per core", maxWorkers)

func (f crewFlags) check() error {
	if f.workers < 0 || f.workers > maxWorkers {
		return fmt.Errorf("--workers %d: %s", f.workers, workersHint)
	}
	return nil
}

// campaignFlags are the flags of the commands that run campaigns.
type campaignFlags struct {
	crewFlags
	shard  string
	shards int
	keep   bool
	resume bool
}

const outUsage = "store the results in `DIR`, each as soon as it is known"

func (f *campaignFlags) add(flags *pflag.FlagSet) {
	f.crewFlags.add(flags)
	flags.StringVar(&f.shard, "shard", "", "do shard `I/N` of the work, such as 0/8 for the first of eight")
	flags.IntVar(&f.shards, "shards", 0, "do one of `N` shards: the one that "+indexVariable+" names")
	flags.BoolVar(&f.resume, "resume", false, "continue from the results in the folder of --out")
}

// indexVariable is the environment variable in which Kubernetes gives a pod of an
// Indexed Job its number.
const indexVariable = "JOB_COMPLETION_INDEX"

// check refuses flags that make no sense together, and returns the shard that they name.
func (f campaignFlags) check(getenv func(string) string) (campaign.Shard, error) {
	if err := f.crewFlags.check(); err != nil {
		return campaign.Shard{}, err
	}
	switch {
	case f.keep && f.out != "":
		return campaign.Shard{}, errKeepAndOut
	case f.resume && f.out == "" && !f.keep:
		return campaign.Shard{}, errors.New("--resume: name the folder of the results, with --out or --keep")
	case f.shard != "" && f.shards != 0:
		return campaign.Shard{}, errors.New("--shard and --shards: choose one; --shards takes the number of the shard from " + indexVariable)
	case f.shard != "":
		shard, err := campaign.ParseShard(f.shard)
		return shard, withFlags("--shard "+console.Quote(f.shard), err)
	case f.shards != 0:
		return indexedShard(f.shards, getenv(indexVariable))
	}
	return campaign.Shard{}, nil
}

// indexedShard is the shard that the environment names.
func indexedShard(n int, index string) (campaign.Shard, error) {
	i, err := strconv.Atoi(index)
	if err != nil {
		return campaign.Shard{}, fmt.Errorf("--shards %d: %s is %q and not the number of a shard: Kubernetes sets it in an Indexed Job; elsewhere say --shard 0/%d",
			n, indexVariable, index, n)
	}
	shard, err := campaign.NewShard(i, n)
	return shard, withFlags(fmt.Sprintf("--shards %d, %s %d", n, indexVariable, i), err)
}

// withFlags puts the flags that an error is about before it.
func withFlags(flags string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flags, err)
}

// wholeOnly refuses flags that need the whole campaign, in a shard that has no
// document. asked are those of these flags that are set.
func (f campaignFlags) wholeOnly(shard campaign.Shard, what string, asked ...string) error {
	switch {
	case shard.Whole():
		return nil
	case f.out == "" && !f.keep:
		return fmt.Errorf("a shard of a %s has to store its results for merge: name a folder with --out", what)
	case len(asked) > 0:
		return fmt.Errorf("%s: a shard has no %s to show: give this flag to merge, or leave it out", asked[0], what)
	}
	return nil
}

// runCampaigns runs campaigns one after the other, stores and prints their results, and
// returns the error that decides the exit code. Several campaigns get folders named
// names in the folder of --out, and each shard gets its own folder there, so that all
// can be started with the same --out.
func (s *shell) runCampaigns(f campaignFlags, shard campaign.Shard, k resultFolder, form form, works []work, names []string) error {
	if err := outfile.PrepareFolder(k.dir); err != nil {
		return err
	}
	c, err := newCrew(s.Console, f.crewFlags)
	if err != nil {
		return err
	}
	defer c.close()
	pub := &publication{Console: s.Console, form: form}
	for i, w := range works {
		dir := k.dir
		if dir != "" && len(works) > 1 {
			dir = filepath.Join(dir, strings.ReplaceAll(names[i], "/", "-"))
		}
		if dir != "" && !shard.Whole() {
			dir = filepath.Join(dir, fmt.Sprintf("shard-%d-of-%d", shard.Index, shard.Count))
		}
		if err := c.runCampaign(w, f, shard, k, dir, pub); err != nil {
			return err
		}
	}
	problem := pub.end()
	if err := k.list(s.Console); err != nil {
		return err
	}
	return problem
}

// runCampaign runs one campaign and publishes its results.
func (c *crew) runCampaign(w work, f campaignFlags, shard campaign.Shard, k resultFolder, dir string, pub *publication) error {
	if err := outfile.PrepareFolder(dir); err != nil {
		return err
	}
	if dir != "" && f.resume {
		if err := outfile.RemoveLeftovers(dir); err != nil {
			return err
		}
	}
	began, what := time.Now(), w.campaign()
	journal := ""
	if dir != "" {
		journal = filepath.Join(dir, what.Kind+campaign.JournalSuffix)
	}
	opt := campaign.Options{Shard: shard, Journal: journal, Resume: f.resume, Workers: c.workers, Watch: c.watch(w.detail)}
	var lost error
	if shard.Whole() || w.divisible() { // else the journal is all that there will be
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
		return w.finished(&results{crew: c, Record: record, dir: dir, shard: shard, wall: time.Since(began), children: c.workers.Workers})
	}
	if err != nil {
		if dir == "" && w.divisible() {
			pub.rescue(made)
		}
		return commandError(err, k, resumeHint(record, dir))
	}
	failed := failedJobs(what, record, dir)
	if !shard.Whole() && !w.divisible() {
		if failed != nil {
			return failed
		}
		return c.Print(reportShard(c.Out, what.Kind, shard, record, journal, c.Command()+" merge "+console.Quote(k.dir)))
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
		return commandError(err, k, resumeHint(record, dir))
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

func newCrew(c *console.Console, f crewFlags) (*crew, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, &console.BrokenError{Cause: fmt.Errorf("find this program, to run it in child processes: %w", err)}
	}
	command := func() *exec.Cmd {
		cmd := exec.Command(program, "worker")
		cmd.Args[0] = os.Args[0] // so that its messages name the program as this one's do
		return cmd
	}
	w := &crew{Console: c, progress: console.NewProgress(c, f.quiet),
		workers: workers.Options{Command: command, Workers: cmp.Or(f.workers, runtime.GOMAXPROCS(0)), Silence: maxSilence}}
	w.ctx, w.stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	return w, nil
}

func (c *crew) close() {
	c.stop()
	c.progress.End()
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
