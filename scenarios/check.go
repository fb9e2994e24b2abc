package scenarios

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/internal/prose"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Check plays a lock under schedules that are drawn at random, and fails the
// test with the first that makes it break its promise: with the reason, the
// story, the minimal schedule that does it, and the command that replays it.
// The failure is stored in a file, which this and every later run of the test
// try first; one that no longer fails is reported once, and tried silently from
// then on. What is drawn follows from the lock and the options; see [Discover]. A lock
// that promises nothing is judged for everything under every fault.
//
// The failure is made ten times over, and every twentieth run that passes twice.
// A lock whose runs differ fails the test too, with the first event that does.
//
// The seeds come from rapid, so that its flags hold: -rapid.checks=1000 makes
// ten times as many runs, -rapid.seed repeats them, -rapid.failfile a failure.
// A pass means that these runs showed no violation, as the log says with the
// bound that follows, and not that there is none. A pass in which clients hardly
// ever contended, or faults hardly ever struck, would say nothing, and fails.
//
// Runs are made one after another, whichever tests ask for them.
func Check(t testing.TB, l Lock, opts Options) {
	t.Helper()
	c := newCheckup(t, l, opts)
	c.tryStored()
	if opts.Seed != 0 {
		c.trySeeds()
	} else {
		c.tryRapid()
	}
	c.conclude()
}

// checkup is the state of one Check.
type checkup struct {
	t     testing.TB
	name  string // of the test
	lock  Lock
	dir   string
	space Space
	plan  runPlan
	seed  uint64 // of the first run; 0 leaves it to rapid
	tally search.Tally
	// blocks are those of the plan that were begun at the time began. end is when
	// the test's time is over; zero if it never is. late says that it came so near
	// that some runs were left out.
	blocks     int
	began, end time.Time
	late       bool
	stale      bool // a stored failure fails again
	// failure is what is wrong with the lock, in full; "" for nothing so far.
	failure string
}

// newCheckup ends the test where nothing can be drawn for the lock.
func newCheckup(t testing.TB, l Lock, opts Options) *checkup {
	t.Helper()
	space, err := opts.discover(l)
	if err != nil {
		t.Fatal(err)
	}
	c := &checkup{t: t, name: t.Name(), lock: l, dir: opts.dir(), space: space, plan: planRuns(opts.Runs), seed: opts.Seed, began: time.Now()} //nolint:forbidigo // to end before the test's time is over
	if timed, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		c.end, _ = timed.Deadline()
	}
	return c
}

// conclude fails the test, or says what its pass means.
func (c *checkup) conclude() {
	c.t.Helper()
	switch {
	case c.failure != "":
		c.t.Fatal(c.failure)
	case c.worthless():
		c.t.Fatalf("%s\nThis says nothing about the lock: hardly any run let its clients contend and its faults strike.\nwhy runs are no evidence: %s",
			c.verdict(), counts(c.tally.Vacuous))
	}
	c.t.Log(c.verdict())
}

// worthless reports whether next to none of many runs is evidence.
func (c *checkup) worthless() bool {
	const least = 20
	return c.tally.Runs >= least && c.tally.Evidence*20 < c.tally.Runs
}

// counts lists what was counted, the most frequent first.
func counts(of map[string]int) string {
	if len(of) == 0 {
		return "none"
	}
	keys := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(of[b]-of[a], strings.Compare(a, b))
	})
	for i, k := range keys {
		keys[i] = k + " " + prose.Thousands(of[k])
	}
	return strings.Join(keys, ", ")
}

