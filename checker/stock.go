package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Stock is a bounded amount in each cell: a section takes of it only if enough is left, by what it has read.
type Stock struct {
	// Units are what there is at first, Each is what one write takes.
	Units, Each int
}

// oversold finds the cells of which more was taken than there was: see [Facts.Oversold].
func oversold(h History) finding {
	units, found := 0, &tally{more: "stocks of which more was taken than there was"}
	if h.Stock == nil {
		return finding{}
	}
	for _, c := range cellHistories(h) {
		var took []*Op
		for _, s := range cellSections(c.ops) {
			if s.write != nil && s.write.Outcome == OutcomeOK {
				took = append(took, s.write)
			}
		}
		beyond := len(took)*h.Stock.Each - h.Stock.Units
		if beyond <= 0 {
			continue
		}
		units += beyond
		found.add(func() Reason { return oversoldReason(c.cell, *h.Stock, took) })
	}
	return finding{count: units, reasons: found.sentences()}
}

func oversoldReason(c Cell, s Stock, took []*Op) Reason {
	slices.SortFunc(took, func(a, b *Op) int { return cmp.Compare(a.Applied, b.Applied) })
	r := Reason{}
	var by []string
	for _, w := range took {
		by, r.At = append(by, fmt.Sprintf("%s (step %d)", w.ID, w.Applied)), append(r.At, w.Applied)
	}
	r.Text = fmt.Sprintf("Of the %d units of %s %d were taken, by writes that were acknowledged: %s. Each section had "+
		"read that enough were left.", s.Units, c, len(took)*s.Each, strings.Join(by, ", "))
	return r
}
