package junit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/scenarios/outcome/matrices"
)

// Matrix writes a matrix as JUnit XML, for a CI system: a suite for each
// scenario, with a test case for each cell. A cell fails when it differs from what
// its scenario expects or is vacuous, and is skipped when the lock mints no
// tokens for it. A pair of scenario and lock that cannot be run is one skipped
// case; a pair whose runs could not be finished is an error.
//
// The file has no times; see [Run]. Matrix returns the error of the writer. It only reads
// the matrix, and is safe for concurrent use.
func Matrix(w io.Writer, m *matrices.Matrix) error {
	var suites []suite
	for _, row := range m.Scenarios {
		s := suite{Name: row.Name}
		s.property("title", row.Title)
		s.property("catalogue", strings.Join(row.Catalogue, ", "))
		s.property("seeds", m.Seeds.String())
		for _, c := range m.Cells {
			if c.Scenario == row.Name {
				s.add(cellCase(c))
			}
		}
		for _, g := range gapsOf(m.NotRun, row.Name) {
			s.add(gapCase(g, func(c *testCase) **note { return &c.Skipped }))
		}
		for _, g := range gapsOf(m.Failures, row.Name) {
			s.add(gapCase(g, func(c *testCase) **note { return &c.Error }))
		}
		suites = append(suites, s)
	}
	return write(w, suites)
}

func cellCase(cell matrices.Cell) testCase {
	c := testCase{Class: cell.Scenario + "." + cell.Lock, Name: string(cell.Mode)}
	problem := cell.Problem()
	switch {
	case problem != "":
		c.Failure = &note{Type: string(cell.Match), Message: prose.Visible(problem), Text: figuresOf(cell)}
		if cell.Vacuous != "" {
			c.Failure.Type = "vacuous"
		}
	case cell.Label == checker.NotApplicable:
		c.Skipped = &note{Message: fmt.Sprintf("mode %s needs fencing tokens, and lock %s mints none", cell.Mode, cell.Lock)}
	case cell.NotFelt != "":
		c.Skipped = &note{Message: "the lock did not feel the faults: " + cell.NotFelt}
	default:
		c.Out = &text{figuresOf(cell)}
	}
	return c
}

// figuresOf is the labels with the number of seeds that show each, and the command
// that repeats the first run with the label of the cell.
func figuresOf(cell matrices.Cell) string {
	if cell.CellRuns == nil {
		return ""
	}
	var labels []string
	for _, l := range checker.Labels() {
		if n := cell.Labels[l]; n > 0 {
			labels = append(labels, fmt.Sprintf("%s with %s", l, prose.Count(n, "seed")))
		}
	}
	line := strings.Join(labels, ", ") + fmt.Sprintf("; the first %s is seed %d, trace hash %s", cell.Label, cell.Seed,
		cell.TraceHash)
	return endedByReplay([]string{line}, cell.Replay)
}

func gapsOf(gaps []matrices.Gap, scenario string) []matrices.Gap {
	return slices.DeleteFunc(slices.Clone(gaps), func(g matrices.Gap) bool { return g.Scenario != scenario })
}

// gapCase is a pair without cells as a test case. field selects the field of the case
// that says why.
func gapCase(g matrices.Gap, field func(*testCase) **note) testCase {
	c := testCase{Class: g.Scenario + "." + g.Lock, Name: "all modes"}
	first, rest, _ := strings.Cut(g.Why, "\n")
	var lines []string
	for line := range strings.Lines(rest) {
		lines = append(lines, prose.Visible(strings.TrimRight(line, "\n")))
	}
	*field(&c) = &note{Message: prose.Visible(first), Text: endedByReplay(lines, g.Replay)}
	return c
}
