//go:build linux

package mariadb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// packet is a packet of the protocol, with its length and number.
type packet []byte

// number is its number in the exchange.
func (p packet) number() byte { return p[3] }

// body is what follows length and number.
func (p packet) body() []byte { return p[4:] }

// head is the first byte of the body; 0xff, which begins an error, for one that is empty.
func (p packet) head() byte {
	if len(p) < 5 {
		return 0xff
	}
	return p[4]
}

// next cuts the first whole packet off b. ok is false if there is none yet.
func next(b []byte) (p packet, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, b, false
	}
	n := 4 + (int(b[0]) | int(b[1])<<8 | int(b[2])<<16)
	if len(b) < n {
		return nil, b, false
	}
	return packet(b[:n:n]), b[n:], true
}

// framed is a packet with this body.
func framed(number byte, body ...byte) packet {
	n := len(body)
	return append(packet{byte(n), byte(n >> 8), byte(n >> 16), number}, body...)
}

// The commands of clients.
const (
	comQuit    = 0x01
	comInitDB  = 0x02
	comQuery   = 0x03
	comPing    = 0x0e
	comPrepare = 0x16
	comExecute = 0x17
	comLong    = 0x18
	comClose   = 0x19
	comReset   = 0x1a
	comFetch   = 0x1c
	comForget  = 0x1f // what there is of the session
)

// silent reports whether a command has no answer.
func silent(command byte) bool {
	return command == comQuit || command == comLong || command == comClose
}

// The abilities of a client, and the states of a session, that matter here.
const (
	withDatabase   = 1 << 3
	withTLS        = 1 << 11
	withAttributes = 1 << 20
	withLongAuth   = 1 << 21
	withoutEOF     = 1 << 24

	inTransaction = 1 << 0
	moreResults   = 1 << 3
)

// lenenc cuts a number of variable length off b.
func lenenc(b []byte) (n uint64, rest []byte, err error) {
	size := 0
	if len(b) == 0 {
		return 0, nil, errShort
	}
	switch b[0] {
	case 0xfc:
		size = 2
	case 0xfd:
		size = 3
	case 0xfe:
		size = 8
	default:
		return uint64(b[0]), b[1:], nil
	}
	if len(b) < 1+size {
		return 0, nil, errShort
	}
	var wide [8]byte
	copy(wide[:], b[1:1+size])
	return binary.LittleEndian.Uint64(wide[:]), b[1+size:], nil
}

var errShort = errors.New("a packet of MariaDB is too short")

// hidden is the greeting of a server without what differs between equal runs: the id of the connection, and the bytes
// that passwords are mixed with, which are ones. id is what the client is told.
func hidden(greeting packet, id int32) (packet, uint32, error) {
	p := packet(bytes.Clone(greeting))
	_, after, ok := bytes.Cut(p.body()[1:], []byte{0})
	if !ok || len(after) < 32 {
		return nil, 0, errShort
	}
	real := binary.LittleEndian.Uint32(after)
	binary.LittleEndian.PutUint32(after, uint32(id))
	for i := 4; i < 12; i++ {
		after[i] = 1
	}
	length := max(13, int(after[4+8+1+2+1+2+2])-8)
	rest := after[4+8+1+2+1+2+2+1+10:]
	for i := range min(length, len(rest)) - 1 {
		rest[i] = 1
	}
	return p, real, nil
}

// plain is the answer of a client to the greeting without its attributes, which have facts of the machine, such as the
// id of its process.
func plain(p packet) packet {
	b := p.body()
	if len(b) < 32 {
		return p
	}
	flags := binary.LittleEndian.Uint32(b)
	if flags&withAttributes == 0 {
		return p
	}
	at := 32
	text := func() { // that ends with a zero byte
		if i := bytes.IndexByte(b[min(at, len(b)):], 0); i >= 0 {
			at += i + 1
		} else {
			at = len(b)
		}
	}
	text()
	if at >= len(b) {
		return p
	}
	if flags&withLongAuth != 0 {
		n, rest, err := lenenc(b[at:])
		if err != nil {
			return p
		}
		at = len(b) - len(rest) + int(n)
	} else {
		at += 1 + int(b[at])
	}
	if flags&withDatabase != 0 {
		text()
	}
	text() // the name of the way to authenticate
	body := bytes.Clone(b[:min(at, len(b))])
	binary.LittleEndian.PutUint32(body, flags&^withAttributes)
	return framed(p.number(), body...)
}

// failure is an error that the server has sent.
type failure struct {
	code    uint16
	state   string
	message string
}

// Error implements [error].
func (f *failure) Error() string { return fmt.Sprintf("%d (%s) %s", f.code, f.state, f.message) }

