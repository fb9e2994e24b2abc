//go:build linux

package mariadb

import (
	"fmt"
	"strings"

	"locksim/sim"
	"locksim/sim/trace"
)

// Piece is what one side sends in one instant: its packets in words.
type Piece []string

// AppendText appends the packets.
func (p Piece) AppendText(b []byte) []byte { return append(b, strings.Join(p, ", ")...) }

// AppendHash implements [trace.Content].
func (p Piece) AppendHash(b []byte) []byte { return p.AppendText(b) }

// Words implements [trace.Worded].
func (p Piece) Words() []string { return p }

// Kind implements [trace.Kinded].
func (p Piece) Kind() string { return strings.Join(p, ", ") }

// Brief implements [trace.Request].
func (p Piece) Brief(trace.Content) string { return strings.Join(p, ", ") }

// Unknown implements [trace.Asking]: a function or a part of the language that the server does not have.
func (p Piece) Unknown(answer trace.Content) string {
	said, ok := answer.(Piece)
	if !ok {
		return ""
	}
	for _, word := range said {
		for _, code := range []string{"1064 ", "1128 ", "1305 ", "1235 "} { // syntax, function (twice), not supported yet
			if message, ok := strings.CutPrefix(word, "error "+code); ok {
				return "MariaDB does not know: " + message
			}
		}
	}
	return ""
}

// describe describes the bytes of one side. Values of rows and of arguments are left out: they are in the events of the
// server.
func describe(dir sim.Direction, b []byte) Piece {
	var all []string
	rows := 0
	for len(b) > 0 {
		p, rest, ok := next(b)
		if !ok {
			all = append(all, fmt.Sprintf("a piece of %d bytes", len(b)))
			break
		}
		b = rest
		switch {
		case dir == sim.Up && p.number() > 0:
			all = append(all, "login")
		case dir == sim.Up:
			all = append(all, command(p))
		case p.number() == 0 && p.head() == 10:
			all = append(all, "greeting")
		case p.number() == 0 || p.head() == 0xff:
			all = append(all, "error "+asFailure(p.body()).short())
		case p.number() == 1 && p.head() == 0:
			all = append(all, "ok")
		case p.number() == 1:
			all = append(all, "rows")
		default:
			rows++
		}
	}
	if rows > 0 {
		all = append(all, fmt.Sprintf("%d packets", rows))
	}
	return all
}

func (f *failure) short() string { return fmt.Sprintf("%d %s", f.code, f.message) }

// command is a packet of a client in words.
func command(p packet) string {
	if len(p) < 5 {
		return "nothing"
	}
	switch p.head() {
	case comQuery:
		return words(string(p.body()[1:]))
	case comPrepare:
		return "prepare " + words(string(p.body()[1:]))
	case comExecute:
		return "execute"
	case comClose:
		return "close"
	case comPing:
		return "ping"
	case comQuit:
		return "end"
	case comInitDB:
		return "USE " + string(p.body()[1:])
	case comForget:
		return "reset connection"
	}
	return fmt.Sprintf("command %d", p.head())
}

// said is an answer in words.
func (r reply) said() trace.Content {
	switch {
	case r.failure != nil:
		return Piece{"error " + r.failure.short()}
	case r.selected && len(r.rows) == 1:
		return trace.Text("1 row")
	case r.selected:
		return trace.Text(fmt.Sprintf("%d rows", len(r.rows)))
	case r.prepared != 0:
		return trace.Text("prepared")
	case r.affected > 0:
		return trace.Text(fmt.Sprintf("ok, %d affected", r.affected))
	}
	return trace.Text("ok")
}
