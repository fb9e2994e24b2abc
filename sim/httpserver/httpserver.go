// Package httpserver is a server's end of a connection with HTTP/1.1 in a simulated world. One request after another
// goes to the server, which answers it at once or later. It runs on the world's goroutine.
package httpserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"locksim/sim"
)

// Accept is the session of a connection of a node. serve gets each request when it has arrived whole and the one
// before it is answered. Bytes that are not HTTP/1.1 end the run with an error.
func Accept(node *sim.Node, conn *sim.ServerConn, serve func(*Exchange)) sim.Session {
	return &session{node: node, conn: conn, serve: serve}
}

// Exchange is a request, and the way to answer it.
type Exchange struct {
	// Request is the request without its body, which is Body.
	Request *http.Request
	Body    []byte
	// Conn is the connection.
	Conn *sim.ServerConn

	session *session
	over    bool
}

// Over reports whether the request was answered, or its client has gone.
func (x *Exchange) Over() bool { return x.over }

// Answer sends the answer, and lets the next request begin. A second answer, and one to a client that has gone, is
// dropped.
func (x *Exchange) Answer(code int, header http.Header, body []byte) {
	if x.over {
		return
	}
	x.over, x.session.now = true, nil
	var out bytes.Buffer
	r := http.Response{StatusCode: code, ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}
	if err := r.Write(&out); err != nil {
		x.session.node.Fail(fmt.Errorf("write an answer of %s: %w", x.session.node.Name(), err))
		return
	}
	x.Conn.Send(out.Bytes())
	x.session.next()
}

// Begin begins an answer whose parts [Exchange.Part] sends, until [Exchange.End]. The next request waits for it.
func (x *Exchange) Begin(code int, header http.Header) {
	if x.over {
		return
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", code, http.StatusText(code))
	header = header.Clone()
	header.Set("Transfer-Encoding", "chunked")
	_ = header.Write(&out) // to memory
	out.WriteString("\r\n")
	x.Conn.Send(out.Bytes())
}

// Part sends a part of an answer that has begun. One to a client that has gone is dropped.
func (x *Exchange) Part(body []byte) {
	if !x.over && len(body) > 0 {
		x.Conn.Send(fmt.Appendf(nil, "%x\r\n%s\r\n", len(body), body))
	}
}

// End ends an answer that has begun.
func (x *Exchange) End() {
	if x.over {
		return
	}
	x.over, x.session.now = true, nil
	x.Conn.Send([]byte("0\r\n\r\n"))
	x.session.next()
}

type session struct {
	node  *sim.Node
	conn  *sim.ServerConn
	serve func(*Exchange)
	in    []byte
	now   *Exchange // nil between two requests
}

// Data implements [sim.Session].
func (s *session) Data(b []byte) {
	s.in = append(s.in, b...)
	s.next()
}

// next begins the next request, if it has arrived whole.
func (s *session) next() {
	if s.now != nil || !bytes.Contains(s.in, []byte("\r\n\r\n")) {
		return
	}
	left := bytes.NewReader(s.in)
	r := bufio.NewReader(left)
	q, err := http.ReadRequest(r)
	var body []byte
	if err == nil {
		body, err = io.ReadAll(q.Body)
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return // the rest comes later
	case err != nil:
		s.node.Fail(fmt.Errorf("%s read a request that is not HTTP/1.1: %w", s.node.Name(), err))
		return
	}
	s.in = s.in[len(s.in)-left.Len()-r.Buffered():]
	s.now = &Exchange{Request: q, Body: body, Conn: s.conn, session: s}
	s.serve(s.now)
}

// EOF implements [sim.Session]. A request that has not begun is not served any more.
func (s *session) EOF() {
	s.leave()
	s.conn.Finish()
}

// Reset implements [sim.Session].
func (s *session) Reset() { s.leave() }

func (s *session) leave() {
	if s.now != nil {
		s.now.over = true
	}
	s.in = nil
}
