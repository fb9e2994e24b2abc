package html

import (
	"fmt"
	"io"

	"locksim/internal/prose"
	"locksim/reports/campaign"
	"locksim/scenarios/sweep"
)

// Sweep writes a sweep as one page that needs nothing else, and no
// JavaScript: what was placed where, what came about, and each class of violation
// with its smallest story. Bytes, errors and concurrency are as for
// [Exploration].
func Sweep(w io.Writer, s *sweep.Sweep, opt CampaignOptions) error {
	p := &campaignPage{
		Kind: "sweep", Subject: fmt.Sprintf("scenario %s · lock %s · seed %d", s.Plan.Scenario, s.Plan.Lock, s.Plan.Seed),
		Title:    fmt.Sprintf("Sweep of %s with %s", s.Plan.Scenario, s.Plan.Lock),
		Headline: s.Statement() + ".", Found: s.Summary.Violating > 0,
		Doubts:  campaign.SweepDoubts(s),
		Figures: sweepCounts(s), Tables: sweepTables(s),
		Limits: sweepLimits(s), Again: opt.Again, Versions: opt.Versions,
	}
	for i, c := range s.Summary.Classes {
		like := fmt.Sprintf("%s like it, the first: %s", prose.Amount(c.Runs, "run"), c.First)
		p.Violations = append(p.Violations, newViolation(i+1, c.Shape, like, c.Shown, opt))
	}
	return p.write(w)
}

func sweepCounts(s *sweep.Sweep) []figure {
	t := &s.Summary
	out := []figure{
		{prose.Thousands(s.Plan.Boundaries), "moments of the run at which faults were placed"},
		{prose.Thousands(t.Placements), "runs with one fault"},
	}
	if s.Plan.Pairs > 0 {
		out = append(out, figure{prose.Thousands(t.Pairs), fmt.Sprintf("runs with two, of %s pairs that there are", prose.Thousands(s.Plan.AllPairs))})
	}
	out = append(out, figure{prose.Thousands(t.Struck), "of these runs saw their faults come about"},
		figure{prose.Thousands(t.Violating), "runs with a violation"})
	if t.Reduced > 0 {
		out = append(out, figure{prose.Thousands(t.Reduced), "pairs break the promise as one of their faults does alone; they are not among those"})
	}
	return out
}

func sweepTables(s *sweep.Sweep) []countTable {
	t := &s.Summary
	kinds := countTable{ID: "kinds", Title: "Faults by kind", Heads: []string{"Kind", "Placed", "With a violation", "Struck"}, Note: sweepLeftOut(s)}
	for _, k := range sweep.Kinds() {
		n, ok := t.Kinds[k.Name]
		if !ok {
			continue
		}
		kinds.Rows = append(kinds.Rows, countRow{k.Name + ": " + k.Text,
			[]string{prose.Thousands(n.Placed), prose.Thousands(n.Violating), prose.Thousands(n.Struck)}, share(n.Struck, n.Placed)})
	}
	return filled(kinds, tallyTable("vacuous", "Runs that are no evidence", "Why", t.Vacuous, t.Struck),
		tallyTable("labels", "Violations by label", "Label", t.Violations, t.Struck))
}

// sweepLeftOut says which placements are not tried, and why.
func sweepLeftOut(s *sweep.Sweep) string {
	text := fmt.Sprintf("%s more placements are left out, at which the fault would find its target as one of these does.", prose.Thousands(s.Plan.Equivalent))
	if s.Plan.Idle > 0 {
		text += fmt.Sprintf(" So are %s jumps of client clocks: no client looks at its wall clock.", prose.Thousands(s.Plan.Idle))
	}
	return text
}

func sweepLimits(s *sweep.Sweep) []string {
	return []string{
		"A sweep without a violation is no proof: it covers one workload and one seed, and faults of fixed length.",
		judgedAs(s.Plan.Judge),
		"Interleavings inside one process are not explored.",
	}
}
