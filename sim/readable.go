package sim

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// shownBytes bounds what the trace keeps of one message.
const shownBytes = 300

// shown is a line of the trace while it is written: words, up to a limit.
type shown struct {
	strings.Builder
	left int // bytes that did not fit
}

// add appends a word on the same line. What does not fit is counted.
func (s *shown) add(word []byte) {
	room := shownBytes - s.Len()
	if s.Len() > 0 {
		room-- // for the space
	}
	fits := max(min(len(word), room), 0)
	for fits > 0 && fits < len(word) && !utf8.RuneStart(word[fits]) {
		fits-- // do not cut a character in two
	}
	s.left += len(word) - fits
	if fits == 0 && len(word) > 0 {
		return
	}
	if s.Len() > 0 {
		s.WriteByte(' ')
	}
	for _, c := range word[:fits] {
		if c == '\n' || c == '\r' {
			c = ' '
		}
		s.WriteByte(c)
	}
}

func (s *shown) String() string {
	if s.left > 0 {
		return s.Builder.String() + " … and " + strconv.Itoa(s.left) + " bytes"
	}
	return s.Builder.String()
}

// readable renders RESP, requests or replies, on one line for the trace:
// lengths are left out, values are cut. What is not RESP is shown as it is.
func readable(b []byte) string {
	var s shown
	s.Grow(min(len(b), shownBytes) + 32)
	for len(b) > 0 {
		b = s.token(b)
	}
	return s.String()
}

// token shows one line, or one bulk string, and returns what follows it.
func (s *shown) token(b []byte) []byte {
	line, rest := cutLine(b)
	switch b[0] {
	case '*', '>', '~', '%': // aggregates
		if n, ok := lengthIn(line); ok {
			switch {
			case n < 0:
				s.add([]byte("nil"))
			case n == 0:
				s.add([]byte("(empty)"))
			}
			return rest
		}
	case '$':
		if n, ok := lengthIn(line); ok {
			return s.bulk(rest, n)
		}
	case '+', ':', ',':
		line = line[1:]
	case '_':
		if len(line) == 1 {
			line = []byte("nil")
		}
	}
	if len(line) > 0 {
		s.add(line)
	}
	return rest
}

func (s *shown) bulk(b []byte, n int) []byte {
	if n < 0 {
		s.add([]byte("nil"))
		return b
	}
	n = min(n, len(b))
	if n == 0 {
		s.add([]byte(`""`))
	} else {
		s.add(b[:n])
	}
	return bytes.TrimPrefix(b[n:], []byte("\r\n"))
}

// cutLine takes a line off, without its end.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// lengthIn is the number behind the first byte of a line.
func lengthIn(line []byte) (int, bool) {
	if len(line) < 2 || len(line) > 12 {
		return 0, false
	}
	n, err := strconv.Atoi(string(line[1:]))
	return n, err == nil
}

// replyLength is the length of the first whole reply in b.
func replyLength(b []byte) int {
	line, rest := cutLine(b)
	n := len(b) - len(rest)
	count, ok := lengthIn(line)
	if !ok || count < 0 {
		return n
	}
	switch b[0] {
	case '$':
		return min(n+count+2, len(b))
	case '%':
		count *= 2
	case '*', '>', '~':
	default:
		return n
	}
	for ; count > 0 && n < len(b); count-- {
		n += replyLength(b[n:])
	}
	return n
}
