// Package csv renders results as tables of comma-separated values, for spreadsheets and
// other programs: a matrix, explorations, and a comparison of locks.
//
// The first row of a table has the names of its columns. A field that does not apply is
// empty. Documents of one kind can be put together: see [Table.Append].
package csv

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"locksim/scenarios/compare"
	"locksim/scenarios/explore"
	"locksim/scenarios/matrix"
	"locksim/scenarios/search"
)

// Table is a table. Its zero value is empty.
type Table struct {
	// Head has the names of the columns.
	Head []string
	// Rows are the rows, each as long as the head.
	Rows [][]string
}

// Append adds the rows of a table with the same columns.
func (t *Table) Append(more Table) {
	t.Head = more.Head
	t.Rows = append(t.Rows, more.Rows...)
}

// Write writes the table as RFC 4180 describes, with line ends of one byte. It returns the
// error of the writer.
func (t Table) Write(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(t.Head); err != nil {
		return err
	}
	return out.WriteAll(t.Rows)
}

// Matrix is a table with a row for each cell of a matrix, and one for each pair of scenario
// and lock that was not run, with the reason. It only reads the matrix.
func Matrix(m *matrix.Matrix) Table {
	t := Table{Head: []string{"scenario", "lock", "mode", "label", "expected", "match", "seeds", "seeds_with_label", "evidence",
		"vacuous", "not_felt", "problem", "seed", "trace_hash", "replay"}}
	for _, c := range m.Cells {
		row := []string{c.Scenario, c.Lock, string(c.Mode), string(c.Label), string(c.Expected), string(c.Match), "", "", "",
			c.Vacuous, c.NotFelt, c.Problem(), "", "", ""}
		if r := c.CellRuns; r != nil {
			row[6], row[7], row[8] = strconv.Itoa(r.Seeds), strconv.Itoa(r.SeedsWithLabel), strconv.Itoa(r.NonVacuous)
			row[12], row[13], row[14] = strconv.FormatUint(r.Seed, 10), r.TraceHash, r.Replay
		}
		t.Rows = append(t.Rows, row)
	}
	for _, gaps := range [][]matrix.Gap{m.NotRun, m.Failures} {
		for _, g := range gaps {
			t.Rows = append(t.Rows, []string{g.Scenario, g.Lock, "", "", "", "", "", "", "", "", "", g.Why, "", "", g.Replay})
		}
	}
	return t
}

// Exploration is a table with a row for each shape of violation of an exploration or, if
// there is none, one row. replay is the command that repeats the i-th failure, counted from
// 1. It only reads the exploration.
func Exploration(e *explore.Exploration, replay func(i int, f *search.Failure) string) Table {
	t := Table{Head: []string{"lock", "judged_by", "complete", "runs", "evidence", "violating", "rate_below_95",
		"seed", "violations", "faults", "runs_like_this", "shape", "reason", "replay"}}
	sum := &e.Summary
	bound := ""
	if sum.Evidence > 0 && sum.Violating == 0 {
		bound = strconv.FormatFloat(sum.RateBound, 'g', -1, 64)
	}
	of := []string{e.Plan.Lock, string(e.Plan.Judge), strconv.FormatBool(e.Complete), strconv.Itoa(sum.Runs), strconv.Itoa(sum.Evidence),
		strconv.Itoa(sum.Violating), bound}
	for i := range sum.Failures {
		f := &sum.Failures[i]
		var violations []string
		for _, v := range f.Violations {
			violations = append(violations, v.String())
		}
		reason := f.Divergence
		if len(f.Reasons) > 0 {
			reason = f.Reasons[0]
		}
		t.Rows = append(t.Rows, append(of[:len(of):len(of)], strconv.FormatUint(f.Seed, 10), strings.Join(violations, ", "), strconv.Itoa(f.Faults),
			strconv.Itoa(f.Runs), f.Shape, reason, replay(i+1, f)))
	}
	if len(sum.Failures) == 0 {
		t.Rows = append(t.Rows, append(of, "", "", "", "", "", "", ""))
	}
	return t
}

// Comparison is a table with a row for each lock and class of faults of a comparison: what
// the lock needs and costs, and the weakest fence behind which no run did harm. It only
// reads the comparison.
func Comparison(c *compare.Comparison) Table {
	t := Table{Head: []string{"lock", "servers", "tokens", "acquire_round_trips", "release_round_trips", "renew_round_trips", "renews_by_itself",
		"faults", "promised", "scenarios", "runs", "survives_with", "refuses_rightful_holder", "claims_overlap", "shown_by"}}
	for i := range c.Locks {
		l := &c.Locks[i]
		var servers []string
		for _, s := range l.Servers {
			servers = append(servers, fmt.Sprintf("%d %s", s.Count, s.Kind))
		}
		renew := ""
		if l.Trips.Renew != nil {
			renew = strconv.Itoa(l.Trips.Renew.RoundTrips)
		}
		of := []string{l.Name, strings.Join(servers, ", "), strconv.FormatBool(l.Tokens), strconv.Itoa(l.Trips.Acquire.RoundTrips),
			strconv.Itoa(l.Trips.Release.RoundTrips), renew, strconv.FormatBool(l.Trips.Unasked)}
		for _, s := range l.Survives {
			t.Rows = append(t.Rows, append(of[:len(of):len(of)], survival(s)...))
		}
	}
	return t
}

// survival are the columns about a class of faults.
func survival(s compare.Survival) []string {
	with, shown := string(s.Fence), ""
	switch {
	case s.Runs == 0:
		with = "not played"
	case with == "" && s.Stuck():
		with = "nothing: stuck"
	case with == "":
		with = "nothing"
	}
	if len(s.Others) > 0 {
		shown = s.Others[0].Replay
	}
	return []string{string(s.Class), strconv.FormatBool(s.Promised), strconv.Itoa(s.Scenarios), strconv.Itoa(s.Runs), with,
		strconv.FormatBool(s.Refused != nil), strconv.FormatBool(s.Overlap != nil), shown}
}
