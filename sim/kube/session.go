package kube

import (
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"locksim/sim"
	"locksim/sim/httpserver"
	"locksim/sim/trace"
)

// Accept implements [sim.Server].
func (a *apiServer) Accept(c *sim.ServerConn) sim.Session {
	return httpserver.Accept(a.node, c, a.serve)
}

// Describe implements [sim.Describer].
func (*apiServer) Describe(_ sim.Direction, b []byte) trace.Content { return message(b) }

// serve carries out a request.
func (a *apiServer) serve(x *httpserver.Exchange) {
	q := x.Request
	asked := call{head: q.Method + " " + q.URL.Path, body: x.Body}
	w := &work{apiServer: a, exchange: x}
	known := false
	if w.request, known = read(q, x.Body); !known {
		w.what = unknown{asked}
		w.fail(apierrors.NewMethodNotSupported(resource, q.Method))
		return
	}
	asked.head = q.Method + " " + w.key
	if w.cached {
		asked.head += " from the cache"
	}
	w.what = asked
	w.begin()
}

// end adds the answer to the trace, and sends it, unless the request was answered, or its client has gone.
func (w *work) end(code int, body runtime.Object) {
	x := w.exchange
	if x.Over() {
		return
	}
	text, form, err := encode(body, x.Request.Header.Get("Accept"))
	if err != nil {
		w.node.Fail(fmt.Errorf("write an answer: %w", err))
		return
	}
	said := answer{call{head: fmt.Sprint(code, " ", http.StatusText(code)), body: text}, code}
	w.node.Record(x.Conn.Client(), trace.Exec{Conn: x.Conn.Name(), Request: w.what, Answer: said})
	h := http.Header{"Content-Type": {form}}
	if code == http.StatusTooManyRequests {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	x.Answer(code, h, text)
}
