package markdown

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/grid"
	"locksim/scenarios/outcome/comparisons"
)

// Comparison writes locks side by side as Markdown. After the tables of the terminal,
// it has a section for each lock, which names for each fence that is too weak for the
// faults of a class a run in which it failed. The same comparison gives the same bytes
// on every machine. Comparison returns the error of the writer.
func Comparison(w io.Writer, c *comparisons.Comparison) error {
	p := new(prose.Page)
	p.Add([]string{"# Locks side by side"})
	p.Add([]string{"<!-- Written by locksim compare --markdown. Do not edit. -->"})
	p.Add([]string{"What a lock needs, promises and is for is what it declares. All else is measured by the command " +
		"that writes this page.", escape(grid.ComparisonEvidence(c))})
	p.Add([]string{"## Which lock is right under which faults"})
	p.Add(survives(c, func(s comparisons.Survival) string { return grid.NewMapCell(s).Text() }))
	p.Add([]string{grid.MapLegend})
	p.Add([]string{"## What each needs, and for whom it is"})
	p.Add(needs(c))
	p.Add([]string{grid.TripsNote(c)})
	if note := grid.NotToBeHadNote(c); note != "" {
		p.Add([]string{"## For how long it is not to be had"})
		p.Add(troubles(c))
		p.Add([]string{note})
		p.Add(troubleMeanings(c))
	}
	p.Add([]string{"## Which fence kept the data right under each fault"})
	p.Add(survives(c, func(s comparisons.Survival) string { return "`" + grid.SurvivalWord(s) + "`" }))
	p.Add(survivalSigns())
	if text := grid.Unplayed(c); text != "" {
		p.Add(prose.Fold(text, reports.DefaultWidth))
	}
	p.Add([]string{"## Why no weaker fence", "",
		"Each run that is named here shows a fence that fails or refuses a rightful holder, or claims that overlap.",
		"`" + grid.Program(c) + " run SCENARIO --lock LOCK --seed SEED --fencing MODE` makes it again. Faults that are " +
			"left out did no harm, or have no",
		"row above."})
	for _, l := range c.Locks {
		p.Add(lockSection(l))
	}
	return p.Render(w)
}

func needs(c *comparisons.Comparison) []string {
	head := []string{"lock"}
	for _, column := range grid.Needs() {
		head = append(head, column.Head)
	}
	head = append(head, "for whom")
	lines := []string{rowOf(head), ruler(len(head))}
	for _, l := range c.Locks {
		row := []string{escape(l.Name)}
		for _, column := range grid.Needs() {
			row = append(row, column.Text(l))
		}
		lines = append(lines, rowOf(append(row, escape(l.ForWhom))))
	}
	return lines
}

// troubles has a row for each lock.
func troubles(c *comparisons.Comparison) []string {
	head := append([]string{"lock"}, grid.TroubleHeads(c)...)
	lines := []string{rowOf(head), ruler(len(head))}
	for _, l := range c.Locks {
		if l.Availability != nil {
			lines = append(lines, rowOf(append([]string{escape(grid.LockHead(l))}, grid.TroubleCells(c, l)...)))
		}
	}
	return lines
}

func troubleMeanings(c *comparisons.Comparison) []string {
	lines := []string{rowOf([]string{"trouble", "what strikes"}), ruler(2)}
	for _, t := range grid.Troubles(c) {
		lines = append(lines, rowOf([]string{t.Head, t.Meaning}))
	}
	return lines
}

func survives(c *comparisons.Comparison, text func(comparisons.Survival) string) []string {
	head := []string{"faults"}
	for _, l := range c.Locks {
		head = append(head, escape(grid.LockHead(l)))
	}
	lines := []string{rowOf(head), ruler(len(head))}
	for i, class := range c.Classes {
		if !grid.Played(c, i) {
			continue
		}
		row := []string{grid.ClassName(class)}
		for _, l := range c.Locks {
			row = append(row, text(l.Survives[i]))
		}
		lines = append(lines, rowOf(row))
	}
	return lines
}

func survivalSigns() []string {
	lines := []string{rowOf([]string{"sign", "meaning"}), ruler(2)}
	for _, s := range grid.SurvivalSigns() {
		lines = append(lines, rowOf([]string{"`" + s.Word + "`", s.Meaning}))
	}
	return lines
}

func lockSection(l comparisons.Lock) []string {
	lines := []string{"### " + escape(l.Name), ""}
	if l.About != "" {
		lines = append(lines, escape(l.About), "")
	}
	none := len(lines)
	lines = append(lines, rowOf([]string{"faults", "fence", "played", "runs that show harm"}), ruler(4))
	for _, s := range l.Survives {
		if runs := harm(s); len(runs) > 0 {
			lines = append(lines, rowOf([]string{grid.ClassName(s.Class), "`" + grid.SurvivalWord(s) + "`",
				prose.Count(s.Runs, "run") + " of " + prose.Count(s.Scenarios, "scenario"), strings.Join(runs, "; ")}))
		}
	}
	if len(lines) == none+2 {
		return append(lines[:none], "No run showed any harm.")
	}
	return lines
}

// harm are the runs of a survival that show harm. Runs of one scenario and seed with
// the same label share an entry.
func harm(s comparisons.Survival) []string {
	others := slices.Clone(s.Others)
	if s.Refused != nil {
		others = append(others, *s.Refused)
	}
	slices.SortFunc(others, func(a, b comparisons.Seen) int {
		return cmp.Compare(slices.Index(fence.Modes(), a.Mode), slices.Index(fence.Modes(), b.Mode))
	})
	var runs []string
	for len(others) > 0 {
		first := others[0]
		modes := ""
		for len(others) > 0 && others[0].Label == first.Label && others[0].Scenario == first.Scenario &&
			others[0].Seed == first.Seed {
			modes, others = modes+", `"+string(others[0].Mode)+"`", others[1:]
		}
		runs = append(runs, fmt.Sprintf("%s: %s in %s, seed %d", strings.TrimPrefix(modes, ", "), first.Label, first.Scenario,
			first.Seed))
	}
	if o := s.Overlap; o != nil {
		runs = append(runs, fmt.Sprintf("`%s`: claims overlap in %s, seed %d", o.Mode, o.Scenario, o.Seed))
	}
	return runs
}
