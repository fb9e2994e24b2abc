package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/scenarios/matrix"
)

// Matrix writes a matrix for a terminal: a row for each scenario, a column for
// each lock, and in each place a group of signs, one for each fencing mode. The
// modes stand side by side, and not in tables of their own, since that is the
// question the matrix answers: what would fencing have made of this very run?
// Locks that do not fit into the width follow in a second table; specimens,
// which take part in few scenarios each, are a list. Below stand the legend, the
// counts, and each cell that differs from what is expected or is vacuous, with
// the command that replays it.
//
// The errors are those of [Terminal].
func Matrix(w io.Writer, m *matrix.Matrix, opt Options) error {
	opt, err := opt.withDefaults()
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
	p.Add(prose.Fold(evidence(m), opt.Width))
	p.Add(notRun(m, opt))
	p.Add(problems(m, opt))
	p.Add(failures(m, opt))
	p.Add(prose.Fold(outcomeOf(m), opt.Width))
	return p.Render(w)
}

func matrixHead(m *matrix.Matrix, opt Options) []string {
	text := fmt.Sprintf("matrix of %s and %s, %s, fencing %s",
		prose.Count(len(m.Scenarios), "scenario"), prose.Count(len(m.Locks), "lock"), m.Seeds, prose.Commas(m.Modes))
	return prose.Fold(text, opt.Width)
}

// specimens begin with this; they are listed apart.
const specimenPrefix = "broken/"

func isSpecimen(lock string) bool { return strings.HasPrefix(lock, specimenPrefix) }

// matrixTables are the locks that are no specimens, as many side by side as fit.
func matrixTables(m *matrix.Matrix, opt Options) [][]string {
	g, edge := newGrid(m), 0
	for _, row := range m.Scenarios {
		edge = max(edge, prose.Columns(row.Name)+2)
	}
	var tables [][]string
	for _, locks := range sideBySide(m, opt.Width-edge) {
		tables = append(tables, g.table(m, locks, opt.Colour))
	}
	return tables
}

// sideBySide are the locks in runs that are at most so wide, of one lock at
// least.
func sideBySide(m *matrix.Matrix, width int) [][]string {
	var all [][]string
	room := 0
	for _, l := range m.Locks {
		if isSpecimen(l.Name) {
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

// columnWidth is the room for a lock: its name, broken at hyphens, or a group.
func columnWidth(lock string, modes int) int {
	width := modes + len(flag)
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

// table has a row for each scenario that was run with one of the locks. A long
// one has gaps, which guide the eye, and its head at the foot too.
func (g grid) table(m *matrix.Matrix, locks []string, c Colour) []string {
	rows := slices.DeleteFunc(slices.Clone(m.Scenarios), func(sc matrix.Row) bool { return !g.ran(sc.Name, locks) })
	t := table{sides: make([]side, 1+len(locks))}
	g.head(&t, locks)
	for i, sc := range rows {
		if i > 0 && i%rowsBetweenGaps == 0 && len(rows) > 2*rowsBetweenGaps {
			t.row("")
		}
		row := []cell{{text: sc.Name}}
		for _, l := range locks {
			row = append(row, g.cell(sc.Name, l))
		}
		t.rows = append(t.rows, row)
	}
	if len(rows) > longTable {
		g.head(&t, locks)
	}
	return t.lines(c)
}

const (
	rowsBetweenGaps = 5
	longTable       = 30
)

func (g grid) ran(scenario string, locks []string) bool {
	return slices.ContainsFunc(locks, func(l string) bool { return g.has(scenario, l) })
}

func (g grid) head(t *table, locks []string) {
	for _, names := range headLines(locks) {
		t.row(append([]string{""}, names...)...)
	}
}

// headLines are the names of the locks, one part below the other, down to the
// table.
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
func specimenList(m *matrix.Matrix, opt Options) []string {
	g := newGrid(m)
	t := table{sides: make([]side, 3)}
	for _, l := range m.Locks {
		for _, sc := range m.Scenarios {
			if isSpecimen(l.Name) && g.has(sc.Name, l.Name) {
				t.rows = append(t.rows, []cell{{text: l.Name}, {text: sc.Name}, g.cell(sc.Name, l.Name)})
			}
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return append([]string{"specimens: locks that are wrong on purpose", ""}, t.lines(opt.Colour)...)
}

// matrixLegend explains the signs.
func matrixLegend(m *matrix.Matrix, opt Options) []string {
	lines := prose.Fold(fmt.Sprintf("One sign for each mode: %s. A cell shows its worst seed.", prose.Commas(m.Modes)), opt.Width)
	t := table{sides: make([]side, 3)}
	for _, s := range legend() {
		t.rows = append(t.rows, []cell{{text: s.glyph, style: s.style}, {text: s.name}, {text: s.meaning}})
	}
	t.rows = append(t.rows, []cell{{text: flag, style: alarm}, {}, {text: "after a group: one of its cells is not as expected, or is vacuous; see below"}},
		[]cell{{}, {text: "(nothing)"}, {text: "not run: the scenario is not about this lock"}})
	return append(lines, t.lines(opt.Colour)...)
}
