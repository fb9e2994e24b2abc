package markdown_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/markdown"
	"locksim/scenarios/outcome"
)

const again = "go run ./cmd/locksim run gc-pause --seed 1 --markdown"

func rendered(t *testing.T, o *outcome.Outcome, opt reports.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := markdown.Run(&b, o, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The golden files are the pages themselves; a reader checks them in the diff.
func TestRun(t *testing.T) {
	for name, tt := range map[string]struct {
		outcome func() *outcome.Outcome
		options reports.Options
	}{
		"paused": {testreports.PausedOutcome, reports.Options{Repeat: outcome.Twice, Replay: again,
			Versions: []reports.Version{{Name: "Go", Version: "1.26.1"}}}},
		"alone": {func() *outcome.Outcome { return testreports.Outcome(testreports.Paused(fence.Check)) },
			reports.Options{}},
		"safe": {func() *outcome.Outcome {
			o := testreports.Safe()
			o.Modes[1].FaultsFired = []bool{false}
			return o
		}, reports.Options{}},
		"unexpected": {func() *outcome.Outcome {
			o := testreports.Outcome(testreports.Paused(fence.None), testreports.NotApplicable(fence.Seal))
			o.Scenario.Expect["fenced"][fence.None] = checker.Safe
			return o
		}, reports.Options{}},
		"none-ran": {func() *outcome.Outcome { return testreports.Outcome(testreports.NotApplicable(fence.Seal)) },
			reports.Options{Replay: again}},
	} {
		t.Run(name, func(t *testing.T) {
			testreports.GoldenFile(t, name+".md", rendered(t, tt.outcome(), tt.options))
		})
	}
}

// The command that makes the run again is the last line of code of every page.
func TestRunEndsWithTheCommand(t *testing.T) {
	for _, o := range []*outcome.Outcome{testreports.PausedOutcome(), testreports.Safe(), testreports.Outcome(),
		testreports.Outcome(testreports.NotApplicable(fence.Seal)), testreports.Outcome(testreports.Corrupted())} {
		got := rendered(t, o, reports.Options{Replay: again})
		if !strings.HasSuffix(got, "\n```console\n"+again+"\n```\n") {
			t.Errorf("the page ends with %q", got[max(len(got)-200, 0):])
		}
	}
}

// long is a run whose story has n steps, with the decisive one two thirds in.
func long(n int) *outcome.Outcome {
	m := testreports.Paused(fence.None)
	fatal := m.Story[2]
	fatal.N = 2 * n / 3
	m.Story = append(append(testreports.Steps(1, fatal.N-1), fatal), testreports.Steps(fatal.N+1, n-fatal.N)...)
	return testreports.Outcome(m)
}

// A page fits into its limit. Of a long story it has the steps around the decisive
// one, and a notice of the others.
func TestRunFits(t *testing.T) {
	for _, tt := range []struct {
		steps, limit int
		whole        bool
	}{
		{200, 0, true},
		{5000, 0, false},
		{5000, reports.SummaryLimit, true},
		{100_000, reports.SummaryLimit, false},
		{5000, reports.MinLimit, false},
	} {
		t.Run(fmt.Sprintf("%d steps in %d bytes", tt.steps, tt.limit), func(t *testing.T) {
			o := long(tt.steps)
			got := rendered(t, o, reports.Options{Limit: tt.limit, Replay: again})
			limit := tt.limit
			if limit == 0 {
				limit = reports.CommentLimit
			}
			if len(got) > limit {
				t.Errorf("%d bytes, and the limit is %d", len(got), limit)
			}
			decisive := fmt.Sprintf("| >> **%d** | **20.000s** |", 2*tt.steps/3)
			if !strings.Contains(got, decisive) || !strings.Contains(got, "| none | **corrupted** |") ||
				!strings.HasSuffix(got, again+"\n```\n") {
				t.Error("the decisive step, the verdict or the command is missing")
			}
			if cut := strings.Contains(got, "> **Cut** to fit into "); cut == tt.whole {
				t.Errorf("a notice of a cut: %v", cut)
			}
			if missing := strings.Contains(got, "left out |"); missing == tt.whole {
				t.Errorf("steps left out of the table: %v", missing)
			}
		})
	}
}

// With any texts of a scenario the diagram is cut first, and the verdicts and the
// command are never cut.
func TestRunOfTooMuch(t *testing.T) {
	o := testreports.PausedOutcome()
	o.Scenario.Title = strings.Repeat("$", 50_000)
	o.Scenario.Why = strings.Repeat("a*", 50_000)
	o.Scenario.Source = []byte(strings.Repeat("# schedule\n", 5000))
	for i := range o.Modes {
		for range 200 {
			o.Modes[i].Verdict.Reasons = append(o.Modes[i].Verdict.Reasons,
				checker.Reason{Text: strings.Repeat(fmt.Sprint(len(o.Modes[i].Verdict.Reasons)), 300)})
		}
	}
	got := rendered(t, o, reports.Options{Limit: reports.MinLimit, Replay: again})
	if len(got) > reports.MinLimit || strings.Contains(got, "```mermaid") {
		t.Errorf("%d bytes", len(got))
	}
	testreports.CheckTexts(t, got, []string{"| none | **corrupted** |", "| check | **rescued** |", "the diagram, the " +
		"story and the schedule are left out", "more reasons", again}, nil)
}

func TestRunErrors(t *testing.T) {
	var b bytes.Buffer
	for want, opt := range map[string]reports.Options{
		"a limit of 100 bytes: give 0 for the default, or at least 8192": {Limit: 100},
		"bytes at its shortest, and the limit is 8192: give a larger": {Limit: reports.MinLimit,
			Replay: strings.Repeat("x", 9000)},
	} {
		if err := markdown.Run(&b, testreports.PausedOutcome(), opt); err == nil || !strings.Contains(err.Error(), want) ||
			b.Len() > 0 {
			t.Errorf("got %v and %d bytes, want %q", err, b.Len(), want)
		}
	}
	if err := markdown.Run(testreports.FullDisk{}, testreports.PausedOutcome(), reports.Options{}); err == nil ||
		!strings.Contains(err.Error(), "write the report: the disk is full") {
		t.Errorf("got %v", err)
	}
}

// The same run gives the same page, also while other goroutines render pages.
func TestRunIsDeterministic(t *testing.T) {
	want := rendered(t, testreports.PausedOutcome(), reports.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var b bytes.Buffer
			if err := markdown.Run(&b, testreports.PausedOutcome(), reports.Options{}); err != nil || b.String() != want {
				t.Errorf("another page, or an error: %v", err)
			}
		})
	}
	wg.Wait()
}

// A run of 100,000 events as Markdown.
func BenchmarkRunLarge(b *testing.B) {
	o := testreports.Outcome(testreports.Large(fence.None, 11_000), testreports.Large(fence.Check, 11_000))
	for b.Loop() {
		if err := markdown.Run(io.Discard, o, reports.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
