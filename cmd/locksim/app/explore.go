package app

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/roster"
	"locksim/cmd/locksim/internal/searchflags"
	"locksim/cmd/locksim/internal/works"
	"locksim/scenarios/explore"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// exploreFlags are the flags of the explore command.
type exploreFlags struct {
	campaignFlags
	locks  []string
	fence  string
	runs   int
	from   uint64
	faults []string
	judged searchflags.Judged
	space  searchflags.Space
	all    bool
	csv    bool
	cause  bool // the page of each violation says when it became inevitable
	// against is the folder that remembers the violations of earlier explorations, and junit the file of the comparison.
	against, junit string

	runsName string // the flag that set runs, for errors
}

func exploreCommand(s *shell) *cobra.Command { return new(exploreFlags).command(s) }

// command is the explore command; it stores its flags in f.
func (f *exploreFlags) command(s *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explore --lock LOCK",
		Short: "Search for schedules that break a lock",
		Long: `Explore runs a lock under random schedules: how many clients there are, what they do,
and which faults strike when. A seed decides all of it. Explore stops at the first run
that breaks the lock, makes its schedule minimal, and prints the story of that run.
With --all it makes all runs, and shows one violation of each kind. Two violations are
of one kind if the same kinds of fault break the same duty of the lock.

The lock is judged as if it promised everything under every fault: two clients never
have it at once, it is free in the end, the fence refuses no rightful holder, and the
data is right. Where the lock mints tokens, the data has to be right behind the fence
"seal" only. With --promise the lock is judged by its own promise, under the faults
that the promise names. With --claims only one thing counts, under every fault: whether
two clients ever claim the lock at once.

--faults limits the faults to classes, or to single kinds. Without it a run may have
every kind that chance chooses. Newer kinds, such as half_open, strike only where
--faults names them, so that one seed has the same schedule in every version.
The flags from --clients to --workload narrow what else chance decides. What they leave
open is chosen by chance, or follows from the lock.

With --out each result is stored as soon as it is known, and --resume continues after
an interruption. In the end the folder also has explore.html, with a report of each
violation. The runs can be divided: --shard 0/8 to 7/8 make them on eight machines,
and "locksim merge" combines the results.

With --against FOLDER the violations are compared with those that earlier explorations
of this lock have stored there, in FOLDER/triage.json: each kind of violation is new,
still there, back, or gone. All runs are made, as with --all. A known violation that was
not found is played again by its stored schedule; it is gone only if that schedule no
longer breaks the lock. "locksim serve FOLDER" shows the list.

The exit code is 0 when no violation was found, 1 when one was, and 3 when a run was
not deterministic or did not end, or the command was interrupted. With --against it is
1 only when a violation is new or back.`,
		Example: `  locksim explore --lock single
  locksim explore --lock single --runs 2000 --against known --junit result.xml
  locksim explore --lock single --faults half_open
  locksim explore --lock redlock --faults pause,partition --runs 50000 --out /tmp/redlock
  locksim explore --lock redlock --faults pause,partition --runs 50000 --out /tmp/redlock --resume
  locksim explore --lock broken/get-then-del --all --json
  locksim explore --lock redlock --claims
  locksim explore --lock all --promise
  locksim explore --fence broken/four-requests`,
		Args: exactly(0, "no arguments; name the lock with --lock"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.runsName = "--runs"
			if cmd.Flags().Changed("seeds") {
				f.runsName = "--seeds"
				if cmd.Flags().Changed("runs") {
					return errors.New("--runs and --seeds: choose one; they are two names of one number")
				}
			}
			return f.run(s)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.locks, "lock", nil, "explore these `LOCKS`, with commas, or all of them")
	flags.StringVar(&f.fence, "fence", "", fenceUsage+"; with --lock, behind these locks")
	flags.IntVar(&f.runs, "runs", 10_000, "make `N` runs")
	flags.IntVar(&f.runs, "seeds", 10_000, "`N` is the number of runs: the same as --runs")
	flags.Uint64Var(&f.from, "from-seed", 1, "the first seed is `N`")
	flags.StringArrayVar(&f.faults, "faults", nil, searchflags.FaultsUsage)
	f.judged.Add(flags)
	f.space.Add(flags)
	flags.BoolVar(&f.all, "all", false, "make all runs, and show one violation of each kind")
	flags.BoolVar(&f.cause, "cause", false, "with --out or --keep, the page of each violation says from which step on "+
		"it was inevitable")
	flags.BoolVar(&f.csv, "csv", false, csvUsage+": a row for each violation")
	flags.StringVar(&f.against, "against", "", "say what is new, still there, back or gone since the explorations that "+
		"`FOLDER` remembers; implies --all")
	flags.StringVar(&f.junit, "junit", "", "with --against, also write JUnit XML into `FILE`: a test case for each "+
		"kind of violation")
	flags.StringVar(&f.out, "out", "", outUsage)
	flags.BoolVar(&f.keep, "keep", false, keepUsage)
	flags.BoolVar(&f.records, "records", false, recordsUsage)
	f.add(flags)
	completion{s.Roster}.flags(cmd)
	return cmd
}

// form is the form in which the explorations are printed.
func (f exploreFlags) form() publish.Form {
	if f.csv {
		return publish.AsCSV
	}
	return f.campaignFlags.form()
}

