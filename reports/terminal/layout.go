package terminal

import (
	"fmt"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/scenarios/play"
)

// layout places the steps of a story: time and number on the left, then a
// column for each client and a last one for the store and the world. A row has
// one text only, so a long one may run on to the right.
type layout struct {
	width   int
	clients []string
	column  int // the width of a client's column; 0: names instead of columns
	time    int // the widths of the left side
	number  int
	style   style // of the decisive step
	colour  reports.Colour
}

const (
	minColumn = 12 // a client's column
	maxColumn = 26
	storeRoom = 32 // the last column, if it can be had
)

func newLayout(o *play.Outcome, m *play.ModeRun, opt reports.Options) layout {
	l := layout{width: opt.Width, time: prose.Columns("time"), number: prose.Columns("step"), style: styleOf(m.Verdict.Label), colour: opt.Colour}
	for i := range o.Scenario.World.Clients {
		l.clients = append(l.clients, fmt.Sprintf("c%d", i))
	}
	for _, line := range m.Story {
		l.time = max(l.time, prose.Columns(prose.Seconds(line.At)))
		l.number = max(l.number, prose.Columns(fmt.Sprint(line.N)))
	}
	if len(l.clients) > 0 {
		l.column = min((l.width-l.edge()-storeRoom)/len(l.clients), maxColumn)
	}
	if l.column < minColumn {
		l.column = 0
	}
	return l
}

// edge is where the columns begin.
func (l layout) edge() int { return 3 + l.time + 2 + l.number + 2 }

// header names the columns.
func (l layout) header() string {
	var b strings.Builder
	b.WriteString(l.left("", "time", "step"))
	if l.column == 0 {
		return b.String() + "who and what"
	}
	for _, c := range l.clients {
		b.WriteString(prose.Pad(c, l.column))
	}
	return b.String() + "store and world"
}

func (l layout) left(mark, time, step string) string {
	return prose.Pad(mark, 3) + prose.Blanks(l.time-prose.Columns(time)) + time + "  " + prose.Blanks(l.number-prose.Columns(step)) + step + "  "
}

// rows are the lines of text that a step takes.
func (l layout) rows(line play.Line) []string {
	if line.N == 0 {
		return []string{prose.Blanks(l.edge()) + prose.Visible(line.Text)}
	}
	mark, style := "", unstyled
	if line.Fatal {
		mark, style = ">>", l.style
		if style == unstyled {
			style = bold
		}
	}
	indent, text := l.place(line)
	var rows []string
	for i, part := range prose.Fold(prose.Visible(text), l.width-l.edge()-indent) {
		left := l.left(mark, "", "")
		if i == 0 {
			left = l.left(mark, prose.Seconds(line.At), fmt.Sprint(line.N))
		}
		rows = append(rows, paint(l.colour, style, left+prose.Blanks(indent)+part))
	}
	return rows
}

// place is how far from the edge a text begins, and the text with its actor
// where the column does not say who it is.
func (l layout) place(line play.Line) (int, string) {
	i := slices.Index(l.clients, line.Actor)
	named := line.Actor + " " + line.Text
	switch {
	case l.column == 0:
		return 0, named
	case i < 0:
		return l.column * len(l.clients), named
	}
	return l.column * i, line.Text
}
