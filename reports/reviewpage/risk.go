package reviewpage

import (
	"fmt"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/outcome/reviews"
)

// grounds are the headings of the tables of risk.
var grounds = map[reviews.Ground]string{
	reviews.GroundPromised:      "Within its promise",
	reviews.GroundOutside:       "Outside its promise",
	reviews.GroundSeveralWrites: "Sections that write more than once",
}

// riskBlocks count the runs of the library by label, mode by mode.
func riskBlocks(r *reviews.Review) []Block {
	if len(r.Figures.Modes) == 0 {
		return []Block{paragraph("No scenario of the library is about this lock, so that there are no counts. The effect " +
			"of each fence on each break is shown above.")}
	}
	blocks := []Block{paragraph("These are counts of runs, %s for every scenario and mode. The scenarios are chosen to "+
		"break locks: the counts say what can happen and how a fence changes it, and not how often it happens in production.",
		prose.Count(r.Plan.Seeds.Len(), "seed"))}
	for _, m := range r.Figures.Modes {
		if m.Mode == fence.None || m.Mode == adviceFence(r) {
			blocks = append(blocks, paragraph("%s", riskStatement(m)))
		}
	}
	for _, g := range reviews.Grounds() {
		if t := riskTable(r, g); len(t.Rows) > 0 {
			blocks = append(blocks, Block{Heading: groundTitle(r, g)}, Block{Table: t})
		}
	}
	if t := effectTable(r); len(t.Rows) > 0 {
		blocks = append(blocks, Block{Heading: "What fences made of the breaks above"}, Block{Table: t})
	}
	return blocks
}

// groundTitle is the heading of a table. For a lock without a promise, no scenario is
// within or outside the promise.
func groundTitle(r *reviews.Review, g reviews.Ground) string {
	if g == reviews.GroundOutside && !r.Lock.Promises {
		return "All scenarios with sections that write once"
	}
	return grounds[g]
}

// adviceFence is the mode that the advice asks for.
func adviceFence(r *reviews.Review) fence.Mode {
	for _, a := range r.Advice {
		if a.Fence != "" {
			return a.Fence
		}
	}
	return fence.None
}

// riskStatement is the risk of a mode in a sentence.
func riskStatement(m reviews.Mode) string {
	n := m.Total()
	who := "Without a fence"
	if m.Mode != fence.None {
		who = "With the fence " + string(m.Mode)
	}
	return fmt.Sprintf("%s, data was lost in %s of %s of the library, a rightful holder was refused in %s, and the lock "+
		"was stuck in %s.",
		who, prose.Thousands(n.Labels[checker.Corrupted]), prose.Count(n.Runs, "run"),
		prose.Thousands(n.Labels[checker.FalseReject]), prose.Thousands(n.Labels[checker.Stuck]))
}

// riskTable has a row for each mode and a column for each label.
func riskTable(r *reviews.Review, g reviews.Ground) *Table {
	t := &Table{Name: groundTitle(r, g), Head: []string{"Fence", "Scenarios", "Runs"}}
	labels := seenLabels(r, g)
	for _, l := range labels {
		t.Head = append(t.Head, string(l))
	}
	for _, m := range r.Figures.Modes {
		n, ok := m.Grounds[g]
		if !ok {
			continue
		}
		cells := []string{prose.Thousands(n.Scenarios), prose.Thousands(n.Runs)}
		for _, l := range labels {
			cells = append(cells, prose.Thousands(n.Labels[l]))
		}
		t.row(string(m.Mode), cells...)
	}
	return t
}

// seenLabels are the labels that some mode showed, and always corrupted.
func seenLabels(r *reviews.Review, g reviews.Ground) []checker.Label {
	var out []checker.Label
	for _, l := range checker.Labels() {
		n := 0
		for _, m := range r.Figures.Modes {
			n += m.Grounds[g].Labels[l]
		}
		if n > 0 || l == checker.Corrupted {
			out = append(out, l)
		}
	}
	return out
}

// effectTable counts what each fence did to the breaks.
func effectTable(r *reviews.Review) *Table {
	t := &Table{Name: "What fences made of the breaks", Head: []string{"Fence", "rescues", "rescues at a price",
		"does not rescue", "does harm", "nothing to rescue", "cannot be used"}}
	shown := []reviews.FenceEffect{reviews.FenceRescues, reviews.FenceCosts, reviews.FenceFails, reviews.FenceHarms,
		reviews.FenceIdle, reviews.FenceNeedsTokens}
	for _, mode := range fence.Modes()[1:] {
		counts := map[reviews.FenceEffect]int{}
		for _, b := range r.Failures {
			for _, f := range b.Fences {
				if f.Mode == mode {
					counts[f.Effect]++
				}
			}
		}
		if len(counts) == 0 {
			continue
		}
		var cells []string
		for _, e := range shown {
			cells = append(cells, prose.Thousands(counts[e]))
		}
		t.row(string(mode), cells...)
	}
	return t
}
