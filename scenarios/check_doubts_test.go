package scenarios_test

import (
	"strings"
	"testing"

	"locksim/internal/testlocks"
)

// One run in a hundred may be without a verdict: the search goes on, and the line of the pass counts it. One more fails
// the test, which says how many, which seed, and why.
func TestCheckBearsAFewRunsWithoutAVerdict(t *testing.T) {
	opts := quick(t)
	opts.Runs = 500 // 150 with so many checks
	passes := checked(t, "TestTheirs", testlocks.LeavesGoroutines(t, "theirs", 40), opts)
	wantPass(t, passes)
	wants(t, passes.said(), `no violation in 149 runs\.`,
		`^1 run had no verdict, and counts for nothing: the first is that with seed 40 \(goroutines remained after the end of the run in locksim/internal/testlocks\.LeavesGoroutines`)

	fails := checked(t, "TestTheirs", testlocks.LeavesGoroutines(t, "theirs", 40, 41), opts)
	if len(fails.errors) != 1 {
		t.Fatal(fails.said())
	}
	wants(t, fails.errors[0],
		`\Atheirs: 2 of 150 runs without a verdict, where at most 1 may be: the first is that with seed 40 \(goroutines remained`,
		`^The last of them: seed 41: a run of theirs has no verdict: `, `^schedule, as it was drawn:$`,
		`, with Options\{Seed: 41\}$`)
	if strings.Contains(fails.errors[0], "fails:") {
		t.Errorf("a run without a verdict is told as a violation:\n%s", fails.errors[0])
	}
}