func (f exploreFlags) run(s *shell) error {
	shard, err := f.check(s.Getenv)
	if err = cmp.Or(err, f.problem()); err != nil {
		return err
	}
	if f.against != "" && !shard.Whole() {
		return errors.New("--against: a shard has not all violations: leave one of --against and --shard out")
	}
	f.all = f.all || f.against != ""
	plans, err := f.plans(s)
	if err != nil {
		return err
	}
	if err := outfile.PrepareFile("junit", f.junit); err != nil {
		return err
	}
	if f.against != "" {
		if err := outfile.PrepareFolder("against", f.against); err != nil {
			return err
		}
		if _, err := works.ReadHistory(f.against); err != nil {
			return fmt.Errorf("--against %s: %w", console.Quote(f.against), err)
		}
	}
	var all []publish.Work
	var names []string
	for _, plan := range plans {
		all, names = append(all, &works.Exploration{Console: s.Console, Plan: plan, Against: f.against, JUnit: f.junit,
			Cause: f.cause}), append(names, plan.Lock)
	}
	return publish.Run(s.Console, f.options(shard, publish.NewFolder(f.keep, f.out, f.folderName(names)...), f.form()),
		all, names)
}

// fewLocks is how many locks the name of a folder lists one by one.
const fewLocks = 3

// folderName has the parts of the name of the folder for an exploration of some locks.
// What the lock is judged by is one of them.
func (f exploreFlags) folderName(locks []string) []string {
	switch list := roster.SplitList(f.locks); {
	case len(list) == 1 && list[0] == allLocks:
		locks = []string{allLocks}
	case len(locks) > fewLocks:
		locks = []string{strings.Join(locks, ",")}
	}
	return slices.Concat([]string{explorations.Kind}, locks, f.judged.Folder())
}

// problem refuses numbers of runs and seeds that make no sense, and two forms at once.
func (f exploreFlags) problem() error {
	if err := oneForm(map[string]bool{"--json": f.json, "--csv": f.csv}); err != nil {
		return err
	}
	switch {
	case f.cause && f.out == "" && !f.keep:
		return errors.New("--cause: it is on the page of each violation: also name a folder for the pages, with --out or " +
			"--keep")
	case f.junit != "" && f.against == "":
		return errors.New("--junit: the test cases are violations over time: also name the folder that remembers them, " +
			"with --against")
	case f.runs < 1 || f.runs > explorations.MaxRuns:
		return fmt.Errorf("%s %d: give a number from 1 to %d", f.runsName, f.runs, explorations.MaxRuns)
	case f.from > math.MaxUint64-uint64(f.runs-1):
		return fmt.Errorf("--from-seed %d with %s %d: there are no seeds beyond %d", f.from, f.runsName, f.runs,
			uint64(math.MaxUint64))
	}
	if f.csv && f.json {
		return errors.New("--csv and --json: choose one")
	}
	return f.judged.Problem()
}

// plans makes the plan of each lock from the flags.
func (f exploreFlags) plans(s *shell) ([]*explorations.Plan, error) {
	subjects, err := f.subjects(s)
	if err != nil {
		return nil, err
	}
	named, err := searchflags.NamedFaults(f.faults)
	if err != nil {
		return nil, err
	}
	opts := explore.Options{Runs: f.runs, FirstSeed: f.from, Faults: named, Space: f.space.Space,
		Judge: f.judged.Judge(), Collect: explorations.CollectFirst}
	if f.all {
		opts.Collect = explorations.CollectAll
	}
	var plans []*explorations.Plan
	for _, l := range subjects {
		plan, err := explore.NewPlan(l, opts)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// subjects are the locks that the flags name, each with the fence that they name.
func (f exploreFlags) subjects(s *shell) ([]subject.Lock, error) {
	names, err := exploredLocks(s, f.locks)
	if err != nil && f.fence != "" && len(f.locks) == 0 {
		names, err = []string{subject.Ledger}, nil
	}
	if err != nil {
		return nil, err
	}
	var all []subject.Lock
	for _, name := range names {
		l, err := redislocks.FindSubject(name, f.fence, s.Extra)
		if unknown, ok := errors.AsType[*redislocks.UnknownFenceError](err); ok {
			return nil, fmt.Errorf("--fence %s: %w", console.Quote(f.fence), unknown)
		}
		if err != nil && !errors.Is(err, subject.ErrUnknownLock) {
			return nil, fmt.Errorf("--fence %s: %w", console.Quote(f.fence), err)
		}
		if err != nil {
			return nil, roster.NoLock(err, fmt.Errorf("--lock %s: there is no such lock: %s", console.Quote(name),
				s.ChooseLock(name)))
		}
		all = append(all, l)
	}
	return all, nil
}

// fenceUsage is the usage of --fence.
const fenceUsage = "put the protected store of this `NAME` on trial, in place of s0"

// exploredLocks are the locks that a flag names, each once.
func exploredLocks(s *shell, lists []string) ([]string, error) {
	var names []string
	for _, name := range roster.SplitList(lists) {
		if name == allLocks {
			names = append(names, s.Playable(s.Console)...)
		} else {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("--lock: name the lock to explore: see locksim list")
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	}), nil
}

// allLocks is the word for all locks.
const allLocks = "all"
