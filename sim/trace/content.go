package trace

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Content is something that a server's kind describes in its own words: the
// bytes of a message, a request, an answer. Text is made of it when somebody
// reads it.
type Content interface {
	// AppendText and AppendHash are those of [What].
	AppendText(b []byte) []byte
	AppendHash(b []byte) []byte
}

// Text is content that is text already.
type Text string

// AppendText appends the text on one line, cut as [Line] cuts it.
func (t Text) AppendText(b []byte) []byte {
	l := NewLine(b)
	l.Add([]byte(t))
	return l.End()
}

// AppendHash appends all of it.
func (t Text) AppendHash(b []byte) []byte { return AppendString(b, string(t)) }

// Bytes is content of which nothing is known but that it is bytes: text as far as
// it can be read. What a server's kind sends has this content unless it says
// otherwise.
type Bytes []byte

// AppendText appends the bytes on one line, cut as [Line] cuts them, or their
// number where they are no text.
func (t Bytes) AppendText(b []byte) []byte {
	for _, c := range t {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return append(strconv.AppendInt(b, int64(len(t)), 10), " bytes"...)
		}
	}
	l := NewLine(b)
	for line := range bytes.Lines(t) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			l.Add(line)
		}
	}
	return l.End()
}

// AppendHash appends all of them.
func (t Bytes) AppendHash(b []byte) []byte { return append(AppendInt(b, int64(len(t))), t...) }

// Size is content of which only the number of bytes counts: for protocols whose
// bytes differ between two runs that mean the same.
type Size int

// AppendText appends "12 bytes".
func (s Size) AppendText(b []byte) []byte {
	return append(strconv.AppendInt(b, int64(s), 10), " bytes"...)
}

// AppendHash appends the number.
func (s Size) AppendHash(b []byte) []byte { return AppendInt(b, int64(s)) }

// shownBytes bounds what a line shows of one message.
const shownBytes = 300

// Line is a line of text while it is written: words with spaces between, cut
// after 300 bytes. What does not fit is counted.
type Line struct {
	b     []byte
	start int
	left  int // bytes that did not fit
}

// NewLine begins a line behind b.
func NewLine(b []byte) Line { return Line{b: b, start: len(b)} }

// Add appends a word. Line breaks in it become spaces.
func (l *Line) Add(word []byte) {
	size := len(l.b) - l.start
	room := shownBytes - size
	if size > 0 {
		room-- // for the space
	}
	fits := max(min(len(word), room), 0)
	for fits > 0 && fits < len(word) && !utf8.RuneStart(word[fits]) {
		fits-- // do not cut a character in two
	}
	l.left += len(word) - fits
	if fits == 0 && len(word) > 0 {
		return
	}
	if size > 0 {
		l.b = append(l.b, ' ')
	}
	for _, c := range word[:fits] {
		if c == '\n' || c == '\r' {
			c = ' '
		}
		l.b = append(l.b, c)
	}
}

// End is the line, and says how much of it is missing.
func (l *Line) End() []byte {
	if l.left > 0 {
		l.b = append(l.b, " … and "...)
		l.b = strconv.AppendInt(l.b, int64(l.left), 10)
		l.b = append(l.b, " bytes"...)
	}
	return l.b
}
