package trace

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Content is described by a server's kind: the bytes of a message, a request,
// an answer. Its text is built only when it is read.
type Content interface {
	// AppendText appends the details as one readable line. It may cut them.
	AppendText(b []byte) []byte
	// AppendHash appends all details, none cut, so that different values of a
	// type give different bytes.
	AppendHash(b []byte) []byte
}

// Text is content that is plain text.
type Text string

// AppendText appends the text on one line, cut as [Line] cuts it.
func (t Text) AppendText(b []byte) []byte {
	l := NewLine(b)
	l.Add([]byte(t))
	return l.End()
}

// AppendHash appends all of it.
func (t Text) AppendHash(b []byte) []byte { return AppendString(b, string(t)) }

// Bytes is content of an unknown kind: bytes, shown as text if they are
// readable, and quoted if they are not. It is the default for the connections of
// a server.
type Bytes []byte

// AppendText appends the bytes on one line, cut as [Line] cuts them.
func (t Bytes) AppendText(b []byte) []byte {
	l := NewLine(b)
	if !isText(t) {
		l.Add(t)
		return l.End()
	}
	for line := range bytes.Lines(t) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			l.Add(line)
		}
	}
	return l.End()
}

// AppendHash appends all of them.
func (t Bytes) AppendHash(b []byte) []byte { return append(AppendInt(b, int64(len(t))), t...) }

// shownBytes bounds the text of one message on a line.
const shownBytes = 300

// isText reports whether bytes are text: printable characters, and spaces of any
// kind.
func isText(b []byte) bool {
	if isASCIIText(b) { // as nearly all are
		return true
	}
	return utf8.Valid(b) && !bytes.ContainsFunc(b, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) })
}

func isASCIIText(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && (c < '\t' || c > '\r') {
			return false
		}
	}
	return true
}

// Readable is a text on one line: it has one space for each space and line break of
// the original, or for several in succession, and characters that are not printable
// are written as Go writes them, such as \x1b.
func Readable(text string) string {
	if onLine(text) {
		return text // as nearly all are
	}
	text = strings.Join(strings.Fields(text), " ")
	if isText([]byte(text)) {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
}

// onLine reports whether a text is printable ASCII with single spaces.
func onLine(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(text)-1 || text[i-1] == ' ') {
			return false
		}
	}
	return true
}

// Line builds a line of text: words with spaces between, cut after 300 bytes.
// It counts the bytes that do not fit. A word that is not text is quoted, so that
// each of its bytes can be read.
type Line struct {
	b     []byte
	start int
	left  int // bytes that did not fit
}

// NewLine begins a line after b.
func NewLine(b []byte) Line { return Line{b: b, start: len(b)} }

// Add appends a word. Line breaks in it become spaces.
func (l *Line) Add(word []byte) {
	size := len(l.b) - l.start
	room := shownBytes - size
	if size > 0 {
		room-- // for the space
	}
	fits := max(min(len(word), room), 0)
	text := isText(word)
	for text && fits > 0 && fits < len(word) && !utf8.RuneStart(word[fits]) {
		fits-- // do not split a character
	}
	l.left += len(word) - fits
	if fits == 0 && len(word) > 0 {
		return
	}
	if size > 0 {
		l.b = append(l.b, ' ')
	}
	if !text {
		l.b = strconv.AppendQuote(l.b, string(word[:fits]))
		return
	}
	for _, c := range word[:fits] {
		if c == '\n' || c == '\r' {
			c = ' '
		}
		l.b = append(l.b, c)
	}
}

// End is the line, with the number of bytes that are missing.
func (l *Line) End() []byte {
	if l.left > 0 {
		l.b = append(l.b, " … and "...)
		l.b = strconv.AppendInt(l.b, int64(l.left), 10)
		l.b = append(l.b, " bytes"...)
	}
	return l.b
}

// The interfaces below are optional for a [Content]: they serve diagrams, and
// code that follows messages through a trace. Other content is shown by its
// text.

// Worded is content that consists of words, such as a request, of which the
// first is its name.
type Worded interface {
	Words() []string
}

// Request is the content of a request that has a short form for diagrams.
type Request interface {
	// Brief is the request in a few words. It is empty if a diagram should
	// leave it out: a request that opens a connection, or one that was refused
	// and has to be sent in another form. answer is nil if there is none.
	Brief(answer Content) string
}

// Kinded is the content of a request that says what kind of request it is, whatever its values are: two of a kind ask
// the server to do the same.
type Kinded interface {
	// Kind is the command, or the text of the script or the statement.
	Kind() string
}

// Asking is the content of a request that a server may not know.
type Asking interface {
	// Unknown says, in a few words, what the server does not have of what it was asked for, by its answer: a command, an
	// option, a function. It is "" if it has all.
	Unknown(answer Content) string
}

// Silent is content whose text does not say what is asked, and that may be no request: a server takes that without an
// event, so that no arrival is in the trace.
type Silent interface {
	// Silent says that it is none.
	Silent() bool
}

// Answer is the content of an answer that can report a failure.
type Answer interface {
	// Negative says that nothing was done or found, or that the answer is an error.
	Negative() bool
}

// Failing is an [Answer] that tells an error from having found nothing.
type Failing interface {
	// Failed says that the answer is an error.
	Failed() bool
}

// KindOf is the kind of a request. It is "" if its content does not say it.
func KindOf(c Content) string {
	if k, ok := c.(Kinded); ok {
		return k.Kind()
	}
	return ""
}

// WordsOf are the words of content, nil if it has none.
func WordsOf(c Content) []string {
	if w, ok := c.(Worded); ok {
		return w.Words()
	}
	return nil
}
