package html

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"locksim/internal/prose"
	"locksim/reports/campaign"
	"locksim/scenarios/explore"
)

// Exploration writes an exploration as one page that needs nothing else, and
// no JavaScript: what was tried, what of it is evidence, which faults struck, and
// each violation of another shape with its smallest story.
//
// The same exploration and options give the same bytes: of its timing, nothing
// but the shard is told. The error is that of the writer. It is safe for
// concurrent use if the functions of opt are.
func Exploration(w io.Writer, e *explore.Exploration, opt CampaignOptions) error {
	s := &e.Summary
	p := &campaignPage{
		Kind: "exploration", Subject: "lock " + e.Plan.Lock,
		Title:    "Exploration of " + e.Plan.Lock,
		Headline: exploreHeadline(e), Found: s.Violating > 0,
		Doubts:  campaign.ExplorationDoubts(e),
		Figures: exploreCounts(e), Tables: exploreTables(e),
		Limits: exploreLimits(e), Again: opt.Again, Versions: opt.Versions,
	}
	for i, d := range s.Distinct {
		like := fmt.Sprintf("%s like it, the first with seed %d", prose.Amount(d.Runs, "run"), d.FirstSeed)
		p.Violations = append(p.Violations, newViolation(i+1, d.Shape, like, d.Shown, opt))
	}
	return p.write(w)
}

// exploreHeadline is the result in a sentence or two.
func exploreHeadline(e *explore.Exploration) string {
	if e.Summary.Violating > 0 && e.StoppedAt != nil {
		return fmt.Sprintf("A run with a violation ended the exploration, after %s.", prose.Amount(e.Summary.Runs, "run"))
	}
	return campaign.ExplorationVerdict(e)
}

func exploreCounts(e *explore.Exploration) []figure {
	s := &e.Summary
	out := []figure{
		{prose.Thousands(s.Runs), fmt.Sprintf("runs were made, from seed %d on", e.Plan.FirstSeed)},
		{prose.Thousands(s.NonVacuous), "of them are evidence: clients contended and faults struck, or a violation was seen"},
		{prose.Thousands(s.Violating), "runs with a violation"},
		{prose.Span(s.VirtualSeconds), "of virtual time"},
	}
	if s.NonVacuous > 0 && e.StoppedAt == nil {
		out = append(out, figure{fmt.Sprintf("< %.2g %%", 100*s.RateBound), "rate of violations, at 95 %, under this generator"})
	}
	if never, all := e.Uncovered(); all > 0 {
		out = append(out, figure{fmt.Sprintf("%d of %d", all-len(never), all), "classes of fault struck"})
	}
	return out
}

func exploreTables(e *explore.Exploration) []countTable {
	s := &e.Summary
	kinds := countTable{ID: "kinds", Title: "Faults by kind", Heads: []string{"Kind", "Drawn", "Struck"},
		Note: "A fault strikes if the run comes as far as its trigger. One that does not strike proves nothing."}
	for _, kind := range s.Kinds() {
		n := s.Faults[kind]
		kinds.Rows = append(kinds.Rows, countRow{kind, []string{prose.Thousands(n.Drawn), prose.Thousands(n.Struck)}, share(n.Struck, n.Drawn)})
	}
	classes := countTable{ID: "classes", Title: "Classes of fault", Heads: []string{"Class", "Runs in which one struck"},
		Note: "A promise speaks of classes of fault. One that never struck is not covered."}
	for _, class := range e.Plan.Classes() {
		n := s.Classes[class]
		value := prose.Thousands(n)
		if n == 0 {
			value = "never"
		}
		classes.Rows = append(classes.Rows, countRow{string(class), []string{value}, share(n, s.Runs)})
	}
	return filled(kinds, classes, tallyTable("vacuous", "Runs that are no evidence", "Why", s.Vacuous, s.Runs),
		tallyTable("labels", "Violations by label", "Label", s.Violations, s.NonVacuous))
}

// tallyTable is a table of counts.
func tallyTable[K ~string](id, title, head string, of map[K]int, whole int) countTable {
	t := countTable{ID: id, Title: title, Heads: []string{head, "Runs"}}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		t.Rows = append(t.Rows, countRow{string(key), []string{prose.Thousands(of[key])}, share(of[key], whole)})
	}
	return t
}

// filled are the tables that have rows.
func filled(tables ...countTable) []countTable {
	return slices.DeleteFunc(tables, func(t countTable) bool { return len(t.Rows) == 0 })
}

func exploreLimits(e *explore.Exploration) []string {
	return []string{
		"Runs without a violation are no proof. The bound on the rate speaks of the schedules that this generator draws, and of no others.",
		judgedAs(e.Plan.Judge),
		"Interleavings inside one process are not explored.",
	}
}
