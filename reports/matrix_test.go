package reports_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios/kinds"
	"locksim/scenarios/matrix"
	"locksim/scenarios/search"
)

// matrix is a matrix of some locks, in which every cell is what a text says: the
// signs of the labels, mode by mode. A place without a text is not run.
func aMatrix(locks []string, rows map[string][]string) *matrix.Matrix {
	m := &matrix.Matrix{Seeds: search.Seeds{First: 1, Last: 20}, Modes: fence.Modes(), Expected: true}
	for _, l := range locks {
		m.Locks = append(m.Locks, matrix.Column{Name: l})
	}
	var names []string
	for name := range rows {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		m.Scenarios = append(m.Scenarios, matrix.Row{Name: name, Title: "What happens in " + name, Catalogue: []string{"F11", "F12"}, File: "library/" + name + ".yaml", InLibrary: true})
		for i, text := range rows[name] {
			for j, sign := range text {
				m.Cells = append(m.Cells, matrixCell(name, locks[i], fence.Modes()[j], sign))
			}
		}
	}
	for _, c := range m.Cells {
		if c.CellRuns != nil {
			m.Totals.Cells++
		}
	}
	m.Totals.Runs, m.Totals.NonVacuous, m.Totals.VirtualSeconds = 20*m.Totals.Cells, 19*m.Totals.Cells, 3700*float64(m.Totals.Cells)
	return m
}

func matrixCell(scenario, lock string, mode fence.Mode, sign rune) matrix.Cell {
	label := map[rune]checker.Label{'X': checker.Corrupted, '?': checker.Unknown, 'S': checker.Stuck, 'F': checker.FalseReject,
		'r': checker.Rescued, 'o': checker.Overlap, '.': checker.Safe, '-': checker.NotApplicable}[sign]
	c := matrix.Cell{Scenario: scenario, Lock: lock, Mode: mode, Label: label, Match: matrix.AsExpected}
	c.Expected = c.Label
	if c.Label != checker.NotApplicable {
		c.CellRuns = &matrix.CellRuns{SeedsWithLabel: 20, Seeds: 20, Seed: 1,
			Replay: fmt.Sprintf("locksim run %s --lock %s --seed 1 --fencing %s", scenario, lock, mode)}
	}
	return c
}

// small has every label, a lock that a scenario is not about, and modes that a
// lock cannot run in.
func small() *matrix.Matrix {
	m := aMatrix([]string{"single", "fenced", "redlock-fenced", "broken/token-read-late"}, map[string][]string{
		"calm":          {".---..", "......", "......"},
		"gc-pause":      {"X---rr", "Xrrrrr", "Xrrrrr"},
		"counter-lost":  {"", "XXXrrr"},
		"split-vote":    {"", "", "o.?..."},
		"key-for-ever":  {"S---SS"},
		"token-trouble": {"", "XFrrro", "", "XXXrrr"},
	})
	m.Cells[0].SeedsWithLabel, m.Cells[0].Seed = 3, 7 // calm, single, none
	return m
}

// troubled has everything that a reader has to be told of.
func troubled() *matrix.Matrix {
	m := small()
	m.Expected = false
	m.Totals.Worse, m.Totals.Milder, m.Totals.Vacuous = 1, 1, 2
	worse, milder := &m.Cells[6], &m.Cells[1+6]
	worse.Expected, worse.Match = checker.Safe, matrix.TooBad
	worse.Label = checker.Corrupted
	worse.SeedsWithLabel, worse.Seed = 2, 9
	worse.Replay = "locksim run calm --lock fenced --seed 9 --fencing none"
	milder.Expected, milder.Match = checker.Rescued, matrix.TooGood
	for i := 4; i <= 5; i++ {
		m.Cells[i].Vacuous, m.Cells[i].SeedsWithLabel = "no acquire was contended", 0
	}
	m.Failures = []matrix.Gap{{Scenario: "gc-pause", Lock: "single", Why: "seeds 1 to 20: the worker process died\nit wrote:\npanic: \x1b[2Jowned", Replay: "locksim run gc-pause --lock single --seed 1 --fencing none,claim,cas"}}
	m.NotRun = []matrix.Gap{{Scenario: "key-for-ever", Lock: "mylock", Why: "workload.nested: lock mylock knows no owners: choose a reentrant kind, or leave this out\n  3 | workload"}}
	m.Cells = slices.DeleteFunc(m.Cells, func(c matrix.Cell) bool { return c.Scenario == "gc-pause" && c.Lock == "single" })
	return m
}

