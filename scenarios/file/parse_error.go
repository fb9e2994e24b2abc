package file

import (
	"fmt"
	"strings"

	"locksim/faults"
	"locksim/internal/prose"
)

// InputError is returned when a scenario file, or the name of one, is invalid. The
// user can correct it, so it says what is wrong, where, and what to do.
type InputError struct {
	// Pos is the position. Its line is 0 if the error is about the whole file, and
	// it is zero if there is no file.
	Pos faults.Pos
	// Msg says what is wrong and what to do about it, without the position.
	Msg string
	// Excerpt is the source line and a second line with a caret under the position.
	// It is empty if Pos has no line.
	Excerpt string
	// Err is the cause, such as the failure to open the file. It may be nil.
	Err error
}

// Error is "file:line:column: message", and below it the excerpt.
func (e *InputError) Error() string {
	var b strings.Builder
	if e.Pos != (faults.Pos{}) {
		b.WriteString(e.Pos.String() + ": ")
	}
	b.WriteString(e.Msg)
	if e.Excerpt != "" {
		b.WriteString("\n" + e.Excerpt)
	}
	return b.String()
}

// Unwrap is the cause, or nil.
func (e *InputError) Unwrap() error { return e.Err }

// NewInputError makes an error about a position in a source, with the line and a caret.
func NewInputError(src []byte, pos faults.Pos, format string, args ...any) *InputError {
	return &InputError{Pos: pos, Msg: fmt.Sprintf(format, args...), Excerpt: excerpt(src, pos)}
}

// excerptWidth is how many characters of a source line an excerpt shows.
const excerptWidth = 100

// excerpt shows one line of the source with a caret under the column. A long
// line is cut to the part around the caret.
func excerpt(src []byte, pos faults.Pos) string {
	lines := strings.Split(string(trimMark(src)), "\n")
	if pos.Line < 1 || pos.Line > len(lines) {
		return ""
	}
	line := []rune(strings.TrimSuffix(lines[pos.Line-1], "\r"))
	caret := min(max(pos.Column-1, 0), len(line))
	start := max(0, caret-excerptWidth*2/3)
	line = line[start:min(len(line), start+excerptWidth)]
	number := fmt.Sprintf("%4d | ", pos.Line)
	return number + prose.Visible(string(line)) + "\n" +
		strings.Repeat(" ", len(number)-2) + "| " + strings.Repeat(" ", caret-start) + "^"
}
