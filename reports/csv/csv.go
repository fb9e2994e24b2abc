// Package csv writes results as tables for spreadsheets: CSV of RFC 4180, in UTF-8, with a
// head. [Matrix] has a row for each cell, [Comparison] for each lock and class of faults,
// [Exploration] for each violation. The columns have the names of the JSON documents where
// these have them.
package csv

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"locksim/internal/prose"
	"locksim/reports/grid"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/matrices"
)

// Table is a head and rows with as many cells each.
type Table struct {
	Head []string
	Rows [][]string
}

// Write writes tables of one head, as one table. It returns the error of the writer. A
// text that a spreadsheet would take for a formula begins with an apostrophe.
func Write(w io.Writer, tables ...Table) error {
	out := csv.NewWriter(w)
	for i, t := range tables {
		rows := t.Rows
		if i == 0 {
			rows = append([][]string{t.Head}, rows...)
		}
		for _, row := range rows {
			if err := out.Write(harmless(row)); err != nil {
				return fmt.Errorf("write CSV: %w", err)
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// harmless is a row without control characters and without formulas.
func harmless(row []string) []string {
	out := make([]string, len(row))
	for i, text := range row {
		out[i] = prose.Visible(text)
		if strings.HasPrefix(text, "=") || strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") ||
			strings.HasPrefix(text, "@") {
			out[i] = "'" + out[i]
		}
	}
	return out
}

// Matrix has a row for each cell. A cell that was not run has no figures.
func Matrix(m *matrices.Matrix) Table {
	t := Table{Head: []string{"scenario", "lock", "mode", "label", "expected", "problem", "vacuous", "not_felt", "seeds",
		"seeds_with_label", "seed", "evidence", "two_claims", "lost", "replay"}}
	for _, c := range m.Cells {
		row := []string{c.Scenario, c.Lock, string(c.Mode), string(c.Label), string(c.Expected), c.Problem(), c.Vacuous,
			c.NotFelt, "", "", "", "", "", "", ""}
		if r := c.CellRuns; r != nil {
			copy(row[8:], []string{strconv.Itoa(r.Seeds), strconv.Itoa(r.SeedsWithLabel), strconv.FormatUint(r.Seed, 10),
				strconv.Itoa(r.NonVacuous), strconv.Itoa(r.TwoClaims), strconv.Itoa(r.Lost), r.Replay})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Comparison has a row for each lock and each class of faults that was played with it: what
// the lock needs, the fence behind which it survives, and the run that shows why no weaker
// one is enough.
func Comparison(c *comparisons.Comparison) Table {
	t := Table{Head: []string{"lock", "for_whom"}}
	for _, need := range grid.Needs() {
		t.Head = append(t.Head, need.Head)
	}
	t.Head = append(t.Head, "faults", "promised", "scenarios", "runs", "fence", "refuses_rightful", "claims_overlap",
		"failed_mode", "failed_label", "failed_scenario", "failed_seed", "replay")
	for _, l := range c.Locks {
		about := []string{l.Name, l.ForWhom}
		for _, need := range grid.Needs() {
			about = append(about, need.Text(l))
		}
		for _, s := range l.Survives {
			if s.Scenarios == 0 {
				continue
			}
			row := append(append([]string{}, about...), string(s.Class), prose.YesNo(s.Promised), strconv.Itoa(s.Scenarios),
				strconv.Itoa(s.Runs),
				string(s.Fence), prose.YesNo(s.Refused != nil), prose.YesNo(s.Overlap != nil))
			if shown := grid.HarmShown(s); len(shown) > 0 {
				one := shown[0]
				row = append(row, string(one.Mode), string(one.Label), one.Scenario, strconv.FormatUint(one.Seed, 10), one.Replay)
			} else {
				row = append(row, "", "", "", "", "")
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// Exploration has a row for each violation, with the counts of the exploration; one row
// without a violation where none was found. replay is the command that repeats the i-th
// violation, from 1 on.
func Exploration(e *explorations.Exploration, replay func(i int) string) Table {
	t := Table{Head: []string{"lock", "first_seed", "runs", "evidence", "violating", "violation", "labels", "like_it",
		"found_with_seed", "faults", "faults_drawn", "replay"}}
	s := &e.Summary
	about := []string{e.Plan.Lock, strconv.FormatUint(e.Plan.FirstSeed, 10), strconv.Itoa(s.Runs),
		strconv.Itoa(s.Evidence), strconv.Itoa(s.Violating)}
	for i, f := range s.Failures {
		var labels []string
		for _, v := range f.Violations {
			labels = append(labels, string(v.Label))
		}
		t.Rows = append(t.Rows, append(append([]string{}, about...), f.Shape, strings.Join(labels, " "), strconv.Itoa(f.Runs),
			strconv.FormatUint(f.Seed, 10),
			strconv.Itoa(f.Faults), strconv.Itoa(f.Drawn), replay(i+1)))
	}
	if len(t.Rows) == 0 {
		t.Rows = append(t.Rows, append(about, "", "", "", "", "", "", ""))
	}
	return t
}
