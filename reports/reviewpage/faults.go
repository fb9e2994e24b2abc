package reviewpage

import (
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/prose"
	"locksim/reports/grid"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/reviews"
)

// faultBlocks are the faults by class and by kind, and the scenarios of the
// library.
func faultBlocks(r *reviews.Review) []Block {
	blocks := []Block{
		{Heading: "Classes of fault"},
		paragraph("A promise names classes of fault. The figures are the runs in which a fault of the class struck."),
		{Table: classTable(r)},
		{Heading: "Kinds of fault"},
		paragraph("How many faults were drawn for the schedules, and how many of them struck before the run was over."),
		{Table: kindTable(r)},
	}
	if len(r.Scenarios) > 0 {
		blocks = append(blocks, Block{Heading: "Scenarios of the library"},
			paragraph("Each with its entries in the catalogue of failure modes, and the worst label of %s with the number of "+
				"seeds that show it.", prose.Count(r.Plan.Seeds.Len(), "seed")),
			Block{Table: scenarioTable(r)})
	}
	return blocks
}

// classTable has a row for each class of fault.
func classTable(r *reviews.Review) *Table {
	t := &Table{Name: "Classes of fault", Head: []string{"Class", "Promised", "Within the promise",
		"With " + r.Plan.Tried(), "Scenarios"}}
	for _, class := range slices.Concat(r.Lock.Promise.Exclusion, r.Lock.Unpromised) {
		n := 0
		for _, s := range r.Scenarios {
			if slices.Contains(s.Classes, class) {
				n++
			}
		}
		promised := prose.YesNo(slices.Contains(r.Lock.Promise.Exclusion, class))
		within, all := prose.Nothing, prose.Nothing
		if r.Within != nil && promised == "yes" {
			within = prose.Thousands(r.Within.Summary.Classes[class].Evidence)
		}
		if r.All != nil {
			all = prose.Thousands(r.All.Summary.Classes[class].Evidence)
		}
		t.row(string(class), promised, within, all, prose.Thousands(n))
	}
	return t
}

// kindTable has a row for each kind of fault that was drawn.
func kindTable(r *reviews.Review) *Table {
	t := &Table{Name: "Kinds of fault", Head: []string{"Kind", "Within the promise", "With " + r.Plan.Tried()}}
	for _, k := range faults.Kinds() {
		within, all := struckOfDrawn(r.Within, k.Name), struckOfDrawn(r.All, k.Name)
		if within == prose.Nothing && all == prose.Nothing {
			continue
		}
		t.row(k.Name, within, all)
		t.Rows[len(t.Rows)-1].Note = k.Text
	}
	return t
}

func struckOfDrawn(e *explorations.Exploration, kind string) string {
	if e == nil || e.Summary.Faults[kind].Planned == 0 {
		return prose.Nothing
	}
	n := e.Summary.Faults[kind]
	return fmt.Sprintf("%s of %s struck", prose.Thousands(n.Struck), prose.Thousands(n.Planned))
}

// shortGround says whether a scenario is within the promise.
var shortGround = map[reviews.Ground]string{
	reviews.GroundPromised:      "within",
	reviews.GroundOutside:       "outside",
	reviews.GroundSeveralWrites: "several writes",
}

// groundWord is the text of a ground. For a lock without a promise, no scenario is
// within or outside the promise.
func groundWord(r *reviews.Review, g reviews.Ground) string {
	if g == reviews.GroundOutside && !r.Lock.Promises {
		return prose.Nothing
	}
	return shortGround[g]
}

// scenarioTable has a row for each scenario and a column for each mode.
func scenarioTable(r *reviews.Review) *Table {
	t := &Table{Name: "Scenarios of the library", Head: []string{"Scenario", "Catalogue", "Promise"}}
	for _, m := range r.Figures.Modes {
		t.Head = append(t.Head, string(m.Mode))
	}
	for _, s := range r.Scenarios {
		row := Row{Name: s.Name, Note: s.Title, Cells: []Cell{{Text: commas(s.Catalogue)}, {Text: groundWord(r, s.Ground)}}}
		for _, c := range s.Cells {
			if c.Label != checker.NotApplicable {
				row.Cells = append(row.Cells, Cell{Text: grid.KOfN(c), Label: c.Label})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
