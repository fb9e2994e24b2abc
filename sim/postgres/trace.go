//go:build linux

package postgres

import (
	"encoding/binary"
	"fmt"
	"strings"

	"locksim/sim"
	"locksim/sim/trace"
)

// Waits is a backend that waits for a lock which another one holds.
type Waits struct {
	// Conn is its connection.
	Conn string
}

// Kind is "waits".
func (Waits) Kind() string { return "waits" }

// AppendText appends the connection.
func (w Waits) AppendText(b []byte) []byte {
	return append(append(b, w.Conn...), " waits for a lock"...)
}

// AppendHash implements [trace.What].
func (w Waits) AppendHash(b []byte) []byte { return append(b, w.Conn...) }

// Piece is what one side sends in one instant: the types of its messages.
type Piece struct{ text string }

// AppendText appends the messages in words.
func (p Piece) AppendText(b []byte) []byte { return append(b, p.text...) }

// AppendHash implements [trace.Content].
func (p Piece) AppendHash(b []byte) []byte { return append(b, p.text...) }

// Brief implements [trace.Request].
func (p Piece) Brief(trace.Content) string { return p.text }

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
	return Piece{strings.Join(words, ", ")}
}

// word is a message in words.
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
