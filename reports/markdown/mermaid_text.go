package markdown

import (
	"fmt"
	"strings"
	"unicode"

	"locksim/internal/prose"
	"locksim/sim/trace"
)

// mermaidPlain are the characters, other than letters and digits, without a special
// meaning in a mermaid text. All others are written by their numbers: some of them end
// a statement or begin a comment, a tag, a formula or a fence.
const mermaidPlain = " .,()/=+-_'’!?{}…–—→·"

// mermaidText escapes a text so that it does not become mermaid, Markdown or HTML.
func mermaidText(text string) string {
	var b strings.Builder
	for _, r := range strings.TrimSpace(prose.Visible(text)) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(mermaidPlain, r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "#%d;", r)
	}
	return b.String()
}

// The limits of a text in a diagram.
const (
	mermaidWidth = 38 // characters of a line
	mermaidLines = 4  // of a text
)

// mermaidLabel is a text in a few short lines.
func mermaidLabel(text string) string {
	lines := prose.Fold(prose.Visible(text), mermaidWidth)
	if len(lines) > mermaidLines {
		lines = append(lines[:mermaidLines-1], lines[mermaidLines-1]+" …")
	}
	for i, line := range lines {
		lines[i] = mermaidText(line)
	}
	return strings.Join(lines, "<br/>")
}

// maxCommand and maxAnswer bound a request and an answer in a diagram, in characters.
const (
	maxCommand = 72
	maxAnswer  = 90
)

// shortRequest is a request in a few words; it is empty for those that a diagram leaves
// out.
func shortRequest(request, answer trace.Content) string {
	if r, ok := request.(trace.Request); ok {
		return prose.Clip(r.Brief(answer), maxCommand)
	}
	return prose.Clip(string(request.AppendText(nil)), maxCommand)
}

func answered(answer trace.Content) string {
	if answer == nil {
		return "(waits)"
	}
	return prose.Clip(string(answer.AppendText(nil)), maxAnswer)
}

// storeAnswer is the answer of the store in words, without the operation, which is
// shown beside it.
func storeAnswer(d trace.Decision) string {
	switch {
	case d.Refused != "":
		text := "REFUSED " + d.Refused
		if _, reason, ok := strings.Cut(d.Refused, " refused, "); ok {
			text = "REFUSED: " + strings.TrimSuffix(reason, ": stale operation")
		}
		return prose.Clip(text, maxAnswer)
	case d.Write:
		return "taken"
	case d.Value == "":
		return "nothing written yet"
	}
	return "found " + d.Value
}
