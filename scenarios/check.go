package scenarios

import (
	"fmt"
	"testing"
	"time"

	"locksim/internal/prose"
	"locksim/scenarios/play"
)

// Check plays a lock under schedules that are drawn at random, and fails the
// test with the first that makes it break its promise: with the reason, the
// story, the smallest schedule that does it, and the command that replays it.
// The failure is stored in a file, which this and every later run of the test
// try first; one that no longer fails is said so once and watched from then on.
// What is drawn follows from the lock and the options; see [Discover]. A lock
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

// checkup is one Check on its way.
type checkup struct {
	t     testing.TB
	name  string // of the test
	lock  Lock
	dir   string
	space Space
	plan  runPlan
	seed  uint64 // of the first run; 0 leaves it to rapid
	tally tally
	end   time.Time // when the test's time is over; zero if it never is
	began time.Time
	late  bool // it came so near that some runs were left out
	stale bool // a stored failure fails again
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
	c := &checkup{t: t, name: t.Name(), lock: l, dir: opts.dir(), space: space, plan: planRuns(opts.Runs), seed: opts.Seed, began: wallNow()}
	if timed, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		c.end, _ = timed.Deadline()
	}
	return c
}

// conclude fails the test, or says what its pass is worth.
func (c *checkup) conclude() {
	c.t.Helper()
	switch {
	case c.failure != "":
		c.t.Fatal(c.failure)
	case c.tally.worthless():
		c.t.Fatalf("%s\nThis says nothing about the lock: hardly any run let its clients contend and its faults strike.\n%s",
			c.verdict(), c.tally.reasons())
	}
	c.t.Log(c.verdict())
}

// verdict is what the runs have shown, in a sentence.
func (c *checkup) verdict() string {
	text := fmt.Sprintf("%s: %s", c.lock.Name, c.tally.sentence())
	if c.space.Faults == nil && c.space.Replicas == 0 {
		text += "\nno failovers were drawn: the lock does not follow the name \"" + play.Primary + "\" to another node"
	}
	if c.late {
		text += fmt.Sprintf("\nonly %s of %s runs were made: the test's time is nearly over, see -timeout", prose.Thousands(c.tally.runs), prose.Thousands(c.plan.runs()))
	}
	return text
}

// outOfTime says that another block of runs might not come to its end.
func (c *checkup) outOfTime() bool {
	if c.end.IsZero() || c.tally.blocks == 0 {
		return false
	}
	now := wallNow()
	const blocks = 5
	if c.end.Sub(now) < blocks*now.Sub(c.began)/time.Duration(c.tally.blocks) {
		c.late = true
	}
	return c.late
}
