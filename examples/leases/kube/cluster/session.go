package cluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"locksim/sim"
	"locksim/sim/trace"
)

// Accept implements [sim.Server].
func (a *apiServer) Accept(c *sim.ServerConn) sim.Session { return &session{server: a, conn: c} }

// Describe implements [sim.Describer].
func (*apiServer) Describe(_ sim.Direction, b []byte) trace.Content { return message(b) }

// session is a connection with HTTP/1.1: one request after another.
type session struct {
	server *apiServer
	conn   *sim.ServerConn
	in     []byte
	now    *work // nil between two requests
}

// Data implements [sim.Session].
func (s *session) Data(b []byte) {
	s.in = append(s.in, b...)
	s.next()
}

// next begins the next request that has arrived whole.
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
		s.server.node.Fail(fmt.Errorf("%s read a request that is not HTTP/1.1: %w", s.server.node.Name(), err))
		return
	}
	s.in = s.in[len(s.in)-left.Len()-r.Buffered():]
	s.serve(q, body)
}

// serve carries out a request.
func (s *session) serve(q *http.Request, body []byte) {
	asked := call{head: q.Method + " " + q.URL.Path, body: body}
	w := &work{apiServer: s.server, client: s.conn.Client()}
	var known bool
	if w.request, known = read(q, body); known {
		asked.head = q.Method + " " + w.key
		if w.cached {
			asked.head += " from the cache"
		}
	}
	var what trace.Content = asked
	if !known {
		what = unknown{asked}
	}
	w.answer = func(code int, body runtime.Object) {
		s.now = nil
		s.reply(what, code, body, q.Header.Get("Accept"))
		s.next()
	}
	s.now = w
	if !known {
		w.fail(apierrors.NewMethodNotSupported(resource, q.Method))
		return
	}
	w.begin()
}

// reply adds the answer to the trace, and sends it.
func (s *session) reply(asked trace.Content, code int, body runtime.Object, accept string) {
	text, form, err := encode(body, accept)
	if err != nil {
		s.server.node.Fail(fmt.Errorf("write an answer: %w", err))
		return
	}
	said := answer{call{head: fmt.Sprint(code, " ", http.StatusText(code)), body: text}, code}
	s.server.node.Record(s.conn.Client(), trace.Exec{Conn: s.conn.Name(), Request: asked, Answer: said})
	h := http.Header{"Content-Type": {form}}
	if code == http.StatusTooManyRequests {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	var out bytes.Buffer
	r := http.Response{StatusCode: code, ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text))}
	if err := r.Write(&out); err != nil {
		s.server.node.Fail(fmt.Errorf("write an answer: %w", err))
		return
	}
	s.conn.Send(out.Bytes())
}

// EOF implements [sim.Session]: the client has gone, and what it asked for is not begun any more.
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
