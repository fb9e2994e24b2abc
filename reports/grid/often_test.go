package grid_test

import (
	"testing"

	"locksim/checker"
	"locksim/reports/grid"
	"locksim/scenarios/outcome/matrices"
)

func TestShare(t *testing.T) {
	for _, c := range []struct {
		n, of int
		want  string
	}{
		{0, 0, "not played"},
		{0, 1000, "0 (below 0.38 %)"},
		{1000, 1000, "all (above 99.6 %)"},
		{100, 100, "all (above 96.3 %)"},
		{300, 1000, "30 % (27 to 33 %)"},
		{1, 1000, "0.1 % (0.018 to 0.56 %)"},
	} {
		if got := grid.Share(c.n, c.of); got != c.want {
			t.Errorf("Share(%d, %d) = %q, want %q", c.n, c.of, got, c.want)
		}
	}
}

// There is a share for each cell that was run, of a matrix with enough runs and not too many cells.
func TestHowOften(t *testing.T) {
	cell := func(runs int) matrices.Cell {
		return matrices.Cell{Scenario: "s", Lock: "l", Label: checker.Corrupted,
			CellRuns: &matrices.CellRuns{Seeds: runs, TwoClaims: runs / 2, Lost: runs / 4}}
	}
	m := &matrices.Matrix{Cells: []matrices.Cell{cell(100), {Label: checker.NotApplicable}}}
	got := grid.HowOften(m)
	if len(got) != 1 || got[0].TwoClaims != grid.Share(50, 100) || got[0].Lost != grid.Share(25, 100) {
		t.Errorf("one cell of 100 runs has the shares %+v", got)
	}
	if got := grid.HowOften(&matrices.Matrix{Cells: []matrices.Cell{cell(99)}}); len(got) > 0 {
		t.Errorf("99 runs have shares: %+v", got)
	}
	for range 39 {
		m.Cells = append(m.Cells, cell(100))
	}
	if got := grid.HowOften(m); len(got) != 40 {
		t.Errorf("40 cells have %d shares", len(got))
	}
	m.Cells = append(m.Cells, cell(100))
	if got := grid.HowOften(m); got != nil {
		t.Errorf("41 cells have %d shares", len(got))
	}
}

// That cells are as expected is said of those alone of which something was expected.
func TestOutcomeOfCellsWithoutExpectation(t *testing.T) {
	cell := func(match matrices.Match) matrices.Cell {
		return matrices.Cell{Label: checker.Safe, Match: match, CellRuns: &matrices.CellRuns{Seeds: 1}}
	}
	asked, unasked := cell(matrices.AsExpected), cell(matrices.NothingExpected)
	const contended = ", and in each the clients contended and every fault struck."
	for _, c := range []struct {
		cells []matrices.Cell
		want  string
	}{
		{[]matrices.Cell{asked, {Label: checker.NotApplicable, Match: matrices.NothingExpected}},
			"All cells are as their scenarios expect" + contended},
		{[]matrices.Cell{unasked, unasked}, "The scenarios say nothing of what to expect of these cells" + contended},
		{[]matrices.Cell{asked, unasked}, "All cells are as their scenarios expect, which say nothing of 1 cell" + contended},
	} {
		if got := grid.Outcome(&matrices.Matrix{Expected: true, Cells: c.cells}); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
