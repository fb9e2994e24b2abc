package markdown

import (
	"fmt"
	"strings"
	"time"

	"locksim/internal/prose"
	"locksim/lock/fence"
)

// seqRow is one thing that a sequence diagram shows: a request with its answer, or
// a note.
type seqRow struct {
	n    int // the step
	at   time.Duration
	over []string // whom it concerns: for a request, the sender and the receiver
	text string
	note bool

	sent     time.Duration // when the request was sent
	lost     bool          // it never arrived
	answer   string        // "" for none
	unheard  bool          // the answer never arrived
	times    int           // how often in a row the same was asked and answered
	until    time.Duration // the last time
	branches []seqBranch   // the answers in the modes that part here
	fatal    string        // what was decided here, in words
}

// seqBranch is what a store answered in some modes.
type seqBranch struct {
	modes  []fence.Mode
	answer string
	says   string
}

// lines are the row in mermaid.
func (r seqRow) lines() []string {
	var lines []string
	switch {
	case r.note:
		lines = []string{fmt.Sprintf("Note over %s: %s", strings.Join(r.over, ","), mermaidLabel(prose.Seconds(r.at)+" "+r.text))}
	case r.lost:
		lines = []string{fmt.Sprintf("%s-x%s: %s", r.over[0], r.over[1], mermaidLabel(prose.Seconds(r.at)+" "+r.text+" (it never arrives)"))}
	default:
		lines = append([]string{fmt.Sprintf("%s->>%s: %s", r.over[0], r.over[1], mermaidLabel(r.request()))}, r.answers()...)
	}
	if r.fatal == "" {
		return lines
	}
	if len(r.branches) < 2 {
		lines = append(lines, r.remark(r.decision(r.fatal)))
	}
	return append(append([]string{"rect " + fatalColour}, inset(lines)...), "end")
}

func (r seqRow) decision(what string) string { return fmt.Sprintf("step %d, %s", r.n, what) }

// fatalColour is behind the decisive step, light enough for dark and light pages.
// A note says the same in words.
const fatalColour = "rgba(220, 50, 47, 0.2)"

// lateFrom is how long a request is on its way before the diagram says so.
const lateFrom = 500 * time.Millisecond

func (r seqRow) request() string {
	text := prose.Seconds(r.at) + " " + r.text
	if r.late() {
		text += fmt.Sprintf(" (sent at %s)", prose.Seconds(r.sent))
	}
	return text
}

func (r seqRow) late() bool { return !r.note && r.at-r.sent >= lateFrom }

func (r seqRow) answers() []string {
	if len(r.branches) < 2 {
		return r.answered(r.answer)
	}
	var lines []string
	for i, b := range r.branches {
		word := "else"
		if i == 0 {
			word = "alt"
		}
		lines = append(lines, word+" mode "+mermaidText(strings.ReplaceAll(prose.Commas(b.modes), ", ", " or ")))
		inner := r.answered(b.answer)
		if b.says != "" {
			inner = append(inner, r.remark(b.says))
		}
		lines = append(lines, inset(inner)...)
	}
	return append(lines, "end")
}

func (r seqRow) answered(answer string) []string {
	if answer == "" {
		return nil
	}
	arrow := "-->>"
	if r.unheard {
		arrow, answer = "--x", answer+" (the answer is lost)"
	}
	if r.times > 1 {
		answer += fmt.Sprintf(" (%d times, until %s)", r.times, prose.Seconds(r.until))
	}
	return []string{fmt.Sprintf("%s%s%s: %s", r.over[1], arrow, r.over[0], mermaidLabel(answer))}
}

// remark is a note on whoever decided.
func (r seqRow) remark(text string) string {
	return fmt.Sprintf("Note over %s: %s", r.over[len(r.over)-1], mermaidLabel(text))
}

func inset(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = "    " + line
	}
	return out
}
