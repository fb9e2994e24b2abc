package app

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locksim/internal/campaign"
	"locksim/internal/prose"
	"locksim/internal/workers"
	"locksim/scenarios/explore"
	"locksim/scenarios/play"
	"locksim/scenarios/sweep"
)

// sweepFlags are the flags of the sweep command.
type sweepFlags struct {
	campaignFlags
	lock    string
	seed    uint64
	faults  []string
	pairs   int
	promise bool
}

func (s sweeps) sweepCommand() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep SCENARIO|FILE.yaml",
		Short: "Place every single fault at every moment of a scenario",
		Long: `Sweep plays a scenario without its faults, and then once for each fault at each
moment at which it could find the world in another state: before each message is
sent or delivered, and at each named point. It says what it has covered, and shows
each class of violation with the smallest schedule that leads to it. With --pairs
it goes on with a sample of pairs of these placements.

The faults, for --faults. Without it those are placed that come up to restart:
` + sweepKindList() + `
A lock is judged as by explore: as if it promised that all goes well under every
fault or, with --promise, by what it promises, under the faults of which it speaks.
The flags --shard, --out, --keep and --resume are those of explore too; the page is
sweep.html.

The exit code is 0 when no violation was found, 1 when one was, and 3 when a run
was not deterministic, came to no end, or the command was interrupted.`,
		Example: `  locksim sweep gc-pause
  locksim sweep gc-pause --lock redlock --faults pause,restart
  locksim sweep ./my.yaml --pairs 10000 --out /tmp/sweep
  locksim sweep gc-pause --lock single --promise --json`,
		Args:              exactly(1, "one scenario, by its name or its file"),
		ValidArgsFunction: completeScenarios,
		RunE:              func(_ *cobra.Command, args []string) error { return s.sweep(args[0], f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.lock, "lock", "", "`KIND` of lock to sweep (default: the scenario's own)")
	flags.Uint64Var(&f.seed, "seed", 1, "`N` decides everything that is random")
	flags.StringArrayVar(&f.faults, "faults", nil, "only these `KINDS` of fault, with commas")
	flags.IntVar(&f.pairs, "pairs", 0, "also place `N` pairs of faults")
	flags.BoolVar(&f.promise, "promise", false, "judge the lock by what it promises")
	f.add(flags)
	s.completeFlags(cmd)
	return cmd
}

// sweepKindList are the kinds of fault, a line each.
func sweepKindList() string {
	var b strings.Builder
	for _, k := range sweep.Kinds() {
		fmt.Fprintf(&b, "  %-21s %s\n", k.Name, k.Text)
	}
	return b.String()
}

func sweepKindNames() []string {
	var names []string
	for _, k := range sweep.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// sweep is the sweep command.
func (s sweeps) sweep(name string, f sweepFlags) error {
	shard, err := f.check(s.getenv)
	if err = cmp.Or(err, f.problem()); err != nil {
		return err
	}
	plan, err := s.sweepPlan(name, f)
	if err != nil {
		return err
	}
	k, err := f.folderToKeep(plan)
	if err != nil {
		return err
	}
	f.out = k.dir
	pub := &publication{shell: s.shell, json: f.json}
	if err := s.sweepScenario(name, plan, f, shard, pub); err != nil {
		return err
	}
	return k.end(pub)
}

// problem refuses a number of pairs that makes no sense, and kinds of fault that
// there are not.
func (f sweepFlags) problem() error {
	if f.pairs < 0 || f.pairs > sweep.MaxSweepPairs {
		return fmt.Errorf("--pairs %d: give a number from 0 to %d", f.pairs, sweep.MaxSweepPairs)
	}
	for _, kind := range words(f.faults) {
		if known := sweepKindNames(); !slices.Contains(known, kind) {
			return fmt.Errorf("--faults %s: a sweep places no fault of this name: %s", quote(kind), prose.Choose(kind, known))
		}
	}
	return nil
}

// sweepPlan finds out what the flags ask for.
func (s sweeps) sweepPlan(name string, f sweepFlags) (*sweep.Plan, error) {
	t, err := runs(s).task(name, runFlags{lock: f.lock, seed: f.seed, fencing: "none"})
	if err != nil {
		return nil, err
	}
	opts := sweep.Options{Seed: f.seed, Kinds: words(f.faults), Pairs: f.pairs, Judge: explore.JudgeEverything}
	if f.promise {
		opts.Judge = explore.JudgePromise
	}
	plan, err := sweep.NewPlan(t.scenario, t.lock, opts)
	_, unsteady := errors.AsType[*play.NondeterminismError](err)
	if unsteady || errors.Is(err, play.ErrContradiction) {
		return nil, &brokenError{cause: err}
	}
	return plan, err
}

// sweepScenario has the runs made, and publishes what they come to.
func (s sweeps) sweepScenario(name string, plan *sweep.Plan, f sweepFlags, shard campaign.Shard, pub *publication) error {
	began, dir := time.Now(), f.folder(shard)
	var sofar sweep.Tally
	c := campaign.Campaign[workerJob, workerAnswer, sweep.Block]{
		Kind: sweep.Name, Plan: plan, Jobs: plan.Jobs(),
		Job: func(i int) workerJob {
			job := plan.Job(i)
			return workerJob{Sweep: &job}
		},
		Result: sweepResult,
		Done:   func(_ int, b sweep.Block) { sofar.Add(b.Tally) },
	}
	h := s.newHeadway("placements", shard, plan.Jobs(), func(i int) int { return plan.Job(i).Runs }, func() string { return sweepDetail(&sofar) })
	results, err := conduct(s.shell, f.campaignFlags, shard, dir, c, h)
	if err != nil {
		return err
	}
	found, err := s.examine(plan, results.Finished, f.children())
	if err != nil {
		return err
	}
	sw := sweep.AssembleSweep(plan, results.Finished, found)
	sw.Timing = explore.NewTiming()
	sw.Timing.WallSeconds, sw.Timing.Made, sw.Timing.Workers = time.Since(began).Seconds(), h.made, f.children()
	if !shard.Whole() {
		sw.Timing.Shard = shard.String()
	}
	return pub.add(dir, s.swept(sw, name, dir, f.children(), failedJob(results, f.campaignFlags)))
}

// sweepResult is what a child has found out.
func sweepResult(i int, d workers.Done[workerJob, workerAnswer]) (sweep.Block, error) {
	switch {
	case d.Err != nil:
		return sweep.Block{}, d.Err
	case d.Result.Sweep == nil || d.Result.Sweep.Job != i:
		return sweep.Block{}, errors.New("the worker gave no answer")
	}
	return *d.Result.Sweep, nil
}

// sweepDetail says what is known so far.
func sweepDetail(t *sweep.Tally) string {
	var parts []string
	for _, label := range t.Labels() {
		parts = append(parts, fmt.Sprintf("%s %d", label, t.Violations[label]))
	}
	return strings.Join(parts, ", ")
}
