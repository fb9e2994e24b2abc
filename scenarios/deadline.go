package scenarios

import (
	"fmt"
	"os"
	"strings"
	"time"

	"locksim/internal/prose"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
)

// clock is the time that a test has, and what its runs cost.
type clock struct {
	// end is the deadline of the test; zero if it has none.
	end time.Time
	// cost is the time that the slowest run has taken so far, and since when the present one is under way.
	cost  time.Duration
	since time.Time
	// runs have taken total.
	runs  int
	total time.Duration
}

// mean is how long a run has taken so far, on average.
func (k *clock) mean() time.Duration { return k.total / time.Duration(max(k.runs, 1)) }

func (k *clock) begin() { k.since = time.Now() } //nolint:forbidigo // to end before the test's deadline

// ran notes that a run has ended, and that another one begins.
func (k *clock) ran() {
	began := k.since
	k.begin()
	took := k.since.Sub(began)
	k.cost, k.runs, k.total = max(k.cost, took), k.runs+1, k.total+took
}

// margin is left to what comes after the last run: pages, and other tests that end.
const margin = 2 * time.Second

// timeFor reports whether so many more runs fit before the deadline of the test.
func (k *clock) timeFor(runs int) bool {
	return k.end.IsZero() || time.Until(k.end) > margin+time.Duration(runs)*k.cost //nolint:forbidigo // to end before the test's deadline
}

// announce prints a failure before it is examined: if the process ends before that is done, such as by -timeout, it is
// not lost. The test itself prints what it logs only when it ends.
func (c *checkup) announce(f *search.Found) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: found, and examined next: %s\n", c.name, f.Headline())
	for _, a := range outcome.Answers(f.Outcome) {
		if a.Question == outcome.WhatHappened {
			fmt.Fprintf(&b, "  %s: %s\n", a.Question, prose.Visible(a.Text))
		}
	}
	fmt.Fprintf(&b, "  %s\n", c.commandFrom(f.Seed))
	_, _ = fmt.Fprint(os.Stderr, b.String()) // a test that cannot write there has nobody to tell
}

// leftOut says what there was no time for; it is "" if nothing was left out.
func (c *checkup) leftOut(what []string) string {
	if len(what) == 0 {
		return ""
	}
	return fmt.Sprintf("left out for lack of time (a run takes up to %v here; see -timeout): %s",
		c.clock.cost.Round(time.Millisecond), prose.Commas(what))
}
