package reviewpage

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports/campaign"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/outcome/reviews"
)

// exploredBlocks say how many runs the review is based on.
func exploredBlocks(r *reviews.Review) []Block {
	t := &Table{Name: "The runs behind it", Head: []string{"What", "Runs", "That tested " +
		"the lock", "With a violation", "Of these fewer than (95 %)", "Virtual time"}}
	if m := r.Matrix; m != nil {
		t.row("Scenarios of the library", prose.Thousands(m.Totals.Runs), prose.Thousands(m.Totals.NonVacuous), prose.Nothing,
			prose.Nothing, prose.Span(m.Totals.VirtualSeconds))
	}
	exploredRow(t, "Random schedules within the promise", r.Within)
	exploredRow(t, "Random schedules with "+r.Plan.Tried(), r.All)
	if s := r.Sweep; s != nil {
		n := r.Figures.Swept
		t.row("Single faults placed in "+s.Plan.Scenario, prose.Thousands(n.Runs), prose.Thousands(n.Evidence),
			prose.Thousands(n.Violating), prose.Nothing, prose.Nothing)
	}
	blocks := []Block{{Table: t},
		paragraph("A run tested the lock when a client kept another out and a fault was felt, or when a violation was " +
			"seen. How few of such runs break it is said with 95 %% confidence, and only for schedules as these searches " +
			"choose them.")}
	var items []string
	for _, e := range []*explorations.Exploration{r.Within, r.All} {
		if e != nil {
			if text := e.Summary.ByClass(); text != "" {
				items = append(items, fmt.Sprintf("Random schedules, %s: runs that tested the lock, by class of fault, and how "+
					"many of such runs may break it (95 %% confidence): %s.", judgedUnder(r, e), text))
			}
			if e.Summary.Novelty != nil {
				items = append(items, fmt.Sprintf("Random schedules, %s, not seen yet: %s.", judgedUnder(r, e), e.Summary.Novelty))
			}
			items = append(items, fmt.Sprintf("Random schedules, %s: classes of fault that struck: %s. Runs that did not "+
				"test the lock: %s.", judgedUnder(r, e), orNone(campaign.Coverage(e)), orNone(campaign.Tallies(e.Summary.Vacuous))))
		}
	}
	if s := r.All; s != nil {
		items = append(items, fmt.Sprintf("Claims alone: two of them overlapped in %s of %s runs that tested the lock, "+
			"under %s.",
			prose.Thousands(s.Summary.Violations[checker.Overlap]), prose.Thousands(s.Summary.Evidence), r.Plan.Tried()))
	}
	if r.Sweep != nil {
		items = append(items, "Sweep: "+r.Sweep.Statement()+".")
	}
	return append(blocks, Block{Items: items})
}

func exploredRow(t *Table, name string, e *explorations.Exploration) {
	if e == nil {
		return
	}
	s := &e.Summary
	t.row(name, prose.Thousands(s.Runs), prose.Thousands(s.Evidence), prose.Thousands(s.Violating),
		reviews.Percentage(s.RateBound), prose.Span(s.VirtualSeconds))
}

func judgedUnder(r *reviews.Review, e *explorations.Exploration) string {
	if e.Plan.Judge == explorations.JudgePromise {
		return "within the promise"
	}
	return "with " + r.Plan.Tried()
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// gapBlocks say what the review does not cover.
func gapBlocks(r *reviews.Review) []Block {
	items := []string{
		"Interleavings inside one process are not explored: two goroutines of one client meet in one order.",
		"A pass means no violation in these runs, and is no proof.",
	}
	for _, g := range r.Missing {
		items = append(items, fmt.Sprintf("Not made: %s: %s.", g.What, strings.TrimSuffix(g.Why, ".")))
	}
	if len(r.NeverDrawn) > 0 {
		items = append(items, "No random schedule had these kinds of fault: "+commas(r.NeverDrawn)+".")
	}
	items = append(items, neverStruck(r)...)
	if n := r.Figures.Partial; n > 0 {
		items = append(items, fmt.Sprintf("In %s the lock acted during a pause, through timers that locksim cannot "+
			"hold: these runs prove nothing about pauses.", prose.Count(n, "run")))
	}
	if names := vacuousStories(r); len(names) > 0 {
		items = append(items, "These scenarios prove nothing in some mode, since nobody contended or a fault never struck: "+
			commas(names)+".")
	}
	items = append(items, "Faults that no schedule can have: disks that fill, bytes that arrive changed, a Redis "+
		"Cluster that moves keys, bugs of Redis itself.")
	blocks := []Block{{Items: items}}
	if len(r.NotRun) > 0 {
		blocks = append(blocks, Block{Folded: prose.Count(len(r.NotRun), "scenario") + " of the library not run with " +
			"this lock", Items: gapItems(r.NotRun)})
	}
	if len(r.Catalogue) > 0 {
		blocks = append(blocks,
			Block{Folded: fmt.Sprintf("%s of the catalogue that no scenario shows",
				prose.Count(len(r.Catalogue), "failure mode")), Items: gapItems(r.Catalogue)})
	}
	return blocks
}

// vacuousStories are the scenarios with a cell that proves nothing.
func vacuousStories(r *reviews.Review) []string {
	var names []string
	for _, s := range r.Scenarios {
		if slices.ContainsFunc(s.Cells, func(c matrices.Cell) bool { return c.Vacuous != "" }) {
			names = append(names, s.Name)
		}
	}
	return names
}

// neverStruck are the classes that could be drawn and never struck.
func neverStruck(r *reviews.Review) []string {
	var out []string
	for _, e := range []*explorations.Exploration{r.Within, r.All} {
		if e == nil {
			continue
		}
		if never, _ := e.Uncovered(); len(never) > 0 {
			out = append(out, fmt.Sprintf("Random schedules %s: no fault of these classes struck: %s.", judgedUnder(r, e),
				commas(never)))
		}
	}
	return out
}

func gapItems(gaps []reviews.Gap) []string {
	var out []string
	for _, g := range gaps {
		why, _, _ := strings.Cut(g.Why, "\n")
		out = append(out, g.What+": "+why+".")
	}
	return out
}
