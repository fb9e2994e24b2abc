package failure

import (
	"fmt"
	"strings"
	"time"

	"locksim/internal/prose"
	"locksim/scenarios/outcome"
)

// Step is one step of the story of a [Failure], or the number of steps that are
// left out between two others.
type Step struct {
	// N is the number of the event in the trace. It is 0 where steps are left out.
	N int `json:"n"`
	// At is the virtual time since the start of the run, in whole microseconds.
	At time.Duration `json:"at_ns"`
	// Actor is the client, server or store that acts, or "world" for a fault. It is
	// empty where steps are left out, and so is Text.
	Actor string `json:"actor" jsonschema:"minLength=0"`
	// Text says what happens.
	Text string `json:"text" jsonschema:"minLength=0"`
	// Fatal marks the step that decides the verdict.
	Fatal bool `json:"fatal"`
	// Skipped counts the steps that are left out here. It is 0 for a step.
	Skipped int `json:"skipped,omitempty" jsonschema:"minimum=1"`
}

// String is the step in one line, or how many are left out: "… 12 lines left out".
func (s Step) String() string {
	if s.Skipped > 0 {
		return fmt.Sprintf("… %s left out", prose.Count(s.Skipped, "line"))
	}
	return fmt.Sprintf("%5d %12s  %-6s %s", s.N, s.At, s.Actor, s.Text)
}

const (
	// maxStory is the number of steps that a failure keeps of its story. Where it
	// must leave some out, it keeps the first ones, as many as opening.
	maxStory = 60
	opening  = 6
	// aftermath is the number of steps that it keeps after the decisive one.
	aftermath = 6
)

// ShortStory keeps the opening of a story, the way to the decisive step, its
// aftermath, and all lines that decide the run.
func ShortStory(lines []outcome.Line) []Step {
	last, told := len(lines), false
	for i, line := range lines {
		if told = told || line.Fatal; line.Fatal || told && line.Remark != "" && !line.Shared { // a stale write is told too
			last = min(i+1+aftermath, len(lines))
		}
	}
	var out []Step
	skipped := last - maxStory
	for _, part := range outcome.Shorten(lines, func(i int) bool {
		return i < last &&
			(i < opening || i >= opening+skipped)
	}) {
		if part.Left > 0 {
			out = append(out, Step{Skipped: part.Left})
			continue
		}
		l := part.Line
		out = append(out, Step{N: l.N, At: l.At.Round(time.Microsecond), Actor: l.Actor, Text: l.Text, Fatal: l.Fatal})
	}
	return out
}

// storyText is a story with one line for each step. It marks the decisive step.
func storyText(story []Step) string {
	lines := make([]string, len(story))
	for i, s := range story {
		switch {
		case s.Skipped > 0:
			lines[i] = fmt.Sprintf("%20s %s", "", s)
		case s.Fatal:
			lines[i] = ">" + s.String()
		default:
			lines[i] = " " + s.String()
		}
	}
	return strings.Join(lines, "\n")
}
