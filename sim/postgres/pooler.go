//go:build linux

package postgres

import (
	"encoding/binary"
	"slices"

	"locksim/sim"
)

// pooler is a proxy between the clients and the server, as PgBouncer with pool_mode=transaction is one: the clients
// share one connection to the server, each has it for a transaction, and what a client has set in the session is there
// for the next. It is on the machine of the server, so that no time passes between them. It does not know about
// prepared statements: drivers have to use the simple protocol. It is the [client] of its backend.
type pooler struct {
	machine *machine
	server  *backend // nil before the first client, and after the end of its process
	hello   []byte   // what the server says to one that connects
	back    []byte   // of the server, not a whole message yet
	turn    *front   // whose transaction is under way; nil if there is none
	last    *front   // whose it was
	queue   []*front // those that wait for their turn, in the order of their requests
}

// front is the connection of a client to the proxy. It is a [sim.Session].
type front struct {
	pooler  *pooler
	conn    *sim.ServerConn
	in      []byte // not a whole request yet
	asked   []byte // requests that the server has not got
	started bool
	owed    int // answers that the server owes
	gone    bool
}

func (p *pooler) connect() bool {
	if p.server != nil {
		return true
	}
	p.server = p.machine.backend(p)
	if p.server == nil {
		return false
	}
	p.hello, p.back = nil, nil
	p.server.Data(startup("user", "locksim", "database", "postgres"))
	return p.server != nil
}

// Data implements [sim.Session].
func (f *front) Data(data []byte) {
	if f.gone {
		return
	}
	f.in = append(f.in, data...)
	for {
		msg, rest, ok := next(f.in, f.started)
		if !ok {
			break
		}
		f.in = rest
		switch {
		case f.started && msg.kind() != 'X':
			f.asked = append(f.asked, msg...)
			if msg.kind() == 'Q' || msg.kind() == 'S' {
				f.owed++
			}
		case f.started || len(msg) >= 8 && binary.BigEndian.Uint32(msg[4:]) == codeCancel:
			f.EOF()
			return
		case len(msg) >= 8 && binary.BigEndian.Uint32(msg[4:])>>16 != version3>>16:
			f.conn.Send([]byte{'N'}) // no TLS here
		default:
			if !f.pooler.connect() {
				f.EOF()
				return
			}
			f.started = true
			f.conn.Send(f.pooler.hello)
		}
	}
	if f.owed > 0 && f.pooler.turn != f && !slices.Contains(f.pooler.queue, f) {
		f.pooler.queue = append(f.pooler.queue, f)
	}
	f.pooler.serve()
}

// serve hands on the requests of the client whose turn it is, until a transaction goes on or none asks.
func (p *pooler) serve() {
	for {
		if p.turn == nil && len(p.queue) > 0 {
			p.turn, p.queue = p.queue[0], p.queue[1:]
			p.last = p.turn
		}
		f := p.turn
		switch {
		case f == nil || len(f.asked) == 0:
			return
		case !p.connect():
			f.EOF()
			return
		}
		asked := f.asked
		f.asked = nil
		p.server.Data(asked)
	}
}

// Client implements [client].
func (p *pooler) Client() string {
	if p.last == nil {
		return p.machine.node.Name()
	}
	return p.last.conn.Client()
}

// Name implements [client].
func (p *pooler) Name() string {
	if p.last == nil {
		return ""
	}
	return p.last.conn.Name()
}

// Send implements [client]: it hands the answer on, and ends the turn of a client whose transaction has ended.
func (p *pooler) Send(answer []byte) {
	f := p.turn
	if f == nil { // it says hello, or that it ends
		p.hello = append(p.hello, answer...)
		return
	}
	f.conn.Send(answer)
	p.back = append(p.back, answer...)
	for {
		msg, rest, ok := next(p.back, true)
		if !ok {
			return
		}
		p.back = rest
		if msg.kind() == 'Z' {
			f.owed--
			if f.owed <= 0 && msg.body()[0] == 'I' {
				p.turn = nil
			}
		}
	}
}

// Finish implements [client]: the process of the server has ended.
func (p *pooler) Finish() {
	p.server = nil
	if f := p.turn; f != nil {
		p.turn = nil
		f.conn.Finish()
	}
}

// EOF implements [sim.Session].
func (f *front) EOF() {
	if !f.gone {
		f.Reset()
		f.conn.Finish()
	}
}

// Reset implements [sim.Session]: a client in a transaction takes the connection to the server with it.
func (f *front) Reset() {
	f.gone = true
	p := f.pooler
	p.queue = slices.DeleteFunc(p.queue, func(o *front) bool { return o == f })
	if p.turn == f {
		p.turn = nil
		p.drop()
		p.machine.settle("")
		p.serve()
	}
}

// drop ends the connection to the server.
func (p *pooler) drop() {
	if s := p.server; s != nil {
		p.server = nil
		s.leave()
	}
}
