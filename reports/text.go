package reports

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// seconds writes a time in seconds, to the millisecond.
func seconds(d time.Duration) string {
	ms := d.Round(time.Millisecond).Milliseconds()
	return fmt.Sprintf("%d.%03ds", ms/1000, ms%1000)
}

// columns is the room that a text takes on a line.
func columns(s string) int { return utf8.RuneCountInString(s) }

// pad adds spaces on the right, up to a number of columns.
func pad(s string, width int) string { return s + blanks(width-columns(s)) }

func blanks(n int) string { return strings.Repeat(" ", max(n, 0)) }

// visible keeps a terminal from acting on what a lock or a server said.
func visible(s string) string {
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

// fold breaks a text into lines of at most width columns, between words where
// it can.
func fold(text string, width int) []string {
	width = max(width, 1)
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for columns(word) > width {
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
		case columns(line)+1+columns(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}
