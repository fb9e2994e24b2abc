package csv_test

import (
	stdcsv "encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/reports/csv"
	"locksim/scenarios/compare"
	"locksim/scenarios/explore"
	"locksim/scenarios/matrix"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// rows are the rows of a table as they are read from its text, by column.
func rows(t *testing.T, table csv.Table) []map[string]string {
	t.Helper()
	var b strings.Builder
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	all, err := stdcsv.NewReader(strings.NewReader(b.String())).ReadAll() // an error where the rows differ in length
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, row := range all[1:] {
		m := map[string]string{}
		for i, column := range all[0] {
			m[column] = row[i]
		}
		out = append(out, m)
	}
	return out
}

// has fails unless a row has these values, given as column and value in turn.
func has(t *testing.T, row map[string]string, want ...string) {
	t.Helper()
	for pair := range slices.Chunk(want, 2) {
		if got, ok := row[pair[0]]; !ok || got != pair[1] {
			t.Errorf("column %s is %q, want %q", pair[0], got, pair[1])
		}
	}
}

func TestMatrix(t *testing.T) {
	m := &matrix.Matrix{
		Cells: []matrix.Cell{
			{Scenario: "calm", Lock: "single", Mode: fence.None, Label: checker.Safe, Expected: checker.Safe, Match: matrix.AsExpected,
				CellRuns: &matrix.CellRuns{Seeds: 20, SeedsWithLabel: 19, NonVacuous: 18, Seed: 1<<64 - 1, TraceHash: "ab", Replay: `locksim run "calm", again`}},
			{Scenario: "calm", Lock: "single", Mode: fence.Check, Label: checker.NotApplicable},
		},
		NotRun:   []matrix.Gap{{Scenario: "late", Lock: "single", Why: "it has no queue"}},
		Failures: []matrix.Gap{{Scenario: "late", Lock: "fenced", Why: "it does not end", Replay: "locksim run late"}},
	}
	got := rows(t, csv.Matrix(m))
	if len(got) != 4 {
		t.Fatalf("there are %d rows", len(got))
	}
	has(t, got[0], "scenario", "calm", "lock", "single", "mode", "none", "label", "safe", "expected", "safe", "seeds", "20", "seeds_with_label", "19",
		"evidence", "18", "seed", "18446744073709551615", "trace_hash", "ab", "replay", `locksim run "calm", again`)
	has(t, got[1], "label", "n/a", "seeds", "", "replay", "")
	has(t, got[2], "scenario", "late", "problem", "it has no queue", "label", "")
	has(t, got[3], "problem", "it does not end", "replay", "locksim run late")
}

func TestExploration(t *testing.T) {
	e := &explore.Exploration{Complete: true, Plan: explore.Plan{Lock: "fenced", Judge: explore.JudgePromise}}
	e.Summary.Runs, e.Summary.Evidence, e.Summary.RateBound = 40, 30, 0.25
	replay := func(i int, f *search.Failure) string { return "again" + strings.Repeat("!", i) + f.Lock }
	table := csv.Exploration(e, replay)
	found := *e
	found.Plan.Lock, found.Summary.Violating = "single", 3
	found.Summary.Failures = search.Failures{
		{Lock: "single", Seed: 7, Faults: 2, Runs: 3, Shape: "pause", Reasons: []string{"two,\nlines", "more"},
			Violations: []play.Violation{{Mode: fence.None, Label: checker.Overlap}, {Mode: fence.Seal, Label: checker.Stuck}}},
		{Lock: "single", Seed: 8, Divergence: "the first event differs"},
	}
	table.Append(csv.Exploration(&found, replay))
	got := rows(t, table)
	if len(got) != 3 {
		t.Fatalf("there are %d rows", len(got))
	}
	has(t, got[0], "lock", "fenced", "judged_by", "promise", "complete", "true", "runs", "40", "evidence", "30", "violating", "0", "rate_below_95", "0.25", "seed", "", "replay", "")
	has(t, got[1], "lock", "single", "rate_below_95", "", "seed", "7", "violations", "overlap in mode none, stuck in mode seal", "faults", "2",
		"runs_like_this", "3", "shape", "pause", "reason", "two,\nlines", "replay", "again!single")
	has(t, got[2], "seed", "8", "violations", "", "reason", "the first event differs", "replay", "again!!single")
}

func TestComparison(t *testing.T) {
	c := &compare.Comparison{Locks: []compare.Lock{{
		Name: "redlock", Servers: []compare.Servers{{Kind: "redis", Count: 5}}, Tokens: true,
		Trips: compare.Trips{Acquire: compare.Trip{RoundTrips: 1}, Release: compare.Trip{RoundTrips: 2}, Renew: &compare.Trip{RoundTrips: 3}, Unasked: true},
		Survives: []compare.Survival{
			{Class: compare.NoFault, Runs: 9, Scenarios: 2, Promised: true, Fence: fence.None, Others: []compare.Seen{}},
			{Class: lock.FaultPause, Runs: 9, Scenarios: 2, Fence: fence.Seal, Others: []compare.Seen{{Replay: "locksim run gc-pause"}}, Overlap: &compare.Seen{}},
			{Class: lock.FaultWorker, Runs: 1, Others: []compare.Seen{{Label: checker.Stuck}}, Refused: &compare.Seen{}},
			{Class: lock.FaultCrash},
		},
	}}}
	got := rows(t, csv.Comparison(c))
	if len(got) != 4 {
		t.Fatalf("there are %d rows", len(got))
	}
	has(t, got[0], "lock", "redlock", "servers", "5 redis", "tokens", "true", "acquire_round_trips", "1", "release_round_trips", "2", "renew_round_trips", "3",
		"renews_by_itself", "true", "faults", "none", "promised", "true", "scenarios", "2", "runs", "9", "survives_with", "none", "claims_overlap", "false", "shown_by", "")
	has(t, got[1], "faults", "pause", "survives_with", "seal", "claims_overlap", "true", "shown_by", "locksim run gc-pause")
	has(t, got[2], "survives_with", "nothing: stuck", "refuses_rightful_holder", "true")
	has(t, got[3], "survives_with", "not played")
}

// full is a writer that takes nothing.
type full struct{}

var errFull = errors.New("the disk is full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteReturnsTheErrorOfTheWriter(t *testing.T) {
	if err := (csv.Table{Head: []string{"a"}, Rows: [][]string{{"b"}}}).Write(full{}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}
