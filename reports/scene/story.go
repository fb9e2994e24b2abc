package scene

import (
	"fmt"
	"slices"
	"time"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
)

// Sentence is a line of a story, which is one step of the run, or the number of lines
// that are left out.
type Sentence struct {
	Step    int
	At      time.Duration
	Actor   string
	Text    string
	Fatal   bool
	Shared  bool // see [outcome.Line]
	LeftOut int
}

// The limits of an excerpt of a story.
const (
	// Opening and Aftermath are the numbers of steps that an excerpt keeps at the
	// beginning of a story, and after its decisive step.
	Opening   = 6
	Aftermath = 4
	// MaxSteps bounds the steps of an [Excerpt].
	MaxSteps = 60
)

// StoryRun is the run whose story a report shows first: that of which the answers tell or, where it has none, that of
// mode none, or the first that has a story. It is nil where none has one.
func StoryRun(o *outcome.Outcome) *outcome.ModeRun {
	if m := outcome.Worst(o); m != nil && len(m.Story) > 0 && !m.Verdict.Label.Clean() {
		return m
	}
	var first *outcome.ModeRun
	for i := range o.Modes {
		m := &o.Modes[i]
		if len(m.Story) == 0 {
			continue
		}
		if m.Mode == fence.None {
			return m
		}
		if first == nil {
			first = m
		}
	}
	return first
}

// Decisive is the index of the decisive step of a story, or -1.
func Decisive(story []outcome.Line) int {
	return slices.IndexFunc(story, func(l outcome.Line) bool { return l.Fatal })
}

// DecisiveStep is the number of the decisive step of a story, or 0.
func DecisiveStep(story []outcome.Line) int {
	if i := Decisive(story); i >= 0 {
		return story[i].N
	}
	return 0
}

// Excerpt is the opening of a story, and the steps before and after its decisive step:
// at most [MaxSteps] in all, and more only where more lines decide the run.
func Excerpt(story []outcome.Line) []Sentence {
	end := min(len(story), MaxSteps)
	head, from := end, end
	if at := Decisive(story); at >= 0 {
		end = min(len(story), at+1+Aftermath)
		head = min(Opening, end)
		from = max(head, end-(MaxSteps-head))
	}
	return Shortened(story, func(i int) bool { return i < head || from <= i && i < end })
}

// Shortened are the steps of a story that are shown, and those that decide the run, with a notice for the lines between
// them.
func Shortened(story []outcome.Line, shown func(i int) bool) []Sentence {
	var out []Sentence
	for _, part := range outcome.Shorten(story, shown) {
		if part.Left > 0 {
			out = append(out, LeftOut(part.Left)...)
		} else {
			out = append(out, Sentences([]outcome.Line{*part.Line})...)
		}
	}
	return out
}

// Sentences are all steps of a story.
func Sentences(story []outcome.Line) []Sentence {
	out := make([]Sentence, len(story))
	for i, l := range story {
		out[i] = Sentence{Step: l.N, At: l.At, Actor: l.Actor, Text: prose.Visible(l.Text), Fatal: l.Fatal, Shared: l.Shared}
	}
	return out
}

// LeftOut is the notice for n lines of a story that are not shown, nil where n is 0. It
// does not call them steps: a step is any event of the trace, and a story has few of
// these.
func LeftOut(n int) []Sentence {
	if n == 0 {
		return nil
	}
	return []Sentence{{LeftOut: n, Text: fmt.Sprintf("%s left out", prose.Count(n, "line"))}}
}

// Around keeps n elements, three quarters of them before a step. The elements
// are in the order of their steps.
func Around[E any](all []E, n, step int, number func(E) int) []E {
	from := StartAround(all, n, step, number)
	return all[from : from+n]
}

// StartAround is the index of the first element that [Around] keeps.
func StartAround[E any](all []E, n, step int, number func(E) int) int {
	at := 0
	for at < len(all) && number(all[at]) <= step {
		at++
	}
	return min(max(at-n*3/4, 0), len(all)-n)
}
