package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/roster"
	"locksim/cmd/locksim/internal/searchflags"
	"locksim/cmd/locksim/internal/works"
	"locksim/internal/prose"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/review"
	"locksim/scenarios/subject"
)

// reviewFlags are the flags of report --review.
type reviewFlags struct {
	campaignFlags
	on    bool
	lock  string
	seeds int
	runs  int
	// faults are the names of the faults that the searches may use.
	faults []string
}

const reviewHelp = `With --review it measures one lock instead, and writes a design review of that lock
as DIR/review.html and DIR/review.md: what the lock promises and for which use it is
suitable, the failures with the smallest story of each, the effect of each fence on
them, what was tried and what was not, and the questions that the team has to answer.
It runs the scenarios of the library, random schedules within the promise and with
every fault, and a sweep of single faults, in child processes. That takes a quarter of
a minute on two cores for a lock on one node, and about a minute for a Redlock. With
--faults the schedules and the sweep have only the faults that are named. It can
be interrupted at any time: --resume continues. With --shard the runs are divided among
machines, and "locksim merge" combines them into the review.

The exit code of --review is 1 where the lock breaks its own promise or a scenario
ends worse than expected, and 3 where runs do not repeat; the review is written in
these cases too.`

func (f *reviewFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "review", false, "measure a lock, and write its design review")
	flags.StringVar(&f.lock, "lock", "", "`KIND` of lock to review")
	flags.IntVar(&f.seeds, "seeds", 20, "`N` seeds for every scenario and fencing mode")
	flags.IntVar(&f.runs, "runs", 3000, "try `N` random schedules within the promise, and a fifth of that with "+
		"every fault")
	flags.StringArrayVar(&f.faults, "faults", nil, searchflags.FaultsUsage+", in the searches")
	flags.StringVar(&f.out, "out", "", "write the review into `DIR` (default: reports/out/review-KIND, and an index of "+
		"all: see locksim serve)")
	f.campaignFlags.add(flags)
}

// args requires one folder without --review, and none with it. It refuses the flags of
// a review without --review.
func (f *reviewFlags) args(cmd *cobra.Command, args []string) error {
	if f.on {
		return exactly(0, "no folder with --review; name the lock with --lock")(cmd, args)
	}
	only := ""
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "json" {
			only = flag.Name
		}
	})
	if only != "" {
		return fmt.Errorf("--%s: only a review has this flag: add --review, or leave it out", only)
	}
	return exactly(1, "one folder, such as one that locksim run --out has written")(cmd, args)
}

// run is the report command with --review.
func (f reviewFlags) run(s *shell) error {
	if f.lock == "" {
		return errors.New("--review: name the lock to review, with --lock: see locksim list")
	}
	f.keep = f.out == ""
	shard, err := f.check(s.Getenv)
	if err != nil {
		return err
	}
	if f.json {
		err = f.wholeOnly(shard, reviews.Kind, "--json")
	}
	if err != nil {
		return err
	}
	l, plan, err := f.plan(s)
	if err != nil {
		return err
	}
	k := publish.NewFolder(f.keep, f.out, reviews.Kind, l.Name)
	if f.keep {
		k.Flag = "" // the user has not given --keep
	}
	return publish.Run(s.Console, f.options(shard, k, f.form()), []publish.Work{works.NewReview(s.Console, l, plan)}, nil)
}

func (f reviewFlags) plan(s *shell) (subject.Lock, *review.Work, error) {
	none := subject.Lock{}
	if f.runs < 1 || f.runs > explorations.MaxRuns {
		return none, nil, fmt.Errorf("--runs %d: give a number from 1 to %d", f.runs, explorations.MaxRuns)
	}
	if strings.Contains(f.lock, ",") {
		return none, nil, fmt.Errorf("--lock %s: a review is of one lock: name one", console.Quote(f.lock))
	}
	l, err := redislocks.Find(f.lock, s.Extra)
	if err != nil {
		return none, nil, roster.NoLock(err, fmt.Errorf("--lock %s: there is no such lock: %s", console.Quote(f.lock),
			prose.Choose(f.lock, append(s.LockNames(), s.Specimens()...))))
	}
	if l.TestsFence() {
		return none, nil, fmt.Errorf("--lock %s: a review is of a lock, and this is a fence on trial: see locksim explore "+
			"--fence", console.Quote(f.lock))
	}
	seeds, err := outcome.NewSeeds(1, f.seeds)
	if err != nil {
		return none, nil, fmt.Errorf("--seeds %d: %w", f.seeds, err)
	}
	named, err := searchflags.NamedFaults(f.faults)
	if err != nil {
		return none, nil, err
	}
	work, err := review.NewWork(l, review.Options{Seeds: seeds, Runs: f.runs, Faults: named, Extra: s.Extra})
	return l, work, err
}
