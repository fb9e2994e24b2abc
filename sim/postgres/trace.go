//go:build linux

package postgres

import (
	"encoding/binary"
	"fmt"
	"strings"

	"locksim/sim"
	"locksim/sim/trace"
)

// Piece is what one side sends in one instant: its messages in words.
type Piece []string

// AppendText appends the messages.
func (p Piece) AppendText(b []byte) []byte { return append(b, strings.Join(p, ", ")...) }

// AppendHash implements [trace.Content].
func (p Piece) AppendHash(b []byte) []byte { return p.AppendText(b) }

// Words implements [trace.Worded].
func (p Piece) Words() []string { return p }

// Kind implements [trace.Kinded]: the values of arguments are not in the messages.
func (p Piece) Kind() string { return strings.Join(p, ", ") }

// Brief implements [trace.Request].
func (p Piece) Brief(trace.Content) string { return strings.Join(p, ", ") }

// Unknown implements [trace.Asking]: a function, an operator or a part of the language that the server does not have.
func (p Piece) Unknown(answer trace.Content) string {
	said, ok := answer.(Piece)
	if !ok {
		return ""
	}
	for _, word := range said {
		for _, code := range []string{"42883", "0A000"} { // undefined function, feature not supported
			if message, ok := strings.CutPrefix(word, "error "+code+" "); ok {
				return "PostgreSQL does not know: " + message
			}
		}
	}
	return ""
}

// describe describes the bytes of one side. Values of rows and of arguments are left out: they are in the events of the
// server.
func describe(dir sim.Direction, b []byte) Piece {
	var words []string
	first := dir == sim.Up && len(b) >= 8 && b[0] == 0 // a length, and not the type of a message
	for len(b) > 0 {
		m, rest, ok := next(b, !first)
		if !ok {
			words = append(words, fmt.Sprintf("a piece of %d bytes", len(b)))
			break
		}
		b = rest
		switch {
		case first && binary.BigEndian.Uint32(m[4:]) == codeCancel:
			words = append(words, "cancel")
		case first:
			words = append(words, "start")
		default:
			words = append(words, word(dir, m))
		}
		first = false
	}
	return words
}

func word(dir sim.Direction, m message) string {
	if dir == sim.Up {
		switch m.kind() {
		case 'Q':
			text, _ := cString(m.body())
			return text
		case 'P':
			_, rest := cString(m.body())
			text, _ := cString(rest)
			return "parse " + text
		case 'B':
			return "bind"
		case 'D':
			return "describe"
		case 'E':
			return "execute"
		case 'S':
			return "sync"
		case 'X':
			return "end"
		}
		return string(m.kind())
	}
	switch m.kind() {
	case 'E':
		return "error " + field(m, 'C') + " " + field(m, 'M')
	case 'C':
		text, _ := cString(m.body())
		return text
	case 'D':
		return "row"
	case 'T':
		return "columns"
	case 'Z':
		return "ready"
	case 'R':
		return "authenticated"
	}
	return string(m.kind())
}
