package terminal

import (
	"fmt"
	"io"
	"slices"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/grid"
	"locksim/scenarios/outcome/comparisons"
)

// Comparison writes locks side by side for a terminal: a map of which lock is right under
// which faults, what each needs and how many
// round trips it takes, for whom it is, and then a table of what each survives, with
// a row for each class of faults. Locks that do not fit into the width follow in a
// second table; where the first table does not fit, each lock has its own block.
//
// The errors are those of [Run].
func Comparison(w io.Writer, c *comparisons.Comparison, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(prose.Fold(compareHead(c), opt.Width))
	for i, t := range compareTables(c, opt, classRows(c, mapText)) {
		if i == 0 {
			t = append([]string{"which lock is right under which faults", ""}, t...)
		}
		p.Add(t)
	}
	p.Add(prose.Fold(grid.MapLegend, opt.Width))
	fits := func(table []string) bool {
		return !slices.ContainsFunc(table, func(line string) bool { return prose.Columns(line) > opt.Width })
	}
	needs := compareNeeds(c, grid.Needs())
	if !fits(needs) {
		needs = compareNeeds(c, slices.DeleteFunc(grid.Needs(), func(n grid.Need) bool { return n.Spare }))
	}
	if fits(needs) {
		p.Add(needs)
		p.Add(compareWhom(c, opt))
	} else {
		for _, l := range c.Locks {
			p.Add(compareBlock(l, opt))
		}
	}
	p.Add(prose.Fold(grid.TripsNote(c), opt.Width))
	if note := grid.NotToBeHadNote(c); note != "" {
		for i, t := range compareTables(c, opt, troubleRows(c)) {
			if i == 0 {
				t = append([]string{"for how long it is not to be had", ""}, t...)
			}
			p.Add(t)
		}
		p.Add(prose.Fold(note, opt.Width))
		var signs []grid.SurvivalSign
		for _, t := range grid.Troubles(c) {
			signs = append(signs, grid.SurvivalSign{Word: t.Head, Meaning: t.Meaning})
		}
		p.Add(compareLegend(signs, opt))
	}
	for i, t := range compareTables(c, opt, classRows(c, survivalText)) {
		if i == 0 {
			t = append([]string{"which fence kept the data right under each fault", ""}, t...)
		}
		p.Add(t)
	}
	p.Add(compareLegend(grid.SurvivalSigns(), opt))
	if text := grid.Unplayed(c); text != "" {
		p.Add(prose.Fold(text, opt.Width))
	}
	p.Add(prose.Fold(grid.ComparisonEvidence(c)+" --markdown and --json have a run for each weaker fence that failed.",
		opt.Width))
	return p.Render(w)
}

func compareHead(c *comparisons.Comparison) string {
	return fmt.Sprintf("%s side by side", prose.Count(len(c.Locks), "lock"))
}

// compareNeeds is the first table, with these columns.
func compareNeeds(c *comparisons.Comparison, columns []grid.Need) []string {
	t := table{sides: make([]side, 1+len(columns))}
	head := []string{"lock"}
	for _, column := range columns {
		head = append(head, column.Head)
	}
	t.row(head...)
	for _, l := range c.Locks {
		row := []string{prose.Visible(l.Name)}
		for _, column := range columns {
			row = append(row, column.Text(l))
		}
		t.row(row...)
	}
	return t.lines(reports.Plain)
}

