package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/grid"
	"locksim/scenarios/outcome/matrices"
)

// Matrix writes a matrix for a terminal: a row for each scenario, a column for
// each lock, and for each pair a group of signs, one for each fencing mode. The modes
// are side by side, and not in separate tables, since the matrix answers the question
// how fencing changes the result of the same run. Locks that do not fit into the width
// follow in a second table; specimens, which take part in few scenarios each, are a
// list. The legend, the counts, and each cell that differs from what is expected or is
// vacuous follow, with the command that replays it.
//
// The errors are those of [Run].
func Matrix(w io.Writer, m *matrices.Matrix, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(matrixHead(m, opt))
	for _, t := range matrixTables(m, opt) {
		p.Add(t)
	}
	p.Add(specimenList(m, opt))
	p.Add(matrixLegend(m, opt))
	p.Add(prose.Fold(grid.Evidence(m), opt.Width))
	p.Add(howOften(m, opt))
	p.Add(notRun(m, opt))
	p.Add(problems(m, opt))
	p.Add(failures(m, opt))
	p.Add(prose.Fold(grid.Outcome(m), opt.Width))
	return p.Render(w)
}

func matrixHead(m *matrices.Matrix, opt reports.Options) []string {
	text := fmt.Sprintf("matrix of %s and %s, %s, fencing %s",
		prose.Count(len(m.Scenarios), "scenario"), prose.Count(len(m.Locks), "lock"), m.Seeds, prose.Commas(m.Modes))
	return prose.Fold(text, opt.Width)
}

// matrixTables are the tables of the locks other than specimens, each with as many
// locks as fit.
func matrixTables(m *matrices.Matrix, opt reports.Options) [][]string {
	g, edge := grid.New(m), 0
	for _, row := range m.Scenarios {
		edge = max(edge, prose.Columns(row.Name)+2)
	}
	var tables [][]string
	for _, locks := range sideBySide(m, opt.Width-edge) {
		tables = append(tables, matrixTable(g, m, locks, opt.Colour))
	}
	return tables
}

// sideBySide divides the locks into groups of at most a width, each of at least one
// lock.
func sideBySide(m *matrices.Matrix, width int) [][]string {
	var all [][]string
	room := 0
	for _, l := range m.Locks {
		if grid.IsSpecimen(l.Name) {
			continue
		}
		need := columnWidth(l.Name, len(m.Modes)) + 2
		if len(all) == 0 || need > room {
			all, room = append(all, nil), width+2
		}
		all[len(all)-1] = append(all[len(all)-1], l.Name)
		room -= need
	}
	return all
}

// columnWidth is the width of the column of a lock: of its name, broken at hyphens, or
// of a group.
func columnWidth(lock string, modes int) int {
	width := modes + len(grid.Flag)
	for _, part := range nameParts(lock) {
		width = max(width, prose.Columns(part))
	}
	return width
}

