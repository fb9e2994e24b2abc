package app

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/explore"
	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
	"locksim/scenarios/review"
	"locksim/scenarios/search"
	"locksim/scenarios/sweep"
)

// reviewFlags are the flags of report --review.
type reviewFlags struct {
	on      bool
	lock    string
	seeds   int
	runs    int
	out     string
	json    bool
	workers int
}

const reviewHelp = `With --review it measures one lock instead, and writes what the review of a design
needs to know of it, as DIR/review.html and DIR/review.md: what the lock promises
and what it is suited for, what broke it with the smallest story of each, what each
fence made of that, what was tried and what was not, and what the team has to
answer. It runs the scenarios of the library, random schedules within the promise
and with every fault, and a sweep of single faults, in child processes. That takes
a quarter of a minute on two cores for a lock on one node, and about a minute for a
Redlock.

The exit code of --review is 1 where the lock breaks its own promise or a scenario
ends worse than expected, and 3 where runs do not repeat; the review is written
all the same.`

func (f *reviewFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "review", false, "measure a lock, and write its design review")
	flags.StringVar(&f.lock, "lock", "", "`KIND` of lock to review")
	flags.IntVar(&f.seeds, "seeds", 20, "`N` seeds for every scenario and fencing mode")
	flags.IntVar(&f.runs, "runs", 3000, "try `N` random schedules within the promise, and a fifth of that with every fault")
	flags.StringVar(&f.out, "out", "", "write the review into `DIR` (default: reports/out/review-KIND, and an index of all: see locksim serve)")
	flags.BoolVar(&f.json, "json", false, "print the review as one JSON document, too")
	flags.IntVar(&f.workers, "workers", 0, "`N` child processes (default: one per core)")
}

// args demands a folder, or none with --review, and refuses flags that only a
// review knows.
func (f *reviewFlags) args(cmd *cobra.Command, args []string) error {
	if f.on {
		return exactly(0, "no folder with --review; name the lock with --lock")(cmd, args)
	}
	for _, name := range []string{"lock", "seeds", "runs", "out", "json", "workers"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s: only a review has this flag: say --review, too, or leave it out", name)
		}
	}
	return exactly(1, "one folder, such as locksim run --out has written")(cmd, args)
}

// review is the report command with --review.
func (s reviews) review(f reviewFlags) error {
	l, work, err := s.reviewWork(f)
	if err != nil {
		return err
	}
	k, err := keep(f.out == "", f.out, "review", l.Name)
	if err != nil {
		return err
	}
	if err := prepare(k.dir); err != nil {
		return err
	}
	r, err := s.reviewed(l, work, f)
	if err != nil {
		return err
	}
	return s.publishReview(r, k, f)
}

// reviewWork finds out what the flags ask for.
func (s reviews) reviewWork(f reviewFlags) (play.Lock, *review.Work, error) {
	none := play.Lock{}
	if f.lock == "" {
		return none, nil, errors.New("--review: say which lock is to be reviewed, with --lock: see locksim list")
	}
	if f.workers < 0 || f.workers > maxWorkers {
		return none, nil, fmt.Errorf("--workers %d: give a number from 1 to %d, or leave it out for one per core", f.workers, maxWorkers)
	}
	if f.runs < 1 || f.runs > explore.MaxExploreRuns {
		return none, nil, fmt.Errorf("--runs %d: give a number from 1 to %d", f.runs, explore.MaxExploreRuns)
	}
	l, err := play.FindLock(f.lock, s.extra)
	if err != nil {
		return none, nil, fmt.Errorf("--lock %s: there is no such lock: %s", quote(f.lock), prose.Choose(f.lock, append(s.lockNames(), kinds.Specimens()...)))
	}
	seeds, err := search.NewSeeds(1, f.seeds)
	if err != nil {
		return none, nil, fmt.Errorf("--seeds %d: %w", f.seeds, err)
	}
	work, err := review.NewWork(l, review.Options{Seeds: seeds, Runs: f.runs, Extra: s.extra})
	return l, work, err
}

// publishReview writes the review, and says what it comes to.
func (s reviews) publishReview(r *review.Review, k kept, f reviewFlags) error {
	opt := reports.Options{Replay: s.reviewAgain(f), Colour: s.colour(isTerminal)}
	html, err := rendered("review.html", r, opt, html.Review)
	if err != nil {
		return err
	}
	md, err := rendered("review.md", r, opt, markdown.Review)
	if err != nil {
		return err
	}
	if err := writeAll(filepath.Clean(k.dir), []document{md, html}); err != nil {
		return &brokenError{cause: fmt.Errorf("keep the review: %w", err)}
	}
	err = s.showReview(r, opt, f, filepath.Join(k.dir, html.name), filepath.Join(k.dir, md.name))
	if err := errors.Join(err, k.list(s.shell)); err != nil {
		return err
	}
	return reviewProblem(r)
}

// rendered is a review as a file.
func rendered(name string, r *review.Review, opt reports.Options, render reviewRenderer) (document, error) {
	var b bytes.Buffer
	if err := render(&b, r, opt); err != nil {
		return document{}, &brokenError{cause: err}
	}
	return document{name, b.Bytes()}, nil
}

// showReview prints the review in short and where it is, or as JSON.
func (s reviews) showReview(r *review.Review, opt reports.Options, f reviewFlags, names ...string) error {
	if f.json {
		b, err := r.JSON()
		if err != nil {
			return &brokenError{cause: err}
		}
		_, err = s.out.Write(b)
		return s.print(err)
	}
	err := terminal.Review(s.out, r, opt)
	for _, name := range names {
		if err == nil {
			_, err = fmt.Fprintln(s.out, name)
		}
	}
	return s.print(err)
}

// reviewProblem is the error that the exit code speaks of.
func reviewProblem(r *review.Review) error {
	f := &r.Figures
	switch {
	case f.Doubtful > 0:
		return &brokenError{cause: errors.New(r.Advice[0].Text)}
	case f.Within.Violating > 0, f.Promises && f.Swept.Violating > 0, r.Matrix != nil && r.Matrix.Totals.Worse > 0:
		return errUnexpected
	}
	return nil
}

// reviewAgain is the command that makes the review again.
func (s reviews) reviewAgain(f reviewFlags) string {
	return fmt.Sprintf("%s report --review --lock %s --seeds %d --runs %d", s.publicName(), quote(f.lock), f.seeds, f.runs)
}

// breakAgain is the command that finds a break again.
func (s reviews) breakAgain(work *review.Work, b review.Break) string {
	again := s.public()
	switch b.From {
	case review.FromPromise:
		return explorations{again}.exploreAgain(work.Within, b.Found.Seed)
	case review.FromAll:
		return explorations{again}.exploreAgain(work.All, b.Found.Seed)
	}
	return sweeps{again}.sweepReplay(work.Sweep, work.Plan.Swept, "", 0, sweep.Class{Kinds: b.Kinds})
}

// cellAgain is the command that makes a run of the matrix again.
func (s reviews) cellAgain(scenario, lock string, seed uint64, modes ...fence.Mode) string {
	return matrices{s.public()}.runAgain(scenario, lock, seed, slices.Clone(modes)...)
}