// crowded has all locks, and specimens.
func crowded() *matrix.Matrix {
	locks := append(kinds.Names(), "mylock", "broken/del-without-owner", "broken/redlock-keeps-minority")
	rows := map[string][]string{}
	for i, name := range []string{"calm", "a-scenario-with-a-long-name", "gc-pause", "holder-crash", "late-packet", "partition-holder"} {
		for j := range locks {
			rows[name] = append(rows[name], []string{"Xrrrrr", ".---..", ""}[(i+j)%3])
		}
	}
	return aMatrix(locks, rows)
}

func TestMatrix(t *testing.T) {
	for name, tt := range map[string]struct {
		shows   string
		matrix  *matrix.Matrix
		options reports.Options
	}{
		"matrix":         {"every sign, a group for each lock, places that were not run", small(), reports.Options{Width: 100}},
		"matrix-trouble": {"what is not as expected is marked in the table and listed below with its command; a failure is no empty place", troubled(), reports.Options{Width: 100}},
		"matrix-crowd":   {"more locks than fit side by side, names on several lines, specimens apart", crowded(), reports.Options{Width: 100}},
		"matrix-narrow":  {"60 columns: more tables, and the rest folded", crowded(), reports.Options{Width: reports.MinWidth}},
		"matrix-colour":  {"colour on the signs only, and the columns as straight as without (ESC stands for the escape character)", small(), reports.Options{Width: 100, Colour: reports.ANSI}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := reports.Matrix(&b, tt.matrix, tt.options); err != nil {
				t.Fatal(err)
			}
			golden(t, name, tt.shows, b.String())
		})
	}
}

func TestMatrixMarkdown(t *testing.T) {
	for name, tt := range map[string]struct {
		shows  string
		matrix *matrix.Matrix
	}{
		"matrix-markdown":         {"an overview in signs, a section for each scenario, locks that came out alike in one line", small()},
		"matrix-markdown-trouble": {"what is not as expected, listed with its command and set in bold", troubled()},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := reports.MatrixMarkdown(&b, tt.matrix); err != nil {
				t.Fatal(err)
			}
			golden(t, name, tt.shows, b.String())
		})
	}
}

// Without colour the signs alone tell the labels apart.
func TestSignsDiffer(t *testing.T) {
	var b bytes.Buffer
	if err := reports.Matrix(&b, small(), reports.Options{}); err != nil {
		t.Fatal(err)
	}
	_, legend, _ := strings.Cut(b.String(), "\nOne sign for each mode")
	signs := map[string]bool{}
	for _, line := range strings.Split(legend, "\n")[1 : len(checker.Labels())+3] {
		signs[line[:1]] = true
	}
	if want := len(checker.Labels()) + 2; len(signs) != want {
		t.Errorf("%d different signs, want %d:\n%s", len(signs), want, legend)
	}
}

// A table that is longer than a screen has its head at the foot too.
func TestLongMatrix(t *testing.T) {
	for _, tt := range []struct{ rows, heads int }{{30, 1}, {31, 2}} {
		rows := map[string][]string{}
		for i := range tt.rows {
			rows[fmt.Sprintf("row-%02d", i)] = []string{"......"}
		}
		var b bytes.Buffer
		if err := reports.Matrix(&b, aMatrix([]string{"fenced"}, rows), reports.Options{}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "  fenced\n"); n != tt.heads {
			t.Errorf("%d rows: %d heads, want %d", tt.rows, n, tt.heads)
		}
	}
}

// In Markdown, a title cannot become markup, nor end the cell of a table.
func TestMatrixMarkdownEscapes(t *testing.T) {
	m := small()
	m.Scenarios[0].Title = "<b>a|b</b> *x* [y](z)\n# no"
	var b bytes.Buffer
	if err := reports.MatrixMarkdown(&b, m); err != nil {
		t.Fatal(err)
	}
	if want := `&lt;b>a\|b&lt;/b> \*x\* \[y](z) # no`; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in:\n%s", want, b.String())
	}
}

func TestMatrixErrors(t *testing.T) {
	if err := reports.Matrix(io.Discard, small(), reports.Options{Width: 3}); err == nil {
		t.Error("a width of 3 was accepted")
	}
	if err := reports.Matrix(closed{}, small(), reports.Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Matrix: %v", err)
	}
	if err := reports.MatrixMarkdown(closed{}, small()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("MatrixMarkdown: %v", err)
	}
}
