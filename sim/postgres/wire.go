//go:build linux

package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/internal/dbworld"
)

// message is a message of the protocol, with its type and length. The first one of a client has no type.
type message []byte

// kind is the type.
func (m message) kind() byte { return m[0] }

// body is what follows type and length.
func (m message) body() []byte { return m[5:] }

// next cuts the first whole message off b. ok is false if there is none yet.
func next(b []byte, typed bool) (m message, rest []byte, ok bool) {
	at := 0
	if typed {
		at = 1
	}
	if len(b) < at+4 {
		return nil, b, false
	}
	n := at + int(binary.BigEndian.Uint32(b[at:]))
	if n < at+4 || len(b) < n {
		return nil, b, false
	}
	return message(b[:n:n]), b[n:], true
}

func typed(kind byte, body []byte) message {
	m := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))
	return append(m, body...)
}

// The codes in place of a version of the protocol, in a first message.
const (
	codeCancel = 80877102
	codeTLS    = 80877103
	codeGSS    = 80877104
	version3   = 3 << 16
)

// startup is the first message of a client with these parameters.
func startup(parameters ...string) message {
	body := binary.BigEndian.AppendUint32(nil, version3)
	for _, p := range parameters {
		body = append(append(body, p...), 0)
	}
	body = append(body, 0)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
}

// inOrder is a first message whose parameters are in the order of their names: drivers have them in a map.
func inOrder(m message) message {
	if len(m) < 9 || binary.BigEndian.Uint32(m[4:])>>16 != 3 {
		return m
	}
	words := strings.Split(strings.TrimRight(string(m[8:]), "\x00"), "\x00")
	if len(words)%2 != 0 {
		words = append(words, "")
	}
	var pairs [][2]string
	for i := 0; i < len(words); i += 2 {
		pairs = append(pairs, [2]string{words[i], words[i+1]})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	var parameters []string
	for _, p := range pairs {
		parameters = append(parameters, p[0], p[1])
	}
	return startup(parameters...)
}

// cString is the text up to the first zero byte, and what follows.
func cString(b []byte) (text string, rest []byte) {
	before, after, _ := bytes.Cut(b, []byte{0})
	return string(before), after
}

// field is a field of an error or a notice.
func field(m message, code byte) string {
	for b := m.body(); len(b) > 1; {
		c := b[0]
		text, rest := cString(b[1:])
		if c == code {
			return text
		}
		b = rest
	}
	return ""
}

// control is a connection for questions about the server. Its queries take no virtual time.
type control struct {
	socket   dbworld.Socket
	in       []byte
	prepared []string // statements: number i has the name q and i
}

func connect(path string) (*control, error) {
	s, err := dbworld.Dial(path)
	if err != nil {
		return nil, err
	}
	c := &control{socket: s}
	err = s.Write(startup("user", "locksim", "database", "postgres", "application_name", "locksim", "options",
		"-c plan_cache_mode=force_generic_plan"))
	if err == nil {
		_, err = c.answer()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return c, nil
}

func (c *control) query(statement string) (rows [][]string, err error) {
	if err := c.socket.Write(typed('Q', append([]byte(statement), 0))); err != nil {
		return nil, err
	}
	if rows, err = c.answer(); err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return rows, nil
}

// often is query for a statement that is asked time and again: to parse and to plan it takes the server far longer than
// to execute it. parameters are the values of its parameters.
func (c *control) often(statement string, parameters ...string) (rows [][]string, err error) {
	i := slices.Index(c.prepared, statement)
	if i < 0 {
		i = len(c.prepared)
		if _, err := c.query(fmt.Sprintf("PREPARE q%d AS %s", i, statement)); err != nil {
			return nil, err
		}
		c.prepared = append(c.prepared, statement)
	}
	execute := fmt.Sprintf("EXECUTE q%d", i)
	if len(parameters) > 0 {
		execute += "(" + strings.Join(parameters, ", ") + ")"
	}
	if rows, err = c.query(execute); err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return rows, nil
}

// answer reads up to the next ReadyForQuery.
func (c *control) answer() (rows [][]string, err error) {
	buffer := make([]byte, 16<<10)
	for {
		m, rest, ok := next(c.in, true)
		if !ok {
			n, failure := c.socket.Read(buffer)
			switch {
			case errors.Is(failure, dbworld.ErrIdle):
				c.socket.Wait(time.Second)
			case failure != nil:
				return nil, errors.Join(err, failure)
			}
			c.in = append(c.in, buffer[:n]...)
			continue
		}
		c.in = rest
		switch m.kind() {
		case 'D':
			rows = append(rows, values(m))
		case 'E':
			err = errors.New(field(m, 'M'))
		case 'Z':
			return rows, err
		}
	}
}

// values are those of a row.
func values(m message) (all []string) {
	count, b := int(binary.BigEndian.Uint16(m.body())), m.body()[2:]
	for range count {
		n := int(int32(binary.BigEndian.Uint32(b)))
		b = b[4:]
		if n < 0 {
			all = append(all, "")
			continue
		}
		all = append(all, string(b[:n]))
		b = b[n:]
	}
	return all
}
