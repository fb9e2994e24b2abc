package terminal

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// maxStory bounds the lines of the story, headings included.
const maxStory = 40

// story is the story of the run without a fence, if there is one, and the decisive
// steps of a run that a fence rescued.
func story(o *outcome.Outcome, opt reports.Options) []string {
	m := scene.StoryRun(o)
	if m == nil {
		return nil
	}
	rescue := rescued(o, m, opt)
	l := newLayout(o, m, opt)
	lines := []string{fmt.Sprintf("story in mode %s", m.Mode), l.header()}
	steps := l.fit(m.Story, maxStory-len(lines)-len(rescue))
	return append(append(lines, steps...), rescue...)
}

// rescued is the decisive step of the first run that a fence rescued, with the steps
// around it. It is nil where the story is that of such a run itself.
func rescued(o *outcome.Outcome, shown *outcome.ModeRun, opt reports.Options) []string {
	if shown.Verdict.Label == checker.Rescued {
		return nil
	}
	for i := range o.Modes {
		m := &o.Modes[i]
		at := scene.Decisive(m.Story)
		if m.Verdict.Label != checker.Rescued || at < 0 {
			continue
		}
		l := newLayout(o, m, opt)
		lines := []string{"", fmt.Sprintf("the same moment in mode %s", m.Mode)}
		for _, line := range m.Story[max(at-1, 0):min(at+3, len(m.Story))] {
			lines = append(lines, l.rows(line)...)
		}
		return lines
	}
	return nil
}

// fit lays out a story in at most room lines: the opening, and the steps before and
// after the decisive step.
func (l layout) fit(lines []outcome.Line, room int) []string {
	end := len(lines)
	if at := scene.Decisive(lines); at >= 0 {
		end = min(end, at+1+scene.Aftermath)
	}
	rows := l.all(lines[:end])
	rest := l.leftOut(lines[end:])
	if len(rows)+len(rest) <= room {
		return append(rows, rest...)
	}
	if scene.Decisive(lines) < 0 {
		return l.start(lines, room)
	}
	return append(l.middle(lines[:end], room-len(rest)), rest...)
}

// start is the beginning of a story, as much as fits.
func (l layout) start(lines []outcome.Line, room int) []string {
	n := len(lines)
	for n > 0 && len(l.all(lines[:n])) > room-1 {
		n--
	}
	return append(l.all(lines[:n]), l.leftOut(lines[n:])...)
}

// middle leaves out steps after the opening.
func (l layout) middle(lines []outcome.Line, room int) []string {
	head := l.all(lines[:min(scene.Opening, len(lines))])
	from := min(scene.Opening, len(lines))
	for from < len(lines) && len(head)+1+len(l.all(lines[from:])) > room {
		from++
	}
	rows := append(head, l.leftOut(lines[min(scene.Opening, from):from])...)
	return append(rows, l.all(lines[from:])...)
}

func (l layout) all(lines []outcome.Line) []string {
	var rows []string
	for _, line := range lines {
		rows = append(rows, l.rows(line)...)
	}
	return rows
}

// sharedMark marks a grant at which another client had the lock already.
const sharedMark = " >"

// leftOut is a notice for steps that are not shown.
func (l layout) leftOut(lines []outcome.Line) []string {
	if len(lines) == 0 {
		return nil
	}
	return l.rows(outcome.Line{Text: fmt.Sprintf("… %s left out", prose.Count(len(lines), "line"))})
}

// layout places the steps of a story: time and number on the left, then a column for
// each client and a last one for the store and the world. A row has one text only, so
// that a long text may continue over the columns to the right.
type layout struct {
	width   int
	clients []string
	column  int // the width of a client's column; 0: names instead of columns
	time    int // the widths of time and number
	number  int
	style   style // of the decisive step
	colour  reports.Colour
}

const (
	minColumn = 12 // a client's column
	maxColumn = 26
	storeRoom = 32 // the last column, where there is space
)

func newLayout(o *outcome.Outcome, m *outcome.ModeRun, opt reports.Options) layout {
	l := layout{width: opt.Width, time: prose.Columns("time"), number: prose.Columns("step"),
		style: styleOf(m.Verdict.Label), colour: opt.Colour}
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

// edge is the position at which the columns begin.
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
	return prose.Pad(mark, 3) + prose.Blanks(l.time-prose.Columns(time)) + time + "  " +
		prose.Blanks(l.number-prose.Columns(step)) + step + "  "
}

// rows are the lines of text that a step takes.
func (l layout) rows(line outcome.Line) []string {
	if line.N == 0 {
		return []string{prose.Blanks(l.edge()) + prose.Visible(line.Text)}
	}
	mark, style := "", unstyled
	if line.Fatal {
		mark, style = ">>", l.style
		if style == unstyled {
			style = bold
		}
	} else if line.Shared {
		mark, style = sharedMark, warning
	}
	indent, text := l.indent(line)
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

// indent is the distance from the edge to the text of a step, and the text, with its
// actor where the column does not name it.
func (l layout) indent(line outcome.Line) (int, string) {
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
