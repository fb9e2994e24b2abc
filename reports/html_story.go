package reports

import (
	"fmt"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// storyPart is the story of one run, in sentences.
type storyPart struct {
	Mode  fence.Mode
	Also  []fence.Mode
	Label checker.Label
	Told  bool // it is the one that is told first
	Lines []storyLine
}

// storyLine is a sentence, or says how many are left out.
type storyLine struct {
	N       int
	At      time.Duration
	Actor   string
	Text    string
	Fatal   bool
	LeftOut int
}

// newStories tells each run, and puts the state of the world after each step
// into the data of the page.
func newStories(o *play.Outcome, scenes []*scene, opt Options, data *pageData) []storyPart {
	first := told(o)
	var parts []storyPart
	for _, s := range scenes {
		p := storyPart{Mode: s.run.Mode, Also: s.also, Label: s.run.Verdict.Label, Told: s.tells(first), Lines: storyLines(s.run.Story)}
		parts = append(parts, p)
		data.addStates(s, p.Lines, opt.Inspect)
	}
	return parts
}

// storyLines are the opening, the way to the decisive step and a short
// aftermath, as far as there is room.
func storyLines(lines []play.Line) []storyLine {
	end := len(lines)
	if at := fatal(lines); at >= 0 {
		end = min(end, at+1+aftermath)
	}
	head := min(opening, end)
	from := max(head, end-(maxSteps-head))
	if fatal(lines) < 0 {
		head, from, end = min(end, maxSteps), min(end, maxSteps), min(end, maxSteps)
	}
	out := sentences(nil, lines[:head])
	out = skipped(out, from-head)
	out = sentences(out, lines[from:end])
	return skipped(out, len(lines)-end)
}

func sentences(out []storyLine, lines []play.Line) []storyLine {
	for _, l := range lines {
		out = append(out, storyLine{N: l.N, At: l.At, Actor: l.Actor, Text: prose.Visible(l.Text), Fatal: l.Fatal})
	}
	return out
}

// skipped stands for lines that are not shown.
func skipped(out []storyLine, n int) []storyLine {
	if n == 0 {
		return out
	}
	return append(out, storyLine{LeftOut: n, Text: fmt.Sprintf("%s left out", prose.Count(n, "step"))})
}
