package grid

import (
	"fmt"

	"locksim/scenarios/outcome/causes"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/outcome/tally"
)

const (
	// fewest is the number of runs from which on a share is worth a line.
	fewest = 100
	// most is the number of cells up to which there is a line for each.
	most = 40
)

// Often are the shares of the runs of a cell that did harm.
type Often struct {
	// Cell has the figures: its CellRuns are not nil.
	Cell matrices.Cell
	// TwoClaims and Lost are shares with their intervals: see [Share].
	TwoClaims, Lost string
}

// HowOften has the shares of the cells of a matrix that were run. It has none if the matrix has fewer than 100 runs for
// each cell, of which a share says little, or more than 40 cells.
func HowOften(m *matrices.Matrix) []Often {
	var all []Often
	for _, c := range m.Cells {
		if c.CellRuns != nil && c.Seeds >= fewest {
			all = append(all, Often{c, Share(c.TwoClaims, c.Seeds), Share(c.Lost, c.Seeds)})
		}
	}
	if len(all) > most {
		return nil
	}
	return all
}

// OftenTitle says what the shares of [HowOften] are.
const OftenTitle = "How often, with the interval of 95 % (Wilson)"

// Share is the share n of so many runs with the interval in which it is with a confidence of 95 %, by Wilson's score:
// "12 % (8.7 to 16 %)". Of zero runs it is "not played".
func Share(n, of int) string {
	if of == 0 {
		return "not played"
	}
	rate := float64(n) / float64(of)
	low, high := causes.Wilson(rate, of, causes.Z95)
	switch n {
	case 0:
		return fmt.Sprintf("0 (below %s)", tally.Percent(high))
	case of:
		return fmt.Sprintf("all (above %.3g %%)", 100*low)
	}
	return fmt.Sprintf("%s (%.2g to %s)", tally.Percent(rate), 100*low, tally.Percent(high))
}
