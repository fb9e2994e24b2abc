package app

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locksim/faults"
	"locksim/internal/campaign"
	"locksim/internal/prose"
	"locksim/internal/workers"
	"locksim/lock"
	"locksim/scenarios/explore"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// exploreFlags are the flags of the explore command.
type exploreFlags struct {
	campaignFlags
	locks   []string
	runs    int
	from    uint64
	faults  []string
	promise bool
	all     bool

	runsName string // of the flag that gave the runs
}

func (s explorations) exploreCommand() *cobra.Command { return s.exploreWith(new(exploreFlags)) }

// exploreWith is the command whose flags go to f.
func (s explorations) exploreWith(f *exploreFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explore --lock LOCK",
		Short: "Search for schedules that break a lock",
		Long: `Explore runs a lock under random schedules: who takes part, what they do, and
what goes wrong, each drawn from a seed. It ends with the first run that breaks
the lock, makes its schedule as small as it gets, and tells the story; with --all
it makes all runs, and shows each violation that is of another shape.

A lock is judged as if it promised that all goes well under every fault: claims
never overlap, the lock is free in the end, no rightful holder is refused, and
the data is right, for a lock that mints tokens behind a fence that seals. With
--promise it is judged by what it promises, under the faults of which it speaks.

With --out each result is kept as soon as it is there, and --resume goes on after
whatever has ended the command. In the end the folder has explore.html besides,
with a report of each violation. The runs can be shared out: --shard 0/8 to 7/8
make them on eight machines, and "locksim merge" puts the results together.

The exit code is 0 when no violation was found, 1 when one was, and 3 when a run
was not deterministic, came to no end, or the command was interrupted.`,
		Example: `  locksim explore --lock single
  locksim explore --lock redlock --faults pause,partition --runs 50000 --out /tmp/redlock
  locksim explore --lock redlock --faults pause,partition --runs 50000 --out /tmp/redlock --resume
  locksim explore --lock broken/get-then-del --all --json
  locksim explore --lock all --promise`,
		Args: exactly(0, "no arguments; name the lock with --lock"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.runsName = "--runs"
			if cmd.Flags().Changed("seeds") {
				f.runsName = "--seeds"
			}
			return s.explore(*f)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.locks, "lock", nil, "explore these `LOCKS`, with commas, or all of them")
	flags.IntVar(&f.runs, "runs", 10_000, "make `N` runs")
	flags.IntVar(&f.runs, "seeds", 10_000, "`N` is the number of runs, under another name")
	flags.Uint64Var(&f.from, "from-seed", 1, "the first seed is `N`")
	flags.StringArrayVar(&f.faults, "faults", nil, "only faults of these `CLASSES`, with commas, or of single kinds; none for none at all")
	flags.BoolVar(&f.promise, "promise", false, "judge the lock by what it promises")
	flags.BoolVar(&f.all, "all", false, "make all runs, and show each violation of another shape")
	f.add(flags)
	s.completeFlags(cmd)
	return cmd
}

// explore is the explore command.
func (s explorations) explore(f exploreFlags) error {
	shard, err := f.check(s.getenv)
	if err = cmp.Or(err, f.problem()); err != nil {
		return err
	}
	plans, err := s.explorePlans(f)
	if err != nil {
		return err
	}
	k, err := f.folderToKeep(plans)
	if err != nil {
		return err
	}
	f.out = k.dir
	pub := &publication{shell: s.shell, json: f.json}
	for _, plan := range plans {
		if err := s.exploreLock(plan, f, shard, f.folder(shard, below(plan, len(plans))...), pub); err != nil {
			return err
		}
	}
	return k.end(pub)
}

// problem refuses numbers of runs and seeds that make no sense.
func (f exploreFlags) problem() error {
	switch {
	case f.runs < 1 || f.runs > explore.MaxExploreRuns:
		return fmt.Errorf("%s %d: give a number from 1 to %d", f.runsName, f.runs, explore.MaxExploreRuns)
	case f.from > math.MaxUint64-uint64(f.runs-1):
		return fmt.Errorf("--from-seed %d with %s %d: there are no seeds beyond %d", f.from, f.runsName, f.runs, uint64(math.MaxUint64))
	}
	return nil
}

// below is the folder of a lock within that of the flags: a lock that is alone
// needs none.
func below(plan *explore.Plan, plans int) []string {
	if plans == 1 {
		return nil
	}
	return []string{strings.ReplaceAll(plan.Lock, "/", "-")}
}

