package markdown

import (
	"fmt"
	"strings"
	"unicode"

	"locksim/internal/prose"
)

// mermaidPlain are the signs that mean themselves in a mermaid text. All others
// but letters and digits are written by their numbers: among them are those that
// end a statement or begin a comment, a tag, a formula or a fence.
const mermaidPlain = " .,()/=+-_'’!?{}…–—→·"

// mermaidText keeps what others wrote from becoming mermaid, Run or HTML.
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

// The room of a text in a diagram.
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