// nameParts breaks "watchdog-fenced" into "watchdog-" and "fenced".
func nameParts(lock string) []string {
	parts := strings.SplitAfter(lock, "-")
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

// matrixTable has a row for each scenario that was run with one of the locks. A long
// one has empty lines, which make it easier to read, and repeats its head at the end.
func matrixTable(g grid.Grid, m *matrices.Matrix, locks []string, c reports.Colour) []string {
	rows := slices.DeleteFunc(slices.Clone(m.Scenarios), func(sc matrices.Row) bool {
		return !slices.ContainsFunc(locks, func(l string) bool { return g.Has(sc.Name, l) })
	})
	t := table{sides: make([]side, 1+len(locks))}
	matrixTableHead(&t, locks)
	for i, sc := range rows {
		if i > 0 && i%rowsBetweenGaps == 0 && len(rows) > 2*rowsBetweenGaps {
			t.row("")
		}
		row := []cell{{text: sc.Name}}
		for _, l := range locks {
			row = append(row, matrixCell(g, sc.Name, l))
		}
		t.rows = append(t.rows, row)
	}
	if len(rows) > longTable {
		matrixTableHead(&t, locks)
	}
	return t.lines(c)
}

const (
	rowsBetweenGaps = 5
	longTable       = 30
)

func matrixTableHead(t *table, locks []string) {
	for _, names := range headLines(locks) {
		t.row(append([]string{""}, names...)...)
	}
}

// headLines are the names of the locks, one part below the other, aligned at the
// bottom.
func headLines(locks []string) [][]string {
	height := 0
	for _, l := range locks {
		height = max(height, len(nameParts(l)))
	}
	lines := make([][]string, height)
	for i := range lines {
		lines[i] = make([]string, len(locks))
	}
	for column, l := range locks {
		parts := nameParts(l)
		for i, part := range parts {
			lines[height-len(parts)+i][column] = part
		}
	}
	return lines
}

// specimenList is a line for each specimen and scenario.
func specimenList(m *matrices.Matrix, opt reports.Options) []string {
	g := grid.New(m)
	t := table{sides: make([]side, 3)}
	for _, l := range m.Locks {
		for _, sc := range m.Scenarios {
			if grid.IsSpecimen(l.Name) && g.Has(sc.Name, l.Name) {
				t.rows = append(t.rows, []cell{{text: l.Name}, {text: sc.Name}, matrixCell(g, sc.Name, l.Name)})
			}
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return append([]string{"specimens: locks that are wrong on purpose", ""}, t.lines(opt.Colour)...)
}

// matrixLegend explains the signs.
func matrixLegend(m *matrices.Matrix, opt reports.Options) []string {
	lines := prose.Fold(fmt.Sprintf("One sign for each mode: %s. A cell shows its worst seed.", prose.Commas(m.Modes)),
		opt.Width)
	t := table{sides: make([]side, 3)}
	for _, s := range grid.Legend() {
		t.rows = append(t.rows, []cell{{text: s.Glyph, style: signStyle(s)}, {text: s.Name}, {text: s.Meaning}})
	}
	t.rows = append(t.rows, []cell{{text: grid.Flag, style: alarm}, {}, {text: "after a group: one of its cells is not " +
		"as expected, or is vacuous; see below"}},
		[]cell{{}, {text: "(nothing)"}, {text: "not run: the scenario is not about this lock"}})
	return append(lines, t.lines(opt.Colour)...)
}

// howOften is a table of the shares of runs that did harm, with a line for each cell.
func howOften(m *matrices.Matrix, opt reports.Options) []string {
	all := grid.HowOften(m)
	if len(all) == 0 {
		return nil
	}
	t := table{sides: make([]side, 6)}
	t.row("scenario", "lock", "mode", "runs", "two have the lock", "an update is lost")
	for _, o := range all {
		t.row(o.Cell.Scenario, o.Cell.Lock, string(o.Cell.Mode), prose.Thousands(o.Cell.Seeds), o.TwoClaims, o.Lost)
	}
	return append([]string{grid.OftenTitle + ":"}, t.lines(opt.Colour)...)
}

// problems are the complaints, each with its replay command.
func problems(m *matrices.Matrix, opt reports.Options) []string {
	var lines []string
	for _, p := range grid.Complaints(m) {
		lines = append(lines, prose.Fold(prose.Visible(p.String()), opt.Width)...)
		if p.Replay != "" {
			lines = append(lines, "    "+p.Replay)
		}
	}
	return titled(opt, "NOT AS EXPECTED", lines)
}

// failures are the pairs whose runs the harness could not finish.
func failures(m *matrices.Matrix, opt reports.Options) []string {
	var lines []string
	for _, f := range m.Failures {
		lines = append(lines, fmt.Sprintf("%s, lock %s:", f.Scenario, f.Lock))
		for line := range strings.Lines(f.Why) {
			lines = append(lines, "    "+prose.Visible(strings.TrimRight(line, "\n")))
		}
		lines = append(lines, "    "+f.Replay)
	}
	return titled(opt, "FAILED", lines)
}

// notRun are the pairs that cannot be run, and why.
func notRun(m *matrices.Matrix, opt reports.Options) []string {
	var lines []string
	for _, f := range m.NotRun {
		why, _, _ := strings.Cut(f.Why, "\n")
		lines = append(lines, prose.Fold(prose.Visible(fmt.Sprintf("Not run: %s with lock %s: %s", f.Scenario, f.Lock, why)),
			opt.Width)...)
	}
	return lines
}

func titled(opt reports.Options, title string, lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return append([]string{paint(opt.Colour, alarm, title)}, lines...)
}

// matrixCell is a group in signs, with the flag after them where there is a problem.
func matrixCell(g grid.Grid, scenario, lock string) cell {
	if g.Failed(scenario, lock) {
		return cell{text: "FAILED", style: alarm}
	}
	var all cell
	group := g.Group(scenario, lock)
	for _, c := range group {
		s := grid.SignOf(c)
		all.rest = append(all.rest, cell{text: s.Glyph, style: signStyle(s)})
	}
	if group.Flagged() {
		all.rest = append(all.rest, cell{text: grid.Flag, style: alarm})
	}
	return all
}

// signStyle is how a sign looks.
func signStyle(s grid.Sign) style {
	if s.Name == grid.VacuousSign {
		return warning
	}
	return styleOf(checker.Label(s.Name))
}