// compareWhom says for whom each lock is. A lock that does not declare it is left out.
func compareWhom(c *comparisons.Comparison, opt reports.Options) []string {
	names := 0
	for _, l := range c.Locks {
		names = max(names, prose.Columns(prose.Visible(l.Name)))
	}
	lines := []string{}
	for _, l := range c.Locks {
		if l.ForWhom == "" {
			continue
		}
		for i, line := range prose.Fold(prose.Visible(l.ForWhom), opt.Width-names-2) {
			name := ""
			if i == 0 {
				name = prose.Visible(l.Name)
			}
			lines = append(lines, prose.Pad(name, names+2)+line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{"for whom", ""}, lines...)
}

func compareBlock(l comparisons.Lock, opt reports.Options) []string {
	lines := prose.Fold(prose.Visible(l.Name), opt.Width)
	t := table{sides: make([]side, 2)}
	for _, column := range grid.Needs() {
		t.row("  "+column.Head, column.Text(l))
	}
	lines = append(lines, t.lines(reports.Plain)...)
	if l.ForWhom != "" {
		for _, line := range prose.Fold("for whom: "+prose.Visible(l.ForWhom), opt.Width-2) {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

func mapText(s comparisons.Survival) cell {
	c := grid.NewMapCell(s)
	styles := map[grid.Standing]style{grid.StandsAlone: good, grid.StandsFenced: saved, grid.StandsWrong: alarm}
	return cell{text: c.Text(), style: styles[c.Standing]}
}

func survivalText(s comparisons.Survival) cell {
	return cell{text: grid.SurvivalWord(s), style: survivalStyle(s)}
}

func survivalStyle(s comparisons.Survival) style {
	switch {
	case s.Scenarios == 0:
		return unstyled
	case s.Fence == "":
		return alarm
	case s.Overlap != nil || s.Refused != nil:
		return warning
	case s.Fence == fence.None:
		return good
	}
	return saved
}

// compareRow is a row of a table in which each lock has a column.
type compareRow struct {
	head string
	cell func(l comparisons.Lock) cell
}

// classRows are the classes of faults that were played.
func classRows(c *comparisons.Comparison, text func(comparisons.Survival) cell) (rows []compareRow) {
	for i, class := range c.Classes {
		if grid.Played(c, i) {
			rows = append(rows, compareRow{grid.ClassName(class), func(l comparisons.Lock) cell { return text(l.Survives[i]) }})
		}
	}
	return rows
}

// troubleRows are the troubles after which a lock is not to be had for a while.
func troubleRows(c *comparisons.Comparison) (rows []compareRow) {
	for i, head := range grid.TroubleHeads(c) {
		rows = append(rows, compareRow{head, func(l comparisons.Lock) cell { return cell{text: grid.TroubleCells(c, l)[i]} }})
	}
	return rows
}

// compareTables are tables of these rows, each with as many locks as fit.
func compareTables(c *comparisons.Comparison, opt reports.Options, rows []compareRow) [][]string {
	edge := 0
	for _, row := range rows {
		edge = max(edge, prose.Columns(row.head))
	}
	var tables [][]string
	var beside []comparisons.Lock // of the current table
	room := opt.Width - edge
	for _, l := range c.Locks {
		need := 2
		for _, part := range nameParts(prose.Visible(l.Name)) {
			need = max(need, prose.Columns(part)+2)
		}
		for _, row := range rows {
			need = max(need, prose.Columns(row.cell(l).text)+2)
		}
		if need > room && len(beside) > 0 {
			tables, beside, room = append(tables, compareTable(beside, opt, rows)), nil, opt.Width-edge
		}
		beside, room = append(beside, l), room-need
	}
	if len(beside) > 0 {
		tables = append(tables, compareTable(beside, opt, rows))
	}
	return tables
}

func compareTable(locks []comparisons.Lock, opt reports.Options, rows []compareRow) []string {
	t := table{sides: make([]side, 1+len(locks))}
	names := make([]string, len(locks))
	for i, l := range locks {
		names[i] = prose.Visible(l.Name)
	}
	for _, line := range headLines(names) {
		t.row(append([]string{""}, line...)...)
	}
	for _, row := range rows {
		cells := []cell{{text: row.head}}
		for _, l := range locks {
			cells = append(cells, row.cell(l))
		}
		t.rows = append(t.rows, cells)
	}
	return t.lines(opt.Colour)
}

func compareLegend(signs []grid.SurvivalSign, opt reports.Options) []string {
	edge := 0
	for _, s := range signs {
		edge = max(edge, prose.Columns(s.Word)+2)
	}
	var lines []string
	for _, s := range signs {
		for i, line := range prose.Fold(s.Meaning, opt.Width-edge) {
			sign := ""
			if i == 0 {
				sign = s.Word
			}
			lines = append(lines, prose.Pad(sign, edge)+line)
		}
	}
	return lines
}
