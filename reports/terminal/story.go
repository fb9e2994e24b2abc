package terminal

import (
	"fmt"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/play"
)

// maxStory bounds the lines that the whole story takes, headings included.
const maxStory = 40

// story tells the run without a fence, if it is there, and what a fence did
// at the same moment.
func story(o *play.Outcome, opt reports.Options) []string {
	m := scene.Told(o)
	if m == nil {
		return nil
	}
	rescue := rescued(o, m, opt)
	l := newLayout(o, m, opt)
	lines := []string{fmt.Sprintf("story in mode %s", m.Mode), l.header()}
	steps := l.fit(m.Story, maxStory-len(lines)-len(rescue))
	return append(append(lines, steps...), rescue...)
}

// rescued is the decisive step of the first run that a fence saved, with the
// steps around it, where the story told is not such a run itself.
func rescued(o *play.Outcome, told *play.ModeRun, opt reports.Options) []string {
	if told.Verdict.Label == checker.Rescued {
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

// fit lays out a story in at most room lines: the opening, the way to the
// decisive step, and a short aftermath.
func (l layout) fit(lines []play.Line, room int) []string {
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

// start is as much of the beginning as there is room for.
func (l layout) start(lines []play.Line, room int) []string {
	n := len(lines)
	for n > 0 && len(l.all(lines[:n])) > room-1 {
		n--
	}
	return append(l.all(lines[:n]), l.leftOut(lines[n:])...)
}

// middle leaves out steps after the opening.
func (l layout) middle(lines []play.Line, room int) []string {
	head := l.all(lines[:min(scene.Opening, len(lines))])
	from := min(scene.Opening, len(lines))
	for from < len(lines) && len(head)+1+len(l.all(lines[from:])) > room {
		from++
	}
	rows := append(head, l.leftOut(lines[min(scene.Opening, from):from])...)
	return append(rows, l.all(lines[from:])...)
}

func (l layout) all(lines []play.Line) []string {
	var rows []string
	for _, line := range lines {
		rows = append(rows, l.rows(line)...)
	}
	return rows
}

// leftOut stands for steps that are not shown.
func (l layout) leftOut(lines []play.Line) []string {
	if len(lines) == 0 {
		return nil
	}
	return l.rows(play.Line{Text: fmt.Sprintf("… %s left out", prose.Count(len(lines), "step"))})
}
