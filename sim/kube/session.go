package kube

import (
	"errors"
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
	asked := call{head: q.Method + " " + q.URL.RequestURI(), body: x.Body}
	w := &work{apiServer: a, exchange: x, what: asked}
	var err error
	w.request, err = read(q, x.Body)
	switch {
	case err == nil:
	case errors.Is(err, errNotServed):
		w.say(http.StatusMethodNotAllowed, "text/plain; charset=utf-8", []byte(err.Error()))
		return
	case errors.Is(err, errWatchList):
		w.fail(errWatchList)
		return
	default:
		w.what = unknown{asked}
		w.fail(apierrors.NewMethodNotSupported(resource, q.Method))
		return
	}
	asked.head = string(w.verb) + " " + w.key()
	if w.verb == verbCreate || w.verb == verbUpdate || w.verb == verbGet {
		asked.head = q.Method + " " + w.key()
	}
	if w.from != "" && w.verb != verbWatch {
		asked.head += " from the cache"
	}
	if w.dry {
		asked.head += ", dry"
	}
	w.what = asked
	w.carry()
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
	w.say(code, form, text)
}

// say adds an answer to the trace, and sends it.
func (w *work) say(code int, form string, text []byte) {
	x := w.exchange
	said := answer{call{head: fmt.Sprint(code, " ", http.StatusText(code)), body: text}, code}
	w.node.Record(x.Conn.Client(), trace.Exec{Conn: x.Conn.Name(), Request: w.what, Answer: said})
	h := http.Header{"Content-Type": {form}}
	if code == http.StatusTooManyRequests {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	x.Answer(code, h, text)
}
