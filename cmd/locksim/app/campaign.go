package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"github.com/spf13/pflag"

	"locksim/internal/campaign"
	"locksim/internal/workers"
)

// campaignFlags are the flags of the commands whose work is cut into jobs.
type campaignFlags struct {
	shard   string
	shards  int
	out     string
	keep    bool
	resume  bool
	json    bool
	workers int
}

func (f *campaignFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.shard, "shard", "", "do shard `I/N` of the work, such as 0/8 for the first of eight")
	flags.IntVar(&f.shards, "shards", 0, "do one of `N` shards: the one that "+indexVariable+" names")
	flags.StringVar(&f.out, "out", "", "keep the results in `DIR`, each as soon as it is there")
	flags.BoolVar(&f.keep, "keep", false, keepUsage)
	flags.BoolVar(&f.resume, "resume", false, "go on from the results that the folder of --out has")
	flags.BoolVar(&f.json, "json", false, "print one JSON document instead of the report")
	flags.IntVar(&f.workers, "workers", 0, "`N` child processes (default: one per core)")
}

// indexVariable is where Kubernetes tells a pod of an Indexed Job its number.
const indexVariable = "JOB_COMPLETION_INDEX"

// check refuses flags that make no sense, and returns the shard that they mean.
func (f campaignFlags) check(getenv func(string) string) (campaign.Shard, error) {
	switch {
	case f.workers < 0 || f.workers > maxWorkers:
		return campaign.Shard{}, fmt.Errorf("--workers %d: give a number from 1 to %d, or leave it out for one per core", f.workers, maxWorkers)
	case f.resume && f.out == "" && !f.keep:
		return campaign.Shard{}, errors.New("--resume: say where the results are, with --out or --keep")
	case f.shard != "" && f.shards != 0:
		return campaign.Shard{}, errors.New("--shard and --shards: choose one; --shards takes the number of the shard from " + indexVariable)
	case f.shard != "":
		shard, err := campaign.ParseShard(f.shard)
		return shard, about("--shard "+quote(f.shard), err)
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
	return shard, about(fmt.Sprintf("--shards %d, %s %d", n, indexVariable, i), err)
}

// about says which flags an error is about.
func about(flags string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flags, err)
}

// folder is where the results of a shard are kept: in a folder of its own, so
// that shards can share the one that --out names. It is "" for nowhere.
func (f campaignFlags) folder(shard campaign.Shard, below ...string) string {
	if f.out == "" {
		return ""
	}
	if !shard.Whole() {
		below = append(below, fmt.Sprintf("shard-%d-of-%d", shard.Index, shard.Count))
	}
	return filepath.Join(append([]string{f.out}, below...)...)
}

// where is the flag that says where results are kept.
func (f campaignFlags) where() string {
	if f.keep {
		return "--keep"
	}
	return "--out " + quote(f.out)
}

// elsewhere is how results are kept in another folder.
func (f campaignFlags) elsewhere() string {
	if f.keep {
		return "remove that folder, or choose one with --out"
	}
	return "give another folder"
}

// children is how many child processes there are to be.
func (f campaignFlags) children() int { return cmp.Or(f.workers, runtime.GOMAXPROCS(0)) }

// journalOf is the journal in a folder, or "".
func journalOf(dir, kind string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, kind+".jsonl")
}

// conduct has the jobs of a campaign done by child processes, as its flags say,
// and keeps the results in a folder, or nowhere for "". The results are what was
// finished, also where there is an error.
func conduct[R any](s *shell, f campaignFlags, shard campaign.Shard, dir string, c campaign.Campaign[workerJob, workerAnswer, R], h *headway) (*campaign.Results[R], error) {
	command, err := s.child()
	if err != nil {
		return nil, err
	}
	if err := prepare(dir); err != nil {
		return nil, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer h.clear()
	done := c.Done
	c.Step = h.step
	c.Done = func(i int, r R) {
		h.done(i)
		if done != nil {
			done(i, r)
		}
	}
	results, err := c.Run(ctx, campaign.Options{Shard: shard, Journal: journalOf(dir, c.Kind), Resume: f.resume,
		Workers: workers.Options{Command: command, Workers: f.children(), Silence: silence}})
	return results, f.explain(err, len(results.Finished), h.jobs)
}

// explain makes of the error that ended a campaign what it is to the user.
func (f campaignFlags) explain(err error, finished, jobs int) error {
	_, aboutPlan := errors.AsType[*campaign.PlanError](err)
	_, aboutJournal := errors.AsType[*campaign.JournalError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, campaign.ErrJournalExists):
		return fmt.Errorf("%s: %w: go on with --resume, or %s", f.where(), err, f.elsewhere())
	case aboutPlan:
		return fmt.Errorf("--resume: %w: give the same flags as then, or another folder", err)
	case aboutJournal:
		return fmt.Errorf("%s: %w", f.where(), err)
	case errors.Is(err, context.Canceled) && f.out != "":
		return &brokenError{cause: fmt.Errorf("interrupted, with %d of %d jobs done, which are in %s: go on with the same command and --resume", finished, jobs, f.out)}
	case errors.Is(err, context.Canceled):
		return &brokenError{cause: fmt.Errorf("interrupted, with %d of %d jobs done: --out would have kept them", finished, jobs)}
	}
	return &brokenError{cause: err}
}

// failedJob is an error for the jobs that have no result, or nil.
func failedJob[R any](results *campaign.Results[R], f campaignFlags) error {
	job, err := results.FirstFailed()
	if err == nil {
		return nil
	}
	hint := "it is tried again by the same command"
	if f.out != "" {
		hint += " and --resume"
	}
	return &brokenError{cause: fmt.Errorf("%d jobs failed; job %d: %w\n%s", len(results.Failed), job, err, hint)}
}