func asFailure(b []byte) *failure {
	f := &failure{}
	if len(b) >= 3 {
		f.code = binary.LittleEndian.Uint16(b[1:])
		f.message = string(b[3:])
	}
	if len(f.message) >= 6 && f.message[0] == '#' {
		f.state, f.message = f.message[1:6], f.message[6:]
	}
	return f
}

// reply is the answer to a command.
type reply struct {
	failure  *failure
	affected uint64
	status   uint16
	rows     [][]byte // as they were sent
	selected bool     // it has rows, if only none
	prepared uint32   // the number of a statement
}

// state reads what an OK packet says, after its first byte.
func (r *reply) state(b []byte) error {
	affected, b, err := lenenc(b)
	if err != nil {
		return err
	}
	if _, b, err = lenenc(b); err != nil || len(b) < 2 {
		return errShort
	}
	r.affected, r.status = affected, binary.LittleEndian.Uint16(b)
	return nil
}

// parse reads the answer to a command; of one with several results what the last says. ok is false if it is not whole.
func parse(b []byte, command byte, eof bool) (r reply, rest []byte, ok bool, err error) {
	for {
		p, after, whole := next(b)
		if !whole {
			return r, b, false, nil
		}
		b = after
		switch head := p.head(); {
		case head == 0xff:
			r.failure = asFailure(p.body())
			return r, b, true, nil
		case head == 0 && command == comPrepare:
			body := p.body()
			if len(body) < 9 {
				return r, b, true, errShort
			}
			r.prepared = binary.LittleEndian.Uint32(body[1:])
			columns, parameters := binary.LittleEndian.Uint16(body[5:]), binary.LittleEndian.Uint16(body[7:])
			for _, n := range []uint16{parameters, columns} {
				if n > 0 && eof {
					n++
				}
				for range n {
					if _, b, whole = next(b); !whole {
						return r, b, false, nil
					}
				}
			}
			return r, b, true, nil
		case head == 0:
			err = r.state(p.body()[1:])
		case head == 0xfe && len(p.body()) < 9: // another way to authenticate
			return r, b, true, nil
		default:
			b, whole, err = r.result(p, b, eof)
			if !whole {
				return r, b, false, nil
			}
		}
		if err != nil || r.status&moreResults == 0 {
			return r, b, true, err
		}
	}
}

// result reads rows: their columns, and the packets up to the end.
func (r *reply) result(first packet, b []byte, eof bool) (rest []byte, whole bool, err error) {
	columns, more, err := lenenc(first.body())
	if err != nil {
		return b, true, err
	}
	switch {
	case len(more) == 1 && more[0] == 0: // the client has them from the answer to its PREPARE
		columns = 0
	case eof:
		columns++
	}
	for range columns {
		if _, b, whole = next(b); !whole {
			return b, false, nil
		}
	}
	r.selected = true
	for {
		p, after, whole := next(b)
		if !whole {
			return b, false, nil
		}
		b = after
		switch body := p.body(); {
		case p.head() == 0xff:
			r.failure = asFailure(body)
			r.status = 0
			return b, true, nil
		case p.head() == 0xfe && eof && len(body) < 9:
			r.status = binary.LittleEndian.Uint16(body[3:])
			return b, true, nil
		case p.head() == 0xfe && !eof && len(p) < 1<<24:
			affected := r.affected
			err := r.state(body[1:])
			r.affected = affected
			return b, true, err
		default:
			r.rows = append(r.rows, body)
		}
	}
}

// text are the values of a row, as the server sends them to those who have not prepared the statement. NULL is "".
func text(row []byte) (all []string, err error) {
	for len(row) > 0 {
		if row[0] == 0xfb {
			all, row = append(all, ""), row[1:]
			continue
		}
		n, rest, err := lenenc(row)
		if err != nil || uint64(len(rest)) < n {
			return nil, errShort
		}
		all, row = append(all, string(rest[:n])), rest[n:]
	}
	return all, nil
}

// login is the answer of a client without a password to the greeting.
func login(user, database string) packet {
	const flags = 1 | withDatabase | 1<<9 | 1<<13 | 1<<15 | 1<<19 // the protocol of version 4.1, and authentication
	body := binary.LittleEndian.AppendUint32(nil, flags)
	body = binary.LittleEndian.AppendUint32(body, 1<<24-1)
	body = append(body, 45) // utf8mb4
	body = append(body, make([]byte, 23)...)
	body = append(body, user...)
	body = append(body, 0, 0) // no password
	body = append(body, database...)
	body = append(body, 0)
	body = append(body, "mysql_native_password"...)
	return framed(1, append(body, 0)...)
}

// words are the text of a statement without more than one space in a row.
func words(statement string) string { return strings.Join(strings.Fields(statement), " ") }
