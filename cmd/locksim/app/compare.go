package app

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/roster"
	"locksim/cmd/locksim/internal/works"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/csv"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// compareFlags are the flags of the compare command.
type compareFlags struct {
	liveFlag
	also     []string
	seeds    int
	json     bool
	markdown bool
	csv      bool
	out      string
	quiet    bool
}

func compareCommand(s *shell) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare [LOCK…]",
		Short: "Compare locks: servers, tokens, round trips, the faults that each survives",
		Long: `Compare shows for each lock how many servers it needs, whether it mints fencing
tokens, how many round trips an uncontended acquire, release and renewal take, for
how long it is not to be had after a server or its holder has failed, for whom it is,
and which fence kept the data right under each fault.

Without names, all locks are compared: the built-in ones and your own.

The servers, the tokens, the promise and for whom the lock is are declared by the
lock. All else is measured by this command: the round trips in a run of one client,
the times in which it is not to be had in 200 runs of each trouble, or 50 on other
servers than Redis, the rest in the scenarios of the library that are about the lock. For each class of
faults the table shows the weakest fencing mode in which no run did harm. --markdown
and --json also have, for each weaker mode, a run that did harm, with the command that
makes it again. --out writes a page with a diagram of each of these runs, and the
comparison in all other forms.

The scenarios of the library place their faults for locks on Redis with a lease of
ten seconds. Some of these faults do not strike your own lock, if it has another lease
or other servers: locksim explore --lock LOCK draws faults for it, and --also adds
scenario files of your own, for the locks that they name.

With --live what the locks survive is seen on real servers; see docs/how-to/live.md.
Scenarios with a fault that real servers cannot play do not count then.`,
		Example: `  locksim compare
  locksim compare single redlock
  locksim compare fenced broken/token-after-lock
  locksim compare --seeds 20
  locksim compare --markdown >docs/reference/compare.md
  locksim compare mylock fenced --also './mine/*.yaml'
  locksim compare single fenced --out /tmp/compare
  locksim compare fenced --live`,
		ValidArgsFunction: completion{s.Roster}.compared,
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := f.liveFlag.check(cmd.Flags()); err != nil {
				return err
			}
			return f.run(s, names)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.also, "also", nil, "also the scenarios in these `FILES`, each for the locks that it names: "+
		"paths, with commas, or patterns such as './mine/*.yaml'")
	flags.IntVar(&f.seeds, "seeds", 1, "play each scenario with `N` seeds")
	flags.BoolVar(&f.json, "json", false, "print one JSON document instead of the table; see locksim schema compare")
	flags.BoolVar(&f.markdown, "markdown", false, "print Markdown instead of the table")
	flags.BoolVar(&f.csv, "csv", false, csvUsage+": a row for each lock and class of faults")
	flags.StringVar(&f.out, "out", "", "also write compare.html, compare.md, compare.json and compare.csv into `DIR`")
	flags.BoolVar(&f.quiet, "quiet", false, "write no progress")
	f.liveFlag.add(flags, "play the scenarios on real servers, in real time: ten minutes and more", anyScale, 1, "")
	completion{s.Roster}.flags(cmd)
	return cmd
}

func (f compareFlags) run(s *shell, names []string) error {
	if err := oneForm(map[string]bool{"--json": f.json, "--markdown": f.markdown, "--csv": f.csv}); err != nil {
		return err
	}
	if err := outfile.PrepareFolder("out", f.out); err != nil {
		return err
	}
	seeds, err := outcome.NewSeeds(1, f.seeds)
	if err != nil {
		return fmt.Errorf("--seeds %d: %w", f.seeds, err)
	}
	also := roster.SplitList(f.also)
	if _, err := s.Roster.Also(also); err != nil {
		return err
	}
	locks, err := comparedLocks(s, names)
	if err != nil {
		return err
	}
	w, err := publish.NewCrew(s.Console, publish.Options{Quiet: f.quiet})
	if err != nil {
		return err
	}
	defer w.Close()
	measured := func() (*comparisons.Comparison, error) { return works.Compare(w, locks, seeds, also) }
	if f.live {
		measured = func() (*comparisons.Comparison, error) {
			return works.CompareLive(w, s.Roster, locks, seeds, also, f.scale)
		}
	}
	c, err := measured()
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := works.StoreComparison(w, f.out, c, names); err != nil {
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
		_, err = fmt.Fprintf(s.Out, "\n%s\n", filepath.Join(f.out, works.ComparePage))
	}
	return s.Print(err)
}

// compareWidth is the maximal width of the table.
const compareWidth = 80

// comparedLocks are the locks of some names; without names, all locks but the specimens.
func comparedLocks(s *shell, names []string) ([]subject.Lock, error) {
	if len(names) == 0 {
		names = s.Playable(s.Console)
	}
	var locks []subject.Lock
	for i, name := range names {
		l, err := redislocks.Find(name, s.Extra)
		if err != nil {
			return nil, roster.NoLock(err, fmt.Errorf("there is no lock %s: %s", console.Quote(name),
				prose.Choose(name, s.EveryLock())))
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("lock %s is named twice: name each lock once", name)
		}
		locks = append(locks, l)
	}
	return locks, nil
}