// explorePlans finds out what the flags ask for, for each lock.
func (s explorations) explorePlans(f exploreFlags) ([]*explore.Plan, error) {
	names, err := s.exploreLocks(f.locks)
	if err != nil {
		return nil, err
	}
	classes, kinds, err := parseFaults(f.faults)
	if err != nil {
		return nil, err
	}
	opts := explore.Options{Runs: f.runs, FirstSeed: f.from, Faults: classes, Kinds: kinds,
		Judge: explore.JudgeEverything, Collect: explore.CollectFirst}
	if f.promise {
		opts.Judge = explore.JudgePromise
	}
	if f.all {
		opts.Collect = explore.CollectAll
	}
	var plans []*explore.Plan
	for _, name := range names {
		l, err := play.FindLock(name, s.extra)
		if err != nil {
			return nil, fmt.Errorf("--lock %s: there is no such lock: %s", quote(name), prose.Choose(name, s.lockNames()))
		}
		plan, err := explore.NewPlan(l, opts)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// exploreLocks are the locks that a flag names, each once.
func (s explorations) exploreLocks(lists []string) ([]string, error) {
	var names []string
	for _, name := range words(lists) {
		if name == "all" {
			names = append(names, s.lockNames()...)
		} else {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("--lock: say which lock is to be explored: see locksim list")
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	}), nil
}

// noFaults is the word for no class of fault at all.
const noFaults = "none"

// parseFaults reads classes of fault, and single kinds of it that are not called as
// a class is. Nil is what no flag says; "none" is none.
func parseFaults(lists []string) (classes []lock.Fault, kinds []string, err error) {
	list := words(lists)
	if len(list) == 0 {
		return nil, nil, nil
	}
	classes = []lock.Fault{}
	if len(list) == 1 && list[0] == noFaults {
		return classes, nil, nil
	}
	for _, name := range list {
		switch class := lock.Fault(name); {
		case slices.Contains(classes, class) || slices.Contains(kinds, name):
		case slices.Contains(lock.Faults(), class):
			classes = append(classes, class)
		case slices.Contains(faultNames(), name):
			kinds = append(kinds, name)
		default:
			return nil, nil, fmt.Errorf("--faults %s: there is no class of fault of this name: %s", quote(name), prose.Choose(name, faultNames()))
		}
	}
	return classes, kinds, nil
}

// faultNames are the classes of fault that promises speak of, and the kinds of fault
// that are not called as a class is.
func faultNames() []string {
	var names []string
	for _, class := range lock.Faults() {
		names = append(names, string(class))
	}
	for _, k := range faults.Kinds() {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// exploreLock has the runs of one lock made, and publishes what they come to.
func (s explorations) exploreLock(plan *explore.Plan, f exploreFlags, shard campaign.Shard, dir string, pub *publication) error {
	began := time.Now()
	var sofar search.Tally
	c := campaign.Campaign[workerJob, workerAnswer, explore.Block]{
		Kind: explore.Kind, Plan: plan, Jobs: plan.Jobs(),
		Job: func(i int) workerJob {
			job := plan.Job(i)
			return workerJob{Explore: &job}
		},
		Result: exploreResult,
		Ends:   func(b explore.Block) bool { return plan.Collect == explore.CollectFirst && b.Ends() },
		Done:   func(_ int, b explore.Block) { sofar.Add(b.Tally) },
	}
	size := func(i int) int { return plan.Job(i).Seeds.Len() }
	h := s.newHeadway("runs", shard, plan.Jobs(), size, func() string { return exploreDetail(plan, &sofar) })
	results, err := conduct(s.shell, f.campaignFlags, shard, dir, c, h)
	if err != nil {
		return err
	}
	e := explore.AssembleExploration(plan, results.Finished)
	e.Timing = explore.NewTiming()
	e.Timing.WallSeconds, e.Timing.Made, e.Timing.Workers = time.Since(began).Seconds(), h.made, f.children()
	if !shard.Whole() {
		e.Timing.Shard = shard.String()
	}
	return pub.add(dir, s.explored(e, dir, f.children(), failedJob(results, f.campaignFlags)))
}

// exploreResult is what a child has found out.
func exploreResult(i int, d workers.Done[workerJob, workerAnswer]) (explore.Block, error) {
	switch {
	case d.Err != nil:
		return explore.Block{}, fmt.Errorf("%s: %w", d.Job.Explore.Seeds, d.Err)
	case d.Result.Explore == nil || d.Result.Explore.Job != i:
		return explore.Block{}, fmt.Errorf("%s: the worker gave no answer", d.Job.Explore.Seeds)
	}
	return *d.Result.Explore, nil
}

// exploreDetail says what is known so far.
func exploreDetail(plan *explore.Plan, t *search.Tally) string {
	if t.Runs == 0 {
		return ""
	}
	text := fmt.Sprintf("%v virtual, %d of %d classes of fault", t.Virtual.Round(time.Minute), len(t.Classes), len(plan.Classes()))
	for _, label := range t.Labels() {
		text += fmt.Sprintf(", %s %d", label, t.Violations[label])
	}
	return plan.Lock + ": " + text
}
