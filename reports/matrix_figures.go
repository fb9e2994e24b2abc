package reports

import (
	"fmt"
	"strings"

	"locksim/internal/prose"
	"locksim/scenarios/matrix"
)

// evidence is how much stands behind a matrix.
func evidence(m *matrix.Matrix) string {
	t := m.Totals
	return fmt.Sprintf("%s runs in %s cells, over %s of virtual time. In %s of the runs clients contended and every fault fired.",
		prose.Thousands(t.Runs), prose.Thousands(t.Cells), prose.Span(t.VirtualSeconds), prose.Thousands(t.NonVacuous))
}

// outcomeOf is the matrix in a sentence.
func outcomeOf(m *matrix.Matrix) string {
	t := m.Totals
	if m.Expected {
		return "All cells are as their scenarios expect, and none is vacuous."
	}
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{
		{t.Worse, "worse than expected"}, {t.Milder, "milder than expected"}, {t.Vacuous, "vacuous"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", cellsAre(p.n), p.text))
		}
	}
	if n := len(m.Failures); n > 0 {
		parts = append(parts, fmt.Sprintf("%s could not be run", prose.Count(n, "pair")))
	}
	return strings.Join(parts, "; ") + "."
}

func cellsAre(n int) string {
	if n == 1 {
		return "1 cell is"
	}
	return prose.Thousands(n) + " cells are"
}
