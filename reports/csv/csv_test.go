package csv_test

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"strings"
	"testing"

	"locksim/internal/testreports"
	"locksim/reports/csv"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/outcome/explorations"
)

// records reads what was written, as a spreadsheet does. Each row has as many cells as the
// head.
func records(t *testing.T, tables ...csv.Table) [][]string {
	t.Helper()
	var b bytes.Buffer
	if err := csv.Write(&b, tables...); err != nil {
		t.Fatal(err)
	}
	all, err := stdcsv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// value is the cell of a column in a row.
func value(t *testing.T, all [][]string, row int, column string) string {
	t.Helper()
	for i, head := range all[0] {
		if head == column {
			return all[row][i]
		}
	}
	t.Fatalf("there is no column %q in %q", column, all[0])
	return ""
}

// A matrix has a row for each cell, with the figures of that cell.
func TestMatrix(t *testing.T) {
	m := testreports.TroubledMatrix()
	all := records(t, csv.Matrix(m))
	if len(all) != 1+len(m.Cells) {
		t.Fatalf("%d rows for %d cells", len(all)-1, len(m.Cells))
	}
	problems := 0
	for i, c := range m.Cells {
		if value(t, all, i+1, "scenario") != c.Scenario || value(t, all, i+1, "lock") != c.Lock ||
			value(t, all, i+1, "mode") != string(c.Mode) || value(t, all, i+1, "label") != string(c.Label) {
			t.Errorf("row %d is %q, the cell is of %s, %s, %s: %s", i+1, all[i+1], c.Scenario, c.Lock, c.Mode, c.Label)
		}
		if (c.CellRuns == nil) != (value(t, all, i+1, "seeds") == "") {
			t.Errorf("row %d has the seeds %q", i+1, value(t, all, i+1, "seeds"))
		}
		if c.CellRuns != nil && value(t, all, i+1, "replay") != c.Replay {
			t.Errorf("row %d has the command %q, want %q", i+1, value(t, all, i+1, "replay"), c.Replay)
		}
		if value(t, all, i+1, "problem") != "" {
			problems++
		}
	}
	if problems != len(m.Problems()) {
		t.Errorf("%d problems, want %d", problems, len(m.Problems()))
	}
}

// A comparison has a row for each class that was played with a lock, with the run that shows
// why no weaker fence is enough.
func TestComparison(t *testing.T) {
	c := testreports.Comparison()
	all := records(t, csv.Comparison(c))
	want := 0
	for _, l := range c.Locks {
		for _, s := range l.Survives {
			if s.Scenarios > 0 {
				want++
			}
		}
	}
	if len(all) != 1+want {
		t.Fatalf("%d rows, want %d", len(all)-1, want)
	}
	found := map[string]bool{}
	for i := range all[1:] {
		key := value(t, all, i+1, "lock") + " " + value(t, all, i+1, "faults") + " " + value(t, all, i+1, "fence")
		if scenario := value(t, all, i+1, "failed_scenario"); scenario != "" {
			key += " failed in " + scenario + " in mode " + value(t, all, i+1, "failed_mode")
		}
		found[key] = true
	}
	for _, key := range []string{"single none none", "fenced pause seal failed in gc-pause in mode none"} {
		if !found[key] {
			t.Errorf("there is no row %q in %v", key, found)
		}
	}
}

// An exploration has a row for each violation, and one without where none was found. Several
// explorations share a head.
func TestExploration(t *testing.T) {
	e := testreports.Exploration()
	replay := func(i int) string { return strings.Repeat("again ", i) }
	none := &explorations.Exploration{Plan: e.Plan}
	all := records(t, csv.Exploration(e, replay), csv.Exploration(none, replay))
	if len(all) != 1+len(e.Summary.Failures)+1 {
		t.Fatalf("%d rows for %d violations and an exploration without", len(all)-1, len(e.Summary.Failures))
	}
	if got, want := value(t, all, 1, "violation"), e.Summary.Failures[0].Shape; got != want {
		t.Errorf("the violation is %q, want %q", got, want)
	}
	if got := value(t, all, len(all)-1, "violation"); got != "" || value(t, all, len(all)-1, "lock") != e.Plan.Lock {
		t.Errorf("the last row is %q", all[len(all)-1])
	}
}

// No text of a lock is a formula or a control character, and the error of the writer is
// returned.
func TestHarmless(t *testing.T) {
	l := testreports.Comparison().Locks[0]
	l.Name, l.ForWhom = "=cmd()", "two\nlines \x1b[31m, and \"quotes\""
	all := records(t, csv.Comparison(&comparisons.Comparison{Locks: []comparisons.Lock{l}}))
	if got := value(t, all, 1, "lock"); got != "'=cmd()" {
		t.Errorf("the name of the lock is %q", got)
	}
	if got := value(t, all, 1, "for_whom"); strings.Contains(got, "\x1b") || !strings.Contains(got, `"quotes"`) {
		t.Errorf("the text is %q", got)
	}
	if err := csv.Write(testreports.FullDisk{}, csv.Comparison(testreports.Comparison())); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("the error is %v", err)
	}
}
