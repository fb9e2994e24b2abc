package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locksim/internal/campaign"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/csv"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/compare"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// comparisons has the compare command.
type comparisons struct{ *shell }

// compareFlags are the flags of the compare command.
type compareFlags struct {
	seeds    int
	json     bool
	markdown bool
	csv      bool
	quiet    bool
}

func (s comparisons) compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare [LOCK…]",
		Short: "Compare locks: servers, tokens, round trips, the faults that each survives",
		Long: `Compare shows for each lock how many servers it needs, whether it mints fencing
tokens, how many round trips an uncontended acquire, release and renewal take, for
whom it is, and which faults it survives behind which fence.

Without names, all locks are compared: the built-in ones and your own.

The servers, the tokens, the promise and for whom the lock is are declared by the
lock. All else is measured by this command: the round trips in a run of one client,
the rest in the scenarios of the library that are about the lock. For each class of
faults the table shows the weakest fencing mode in which no run did harm. --markdown
and --json also have, for each weaker mode, a run that did harm, with the command that
makes it again.

The scenarios of the library place their faults for locks on Redis with a lease of
ten seconds. Some of these faults do not strike your own lock, if it has another lease
or other servers: locksim explore --lock LOCK draws faults for it.`,
		Example: `  locksim compare
  locksim compare single redlock
  locksim compare fenced broken/token-after-lock
  locksim compare --seeds 20
  locksim compare --markdown >docs/compare.md`,
		ValidArgsFunction: s.completeCompared,
		RunE:              func(_ *cobra.Command, names []string) error { return s.compare(names, f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.seeds, "seeds", 1, "play each scenario with `N` seeds")
	flags.BoolVar(&f.json, "json", false, "print one JSON document instead of the table; see locksim schema compare")
	flags.BoolVar(&f.markdown, "markdown", false, "print Markdown instead of the table")
	flags.BoolVar(&f.csv, "csv", false, csvUsage)
	flags.BoolVar(&f.quiet, "quiet", false, "write no progress")
	s.completeFlags(cmd)
	return cmd
}

// completeCompared offers the locks that are not named yet.
func (s comparisons) completeCompared(_ *cobra.Command, named []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := slices.DeleteFunc(s.everyLock(), func(name string) bool { return slices.Contains(named, name) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// everyLock are the names of all locks and specimens.
func (s comparisons) everyLock() []string { return append(s.lockNames(), s.specimens()...) }

// compare is the compare command.
func (s comparisons) compare(names []string, f compareFlags) error {
	if f.json && f.markdown {
		return errors.New("--json and --markdown: choose one")
	}
	if f.csv && (f.json || f.markdown) {
		return errors.New("--csv and another form: choose one")
	}
	seeds, err := search.NewSeeds(1, f.seeds)
	if err != nil {
		return fmt.Errorf("--seeds %d: %w", f.seeds, err)
	}
	locks, err := s.compared(names)
	if err != nil {
		return err
	}
	c, err := s.measured(locks, seeds, f.quiet)
	if err != nil {
		return err
	}
	switch {
	case f.json:
		b, err := c.JSON()
		if err != nil {
			return &brokenError{cause: err}
		}
		_, err = s.out.Write(b)
		return s.print(err)
	case f.markdown:
		return s.print(markdown.Comparison(s.out, c))
	case f.csv:
		return s.print(csv.Comparison(c).Write(s.out))
	}
	return s.print(terminal.Comparison(s.out, c, reports.Options{Width: compareWidth, Colour: s.colour(isTerminal)}))
}

// compareWidth is the maximal width of the table.
const compareWidth = 80

// compared are the locks of some names; without names, all locks but the specimens.
func (s comparisons) compared(names []string) ([]play.Lock, error) {
	if len(names) == 0 {
		names = s.playable()
	}
	var locks []play.Lock
	for i, name := range names {
		l, err := play.FindLock(name, s.extra)
		if err != nil {
			return nil, noLock(err, fmt.Errorf("there is no lock %s: %s", quote(name), prose.Choose(name, s.everyLock())))
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("lock %s is named twice: name each lock once", name)
		}
		locks = append(locks, l)
	}
	return locks, nil
}

// compareJob is a lock that a child process measures.
type compareJob struct {
	Lock  string       `json:"lock"`
	Seeds search.Seeds `json:"seeds"`
}

// compareAnswer is the result of a child. Unusable is the reason why a lock cannot be
// measured, if the lock itself is the cause.
type compareAnswer struct {
	Lock     *compare.Lock `json:"lock,omitempty"`
	Unusable string        `json:"unusable,omitempty"`
}

// measure measures the lock of a job, in a child process.
func (s comparisons) measure(j compareJob, step func()) (compareAnswer, error) {
	l, err := play.FindLock(j.Lock, s.extra)
	if err != nil {
		return compareAnswer{}, err
	}
	m, err := compare.Measure(l, compare.Options{Seeds: j.Seeds, Replay: s.runAgain, Step: step})
	if errors.Is(err, compare.ErrUnusable) {
		return compareAnswer{Unusable: err.Error()}, nil
	}
	return compareAnswer{Lock: m}, err
}

// measured measures the locks in child processes. It starts with the locks on most
// servers: they send most messages and take longest, and would delay the end.
func (s comparisons) measured(locks []play.Lock, seeds search.Seeds, quiet bool) (*compare.Comparison, error) {
	c, err := s.newCrew(crewFlags{quiet: quiet})
	if err != nil {
		return nil, err
	}
	defer c.close()
	order := make([]int, len(locks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return locks[b].Nodes() - locks[a].Nodes() })
	jobs := make([]campaign.Job, len(locks))
	for n, i := range order {
		jobs[n] = compareTask.Job(compareJob{Lock: locks[i].Name, Seeds: seeds})
		jobs[n].Noun, jobs[n].Count = "locks", 1
	}
	rows := make([]compare.Lock, len(locks))
	var unusable []string
	var failed error
	finished := 0
	err = campaign.Do(c.ctx, c.workers, c.watch(func() string { return "" }), jobs, func(n int, text json.RawMessage, err error) error {
		finished++
		name, answer := locks[order[n]].Name, compareAnswer{}
		if err == nil {
			answer, err = compareTask.Read(text)
		}
		switch {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("measure %s: %w", name, err))
		case answer.Lock == nil && answer.Unusable == "":
			failed = errors.Join(failed, fmt.Errorf("measure %s: the worker gave no answer", name))
		case answer.Unusable != "":
			unusable = append(unusable, answer.Unusable)
		default:
			rows[order[n]] = *answer.Lock
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, &brokenError{cause: fmt.Errorf("%w: %d of %d locks are measured", err, finished, len(locks))}
	case failed != nil:
		return nil, &brokenError{cause: failed}
	case len(unusable) > 0:
		slices.Sort(unusable)
		return nil, errors.New(strings.Join(unusable, "\n"))
	}
	return compare.New(seeds, rows), nil
}