// verdict is what the runs have shown, in a sentence.
func (c *checkup) verdict() string {
	t := &c.tally
	drawn := map[string]int{}
	for kind, n := range t.Faults {
		drawn[kind] = n.Planned
	}
	text := fmt.Sprintf("%s: %s runs, %s of them non-vacuous, no violation: rate below %.2g %% at 95 %% under this generator (faults drawn: %s)",
		c.lock.Name, prose.Thousands(t.Runs), prose.Thousands(t.Evidence), 100*search.RateBound(0, t.Evidence), counts(drawn))
	if c.space.Faults == nil && c.space.Replicas == 0 {
		text += "\nno failovers were drawn: the lock does not follow the name \"" + play.Primary + "\" to another node"
	}
	if c.late {
		text += fmt.Sprintf("\nonly %s of %s runs were made: the test's time is nearly over, see -timeout", prose.Thousands(c.tally.Runs), prose.Thousands(c.plan.runs()))
	}
	return text
}

// outOfTime reports whether the test's time may end before another block does.
func (c *checkup) outOfTime() bool {
	if c.end.IsZero() || c.blocks == 0 {
		return false
	}
	now := time.Now() //nolint:forbidigo // to end before the test's time is over
	const blocks = 5
	if c.end.Sub(now) < blocks*now.Sub(c.began)/time.Duration(c.blocks) {
		c.late = true
	}
	return c.late
}

// tryBlock plays a block of consecutive seeds, up to the first that fails.
func (c *checkup) tryBlock(first uint64) {
	if c.outOfTime() {
		return
	}
	c.blocks++
	c.try(search.Drawn(c.space, search.Seeds{First: first, Last: first + uint64(c.plan.block-1)}))
}

// try plays cases and counts the runs, up to the first that shows something wrong
// with the lock, which becomes the failure.
func (c *checkup) try(cases iter.Seq[search.Case]) {
	for t := range search.Trials(c.lock, cases) {
		if t.Err != nil {
			c.failure = c.noRun(t.Case, t.Err)
			return
		}
		c.tally.Count(t)
		if len(t.Violations) == 0 && t.Difference == nil {
			continue
		}
		f := search.NewFailure(t)
		if err := f.Examine(); err != nil {
			c.failure = c.noRun(t.Case, err)
			return
		}
		c.failure = c.report(&f)
		return
	}
}

// report stores a failure, if it can be tried again, and describes it in full.
func (c *checkup) report(f *search.Failure) string {
	if len(f.Violations) == 0 {
		return f.Text(c.commandFrom(f.Seed))
	}
	path, err := store(c.dir, f)
	if err != nil {
		return f.Text(err.Error(), c.commandFrom(f.Seed))
	}
	lines := []string{"stored in " + path + ", which this test tries first from now on"}
	return f.Text(slices.Concat(lines, c.stepByStep(path), []string{c.command()})...)
}

// stepByStep is the command that shows a stored failure, if locksim has the lock.
func (c *checkup) stepByStep(path string) []string {
	if !kinds.Reserved(c.lock.Name) {
		return nil
	}
	return []string{"step by step: go run locksim/cmd/locksim replay " + path}
}

// command makes the test again, and with it what is stored.
func (c *checkup) command() string {
	return fmt.Sprintf("replay: go test -run '^%s$'", strings.ReplaceAll(regexp.QuoteMeta(c.name), "/", "$/^"))
}

// commandFrom makes the test again from a seed on, since nothing is stored.
func (c *checkup) commandFrom(seed uint64) string {
	return fmt.Sprintf("%s, with Options{Seed: %d}", c.command(), seed)
}

// noRun is the complaint about a run that came to no verdict: the lock panicked,
// never came to an end, or left something behind.
func (c *checkup) noRun(of search.Case, cause error) string {
	source, err := file.Format(of.Scenario)
	if err != nil {
		source = []byte(err.Error())
	}
	return fmt.Sprintf("seed %d: a run of %s came to no verdict: %v\n\nschedule, as it was drawn:\n%s\n%s",
		of.Seed, c.lock.Name, cause, "  "+strings.ReplaceAll(strings.TrimSpace(string(source)), "\n", "\n  ")+"\n", c.commandFrom(of.Seed))
}
