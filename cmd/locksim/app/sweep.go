package app

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/searchflags"
	"locksim/cmd/locksim/internal/works"
	"locksim/internal/prose"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/placing"
	"locksim/scenarios/play"
	"locksim/scenarios/sweep"
)

// sweepFlags are the flags of the sweep command.
type sweepFlags struct {
	campaignFlags
	lock   string
	fence  string
	seed   uint64
	faults []string
	pairs  int
	judged searchflags.Judged
}

func sweepCommand(s *shell) *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep SCENARIO|FILE.yaml",
		Short: "Place every single fault at every moment of a scenario",
		Long: `Sweep plays a scenario without its faults, and then once for each fault at each
moment at which it may matter: before each message is sent or delivered, and at each
step of a client, such as granted, read or write. It reports what it has covered, and
shows each class of violation with the smallest schedule that leads to it. With --pairs
it also plays some runs with two faults, each at such a moment.

Sweep places these faults, each by its kind or, where a class has the name of its kind,
by its class. Without --faults it places those with a star; --faults takes every class
and kind of fault, as explore does:
` + sweepKindList() + `
A lock is judged as by explore: as if it promised everything under every fault or,
with --promise, by its own promise, under the faults that the promise names, or with
--claims by its claims alone. The flags --shard, --out, --keep and --resume work as
those of explore, and merge combines shards; the page is sweep.html.

The exit code is 0 when no violation was found, 1 when one was, and 3 when a run was
not deterministic or did not end, or the command was interrupted.`,
		Example: `  locksim sweep gc-pause
  locksim sweep gc-pause --lock redlock --faults pause,node-crash
  locksim sweep ./my.yaml --pairs 10000 --out /tmp/sweep
  locksim sweep ./my.yaml --pairs 10000 --out /tmp/sweep --resume
  locksim sweep gc-pause --lock redlock --claims
  locksim sweep gc-pause --lock single --promise --json`,
		Args:              exactly(1, "one scenario, by its name or its file"),
		ValidArgsFunction: completion{s.Roster}.scenarios,
		RunE:              func(_ *cobra.Command, args []string) error { return f.run(s, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.lock, "lock", "", "`KIND` of lock to sweep (default: the scenario's own)")
	flags.StringVar(&f.fence, "fence", "", fenceUsage+" (default: the scenario's own, or s0)")
	flags.Uint64Var(&f.seed, "seed", 1, "`N` decides everything that is random")
	flags.StringArrayVar(&f.faults, "faults", nil, "only faults of these `CLASSES` or kinds, with commas")
	flags.IntVar(&f.pairs, "pairs", 0, "also place `N` pairs of faults")
	f.judged.Add(flags)
	flags.StringVar(&f.out, "out", "", outUsage)
	flags.BoolVar(&f.keep, "keep", false, keepUsage)
	flags.BoolVar(&f.records, "records", false, recordsUsage)
	f.add(flags)
	completion{s.Roster}.flags(cmd)
	return cmd
}

// sweepKindList are the kinds of fault that a sweep places.
func sweepKindList() string {
	var b strings.Builder
	for _, k := range placing.Kinds() {
		star := " "
		if k.Unasked {
			star = "*"
		}
		for i, line := range prose.Fold(k.Text, 70) {
			name := k.Name + " " + star
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "  %-15s %s\n", name, line)
		}
	}
	return b.String()
}

func (f sweepFlags) run(s *shell, name string) error {
	shard, err := f.check(s.Getenv)
	if err = cmp.Or(err, f.problem()); err != nil {
		return err
	}
	plan, err := f.plan(s, name)
	if err != nil {
		return err
	}
	about := []string{sweeps.Kind, plan.Scenario, plan.Lock, fmt.Sprintf("s%d", plan.Seed)}
	about = append(about, f.judged.Folder()...)
	w := &works.Sweep{Console: s.Console, Plan: plan, Scenario: name}
	return publish.Run(s.Console, f.options(shard, publish.NewFolder(f.keep, f.out, about...), f.form()),
		[]publish.Work{w}, nil)
}

// problem refuses a number of pairs that makes no sense.
func (f sweepFlags) problem() error {
	if f.pairs < 0 || f.pairs > sweep.MaxPairs {
		return fmt.Errorf("--pairs %d: give a number from 0 to %d", f.pairs, sweep.MaxPairs)
	}
	return f.judged.Problem()
}

func (f sweepFlags) plan(s *shell, name string) (*sweeps.Plan, error) {
	t, err := runFlags{lock: f.lock, fence: f.fence, seed: f.seed, fencing: "none"}.task(s, name)
	if err != nil {
		return nil, err
	}
	named, err := searchflags.NamedFaults(f.faults)
	if err != nil {
		return nil, err
	}
	opts := sweep.Options{Seed: f.seed, Faults: named, Pairs: f.pairs, Judge: f.judged.Judge()}
	plan, err := sweep.NewPlan(t.scenario, t.lock, opts)
	_, unsteady := errors.AsType[*play.NondeterminismError](err)
	if unsteady || errors.Is(err, outcome.ErrContradiction) {
		return nil, &console.BrokenError{Cause: err}
	}
	return plan, err
}
