package scene

import (
	"fmt"
	"slices"
	"time"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// Sentence is a step of a story, or says how many are left out.
type Sentence struct {
	Step    int
	At      time.Duration
	Actor   string
	Text    string
	Fatal   bool
	LeftOut int
}

// The limits of a story that is told in part.
const (
	// Opening, and Aftermath, are how many steps stay at the beginning of a story,
	// and after its decisive step, when some must go.
	Opening   = 6
	Aftermath = 4
	// MaxSteps bounds the steps of an [Excerpt].
	MaxSteps = 60
)

// Told is the run whose story is told first: that of mode none, or the first that has
// one. It is nil where none has.
func StoryRun(o *play.Outcome) *play.ModeRun {
	var first *play.ModeRun
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
func Decisive(story []play.Line) int {
	return slices.IndexFunc(story, func(l play.Line) bool { return l.Fatal })
}

// DecisiveStep is the number of the decisive step of a story, or 0.
func DecisiveStep(story []play.Line) int {
	if i := Decisive(story); i >= 0 {
		return story[i].N
	}
	return 0
}

// Excerpt is the opening of a story, the way to its decisive step and a short
// aftermath, in at most [MaxSteps].
func Excerpt(story []play.Line) []Sentence {
	end := min(len(story), MaxSteps)
	head, from := end, end
	if at := Decisive(story); at >= 0 {
		end = min(len(story), at+1+Aftermath)
		head = min(Opening, end)
		from = max(head, end-(MaxSteps-head))
	}
	return slices.Concat(Sentences(story[:head]), LeftOut(from-head), Sentences(story[from:end]), LeftOut(len(story)-end))
}

// Sentences are steps of a story.
func Sentences(story []play.Line) []Sentence {
	out := make([]Sentence, len(story))
	for i, l := range story {
		out[i] = Sentence{Step: l.N, At: l.At, Actor: l.Actor, Text: prose.Visible(l.Text), Fatal: l.Fatal}
	}
	return out
}

// LeftOut stands for n steps that are not shown. It is nothing for none.
func LeftOut(n int) []Sentence {
	if n == 0 {
		return nil
	}
	return []Sentence{{LeftOut: n, Text: fmt.Sprintf("%s left out", prose.Count(n, "step"))}}
}

// Around keeps n elements, three quarters of them before a step. The elements
// are in the order of their steps.
func Around[E any](all []E, n, step int, number func(E) int) []E {
	at := 0
	for at < len(all) && number(all[at]) <= step {
		at++
	}
	from := min(max(at-n*3/4, 0), len(all)-n)
	return all[from : from+n]
}
