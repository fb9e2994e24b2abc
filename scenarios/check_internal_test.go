package scenarios

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"locksim/internal/testlocks"
	"locksim/scenarios/file"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// A tape of bytes repeats what was drawn from a seed. Any tape draws a valid
// scenario.
func TestByteTape(t *testing.T) {
	space, err := search.Discover(testlocks.Correct("tape"), Space{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(100) {
		want, got := search.Draw(spaces.Seeded(seed), space), search.Draw(&byteTape{rest: tapeOf(seed, space)}, space)
		if diff := cmp.Diff(formatted(t, want), formatted(t, got)); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		tape := rapid.SliceOf(rapid.Byte()).Draw(t, "tape")
		if err := search.Draw(&byteTape{rest: tape}, space).Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

func formatted(t *testing.T, sc *Scenario) string {
	t.Helper()
	text, err := file.Format(sc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Seeds are spread over the whole range: half of rapid's own integers are small,
// and consecutive seeds from small ones would repeat runs.
func TestAnySeed(t *testing.T) {
	var seeds []uint64
	rapid.Check(t, func(t *rapid.T) { seeds = append(seeds, anySeed.Draw(t, "seed")) })
	slices.Sort(seeds)
	if seeds[len(seeds)/4] < 1<<60 || seeds[len(seeds)*3/4] > 1<<64-1<<60 {
		t.Errorf("the quarters of %d seeds lie at %#x and %#x", len(seeds), seeds[len(seeds)/4], seeds[len(seeds)*3/4])
	}
}

// The number of runs follows the options and the flags.
func TestPlanRuns(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	short := flag.Lookup("test.short").Value
	was, wasShort := checks.String(), short.String()
	defer func() { _, _ = checks.Set(was), short.Set(wasShort) }()
	for _, c := range []struct {
		runs          int
		checks, short string
		want          runPlan
	}{
		{0, "100", "false", runPlan{100, 20}}, {0, "100", "true", runPlan{20, 10}}, {0, "1000", "false", runPlan{1000, 20}},
		{500, "100", "false", runPlan{100, 5}}, {500, "100", "true", runPlan{20, 5}}, {501, "100", "false", runPlan{100, 6}},
		{1, "100", "false", runPlan{1, 1}}, {30, "100", "true", runPlan{6, 1}}, {30, "1000", "false", runPlan{300, 1}},
		{100, "100", "false", runPlan{100, 1}}, {2000, "5", "false", runPlan{5, 20}},
	} {
		if err := checks.Set(c.checks); err != nil {
			t.Fatal(err)
		}
		if err := short.Set(c.short); err != nil {
			t.Fatal(err)
		}
		if got := planRuns(c.runs); got != c.want {
			t.Errorf("%d runs, checks %s, short %s: %v, want %v", c.runs, c.checks, c.short, got, c.want)
		}
	}
}

// A test whose deadline is near makes no more runs, and says so.
func TestCheckStopsInTime(t *testing.T) {
	now := time.Now()
	c := &checkup{lock: Lock{Name: "x"}, plan: runPlan{100, 20}, began: now.Add(-time.Second),
		clock: clock{end: now.Add(time.Hour)}}
	c.blocks, c.tally.Runs = 10, 200
	if c.outOfTime() {
		t.Error("stops an hour before the deadline")
	}
	c.clock.end = now.Add(100 * time.Millisecond)
	if !c.outOfTime() || !strings.Contains(c.verdict(), "only 200 of 2,000 runs were made") {
		t.Error(c.verdict())
	}
	c.clock.end = time.Time{}
	if c.outOfTime() {
		t.Error("stops although the test has no deadline")
	}
}
