package markdown

import (
	"fmt"
	"strings"

	clientlibs "locksim/internal/linked"
	"locksim/internal/prose"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// story is the folded table with the story, a row for each step.
func (m *report) story() []string {
	run := scene.StoryRun(m.o)
	if run == nil || m.steps == 0 {
		return nil
	}
	lines := []string{"| step | time | who | what |", "|--:|--:|---|---|"}
	for _, l := range storyAround(run.Story, m.steps) {
		row := []string{fmt.Sprint(l.Step), prose.Seconds(l.At), literal(l.Actor), m.text(l.Text)}
		switch {
		case l.LeftOut > 0:
			row = []string{"", "", "", "… " + m.text(l.Text)}
		case l.Fatal:
			for i := range row {
				row[i] = "**" + row[i] + "**"
			}
			row[0] = ">> " + row[0]
		case l.Shared:
			row[0] = "> " + row[0]
		}
		lines = append(lines, rowOf(row))
	}
	return folded(fmt.Sprintf("The story in mode %s, step by step", literal(string(run.Mode))), lines)
}

// storyAround is a story in at most n steps: the whole, or the excerpt where n is
// [scene.MaxSteps], or else the steps around the decisive one, and in any case those that decide the run.
func storyAround(lines []outcome.Line, n int) []scene.Sentence {
	switch {
	case len(lines) <= n:
		return scene.Sentences(lines)
	case n == scene.MaxSteps:
		return scene.Excerpt(lines)
	}
	from := scene.StartAround(lines, n, scene.DecisiveStep(lines), func(l outcome.Line) int { return l.N })
	return scene.Shortened(lines, func(i int) bool { return from <= i && i < from+n })
}

// limits says what the run does not prove.
func (m *report) limits() []string {
	if len(m.scenes) == 0 {
		return nil
	}
	const most = 12
	lines := []string{"## What this does not prove", ""}
	texts := scene.Limits(m.o)
	for _, text := range texts[max(len(texts)-most, 0):] {
		lines = append(lines, "- "+m.text(text))
	}
	return lines
}

// yaml is the schedule, cut to the extent.
func (m *report) yaml() []string {
	if m.lines == 0 {
		return nil
	}
	text := strings.TrimRight(m.schedule, "\n")
	lines := strings.Split(text, "\n")
	if left := len(lines) - m.lines; left > 0 {
		text = strings.Join(lines[:m.lines], "\n") + fmt.Sprintf("\n# … %s left out", prose.Count(left, "line"))
	}
	return folded("The schedule, as YAML", fenced("yaml", text))
}

// again is the section with the hashes, the versions for which they hold, and the
// command.
func (m *report) again() []string {
	var lines []string
	for _, run := range scene.Ran(m.o) {
		lines = append(lines, fmt.Sprintf("- mode %s: %s, trace hash %s", literal(string(run.Mode)),
			prose.Count(run.Events, "event"), codeSpan(run.TraceHash)))
	}
	for _, v := range m.opt.Versions {
		lines = append(lines, "- "+m.text(v.Name+" "+v.Version))
	}
	for _, c := range clientlibs.Clients() {
		if c.Differs() {
			lines = append(lines, "- "+m.text(c.String()))
		}
	}
	if m.opt.Replay != "" {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, fenced("console", m.opt.Replay)...)
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{"## The run again", ""}, lines...)
}
