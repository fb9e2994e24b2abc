package scenarios

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A tape of bytes gives back what was drawn from a seed, and draws a valid
// scenario whatever is on it.
func TestByteTape(t *testing.T) {
	space := spaces(t)[0]
	for seed := range uint64(100) {
		want, got := Draw(Seeded(seed), space), Draw(&byteTape{rest: recorded(seed, space)}, space)
		if diff := cmp.Diff(want, got, sameStory); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		tape := rapid.SliceOf(rapid.Byte()).Draw(t, "tape")
		if err := Draw(&byteTape{rest: tape}, space).Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

// Seeds come from all over: rapid's own integers are small every other time, and
// runs from consecutive seeds would be the same ones again.
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
		{1, "100", "false", runPlan{100, 1}}, {2000, "5", "false", runPlan{5, 20}},
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

// A test whose time is nearly over makes no more runs, and says so.
func TestCheckStopsInTime(t *testing.T) {
	now := wallNow()
	c := &checkup{lock: Lock{Name: "x"}, plan: runPlan{100, 20}, began: now.Add(-time.Second), end: now.Add(time.Hour)}
	c.tally.blocks, c.tally.runs = 10, 200
	if c.outOfTime() {
		t.Error("it stops an hour before the end")
	}
	c.end = now.Add(100 * time.Millisecond)
	if !c.outOfTime() || !strings.Contains(c.verdict(), "only 200 of 2,000 runs were made") {
		t.Error(c.verdict())
	}
	c.end = time.Time{}
	if c.outOfTime() {
		t.Error("it stops although the test has no end")
	}
}

// Names of files hold nothing that a file system or a shell could mind.
func TestStoredNames(t *testing.T) {
	sc := Draw(Seeded(1), Space{})
	f := &Found{Lock: "broken/Ünlock it", Seed: 7, Violations: []Violation{{Mode: "none", Label: "false-reject"}},
		Outcome: &Outcome{Scenario: sc}, Run: &RunFile{Source: "x"}}
	name := f.fileName()
	if !strings.HasPrefix(name, "broken--nlock-it-false-reject-") || strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.", r) }) {
		t.Error(name)
	}
	f.Lock = strings.Repeat("long", 100)
	if other := f.fileName(); len(other) > 100 || !strings.HasSuffix(other, name[len(name)-13:]) {
		t.Errorf("%s, not like %s", other, name)
	}
	f.Seed++
	if strings.HasSuffix(f.fileName(), name[len(name)-13:]) {
		t.Error("the name does not depend on the seed")
	}
}

// A story keeps its beginning and the way to its decisive step.
func TestShortStory(t *testing.T) {
	var lines []Line
	for i := range 200 {
		lines = append(lines, Line{N: i + 1, Actor: "c0", Text: fmt.Sprint("step ", i+1), Fatal: i == 149})
	}
	got := shortStory(lines)
	if len(got) != maxStory+2 || !strings.Contains(got[opening], "96 steps left out") || !strings.Contains(got[len(got)-1], "44 steps left out") {
		t.Errorf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
	}
	if !strings.HasPrefix(got[len(got)-2-aftermath], ">  150") {
		t.Errorf("the decisive step is not where it belongs:\n%s", strings.Join(got, "\n"))
	}
	if short := shortStory(lines[:40]); len(short) != 40 {
		t.Errorf("%d of 40 lines", len(short))
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// Neither chance nor order decides what is stored for a failure.
func TestFoundIsDeterministic(t *testing.T) {
	l, err := Kind("broken/del-without-owner")
	if err != nil {
		t.Fatal(err)
	}
	space, err := Discover(l, Space{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); ; seed++ {
		sc := Draw(Seeded(seed), space)
		_, broken, err := l.try(sc, seed)
		if err != nil {
			t.Fatal(err)
		}
		if len(broken) > 0 {
			if a, b := examined(t, l, sc, seed), examined(t, l, sc, seed); !bytes.Equal(a, b) {
				t.Errorf("one time:\n%s\nthe other:\n%s", a, b)
			}
			return
		}
	}
}

// examined is what there is to say about a failure, without its timing.
func examined(t *testing.T, l Lock, sc *Scenario, seed uint64) []byte {
	t.Helper()
	f, err := Examine(l, sc, seed)
	if err != nil {
		t.Fatal(err)
	}
	if f.Same != replays || f.Again != replays || f.Replays != replays {
		t.Errorf("%d equal, %d broken, of %d", f.Same, f.Again, f.Replays)
	}
	f.Run.Timing = Timing{}
	text, err := f.Run.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return append(text, f.Text()...)
}
