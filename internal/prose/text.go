package prose

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Nothing is the cell of a table without a value.
const Nothing = "–"

// Seconds writes a time in seconds, to the millisecond.
func Seconds(d time.Duration) string {
	ms := d.Round(time.Millisecond).Milliseconds()
	return fmt.Sprintf("%d.%03ds", ms/1000, ms%1000)
}

// Span writes a long time in its two largest units: "3 hours 20 min".
func Span(seconds float64) string {
	s := int(seconds)
	switch {
	case s < 60:
		return Count(s, "second")
	case s < 3600:
		return Count(s/60, "minute")
	case s < 48*3600:
		return fmt.Sprintf("%s %d min", Count(s/3600, "hour"), s%3600/60)
	}
	return fmt.Sprintf("%s %d h", Count(s/86400, "day"), s%86400/3600)
}

// YesNo is a flag in a word.
func YesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// Columns is the width of a text on a line.
func Columns(s string) int { return utf8.RuneCountInString(s) }

// Blanks are n spaces, none where n is negative.
func Blanks(n int) string { return strings.Repeat(" ", max(n, 0)) }

// Pad adds spaces on the right, up to a number of columns.
func Pad(s string, width int) string { return s + Blanks(width-Columns(s)) }

// Clip is the first n characters of a text, with "…" if it is longer.
func Clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n]) + "…"
}

// Visible replaces the characters of a text that are not printable by a space or a
// replacement character: the text of a lock or a server must not control a terminal.
func Visible(s string) string {
	if isPrintableASCII(s) { // as nearly all are
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ReplacementChar
	}, s)
}

func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Fold breaks a text into lines of at most width columns, between words where
// it can.
func Fold(text string, width int) []string {
	width = max(width, 1)
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for Columns(word) > width {
			if line != "" {
				lines = append(lines, line)
				line = ""
			}
			r := []rune(word)
			lines, word = append(lines, string(r[:width])), string(r[width:])
		}
		switch {
		case line == "":
			line = word
		case Columns(line)+1+Columns(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

// FoldIndented breaks a visible line that is too long, and keeps its indentation.
func FoldIndented(line string, width int) []string {
	words := strings.TrimLeft(line, " ")
	margin := line[:len(line)-len(words)]
	parts := Fold(Visible(words), width-Columns(margin))
	for i := range parts {
		parts[i] = margin + parts[i]
	}
	return parts
}

// Page joins parts of a text, with an empty line between them. The zero value is an
// empty page.
type Page struct{ b strings.Builder }

// Add adds a part, without spaces at the ends of its lines. A part without lines is
// ignored.
func (p *Page) Add(lines []string) {
	if len(lines) == 0 {
		return
	}
	if p.b.Len() > 0 {
		p.b.WriteByte('\n')
	}
	for _, line := range lines {
		p.b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// String is the whole page.
func (p *Page) String() string { return p.b.String() }

// Render writes the page. The error is that of the writer.
func (p *Page) Render(w io.Writer) error {
	if _, err := io.WriteString(w, p.b.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Name is a name that a user has chosen, as texts show it: quoted unless it is one plain word.
func Name(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '"' || !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
