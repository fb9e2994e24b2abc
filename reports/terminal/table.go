package terminal

import (
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
)

// side is the alignment of a column.
type side int

const (
	left side = iota
	right
)

// cell is one entry of a table.
type cell struct {
	text  string
	style style
	rest  []cell // cells that follow without a gap, each with its own style
}

func (c cell) columns() int {
	n := prose.Columns(c.text)
	for _, r := range c.rest {
		n += r.columns()
	}
	return n
}

func (c cell) paint(colour reports.Colour) string {
	text := paint(colour, c.style, c.text)
	for _, r := range c.rest {
		text += r.paint(colour)
	}
	return text
}

// table is rows of cells in aligned columns, two spaces apart.
type table struct {
	sides []side // of each column
	rows  [][]cell
}

func (t *table) row(texts ...string) {
	cells := make([]cell, len(texts))
	for i, s := range texts {
		cells[i].text = s
	}
	t.rows = append(t.rows, cells)
}

// lines are the rows as text, without trailing spaces.
func (t *table) lines(c reports.Colour) []string {
	widths := make([]int, len(t.sides))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], cell.columns())
		}
	}
	lines := make([]string, len(t.rows))
	for i, row := range t.rows {
		lines[i] = t.line(row, widths, c)
	}
	return lines
}

func (t *table) line(row []cell, widths []int, c reports.Colour) string {
	var b strings.Builder
	gap := 0 // spaces to write before the next text
	for i, cell := range row {
		space := widths[i] - cell.columns()
		if t.sides[i] == right {
			gap, space = gap+space, 0
		}
		if cell.columns() > 0 {
			b.WriteString(prose.Blanks(gap) + cell.paint(c))
			gap = 0
		}
		gap += space + 2
	}
	return b.String()
}

// style is the parameter of an escape sequence; empty leaves text as it is.
type style string

const (
	unstyled style = ""
	bold     style = "1"
	alarm    style = "1;31" // bold red
	warning  style = "33"   // yellow
	saved    style = "36"   // cyan
	good     style = "32"   // green
)

func styleOf(l checker.Label) style {
	switch l {
	case checker.Corrupted, checker.Panicked, checker.Stuck, checker.Hung, checker.FalseReject, checker.Void,
		checker.Revived, checker.Misconduct, checker.Overtaken:
		return alarm
	case checker.Unknown, checker.Untested, checker.Repeated, checker.Regressed, checker.Overlap:
		return warning
	case checker.Rescued:
		return saved
	case checker.Safe:
		return good
	}
	return unstyled
}

// paint adds a style to a text, unless the report is plain.
func paint(c reports.Colour, s style, text string) string {
	if c == reports.Plain || s == unstyled || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
