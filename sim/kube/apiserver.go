package kube

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/httpserver"
	"locksim/sim/trace"
)

// The times of an API server.
const (
	// requestTimeout is its --request-timeout. A client may ask for less, by the parameter timeout.
	requestTimeout = time.Minute
	// webhookTimeout is the default of timeoutSeconds of a webhook. Its failure policy is Fail, the default too.
	webhookTimeout = 10 * time.Second
	// retryAfter is for how many seconds it asks a client to wait that it has no room for.
	retryAfter = 1
	// attempts is how often it makes a change anew where the object has changed meanwhile.
	attempts = 5
)

// apiServer has no state but its cache.
type apiServer struct {
	node    *sim.Node
	store   *store
	webhook *sim.Node // nil for none
	life    int       // of its process
	cache   map[string]*object
}

func newAPIServer(n *sim.Node) *apiServer { return &apiServer{node: n, cache: map[string]*object{}} }

// follow puts a change of the store into the cache.
func (a *apiServer) follow(key string, o *object) {
	if before := a.cache[key]; before == nil || number(before) < number(o) {
		a.cache[key] = o
	}
}

// number is the resource version of an object as the store counts.
func number(o *object) int64 {
	n, _ := strconv.ParseInt(version(o), 10, 64)
	return n
}

// Crash implements [sim.Crasher].
func (a *apiServer) Crash(faults.CrashMode) {
	a.life++
	a.cache = map[string]*object{}
}

// Restart implements [sim.Restarter]: it lists all leases.
func (a *apiServer) Restart(int) { a.node.Peer(a.store.node).Send(func() { a.store.list(a) }) }

// ReplyErrors implements [sim.ErrorReplier].
func (a *apiServer) ReplyErrors() []faults.ReplyError { return faults.ReplyErrors(a.node.Name()) }

// work is a request that an API server carries out.
type work struct {
	*apiServer
	request
	exchange *httpserver.Exchange
	what     trace.Content // the request in the trace
	made     int           // how often the change was made
}

// begin carries it out, within its time.
func (w *work) begin() {
	w.node.After(w.limit, func() {
		w.fail(apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0))
	})
	switch {
	case w.node.Refused(faults.ReplyThrottled):
		w.fail(apierrors.NewTooManyRequests("Too many requests, please try again later.", retryAfter))
	case w.node.Refused(faults.ReplyInternal):
		w.fail(apierrors.NewInternalError(errors.New("the server is in trouble")))
	case w.method != http.MethodGet && w.node.Refused(faults.ReplyConflict):
		w.fail(w.conflict())
	case w.cached:
		w.found(w.cache[w.key])
	default:
		w.ask(func(s *store) (then func()) {
			o := s.get(w.key)
			return func() {
				if w.method == http.MethodGet {
					w.found(o)
				} else {
					w.change(o)
				}
			}
		})
	}
}

// ask lets the store do something, and this server go on with what it returns. The store does it also if the client has
// gone meanwhile, or this server.
func (w *work) ask(do func(s *store) (then func())) {
	life, there := w.life, w.store.node.Peer(w.node)
	w.node.Peer(w.store.node).Send(func() {
		then := do(w.store)
		there.Send(func() {
			if !w.exchange.Over() && life == w.life {
				then()
			}
		})
	})
}

// found answers a read.
func (w *work) found(o *object) {
	if o == nil {
		w.fail(apierrors.NewNotFound(resource, w.name))
		return
	}
	w.end(http.StatusOK, o.lease)
}

// change makes the change to what is there, lets the webhook look at it, and writes it. It begins anew if another
// change came first.
func (w *work) change(before *object) {
	l, err := w.next(w.node, before)
	if w.made++; err == nil && w.made > attempts {
		err = w.conflict()
	}
	if err != nil {
		w.fail(err)
		return
	}
	w.admit(func() {
		w.ask(func(s *store) (then func()) {
			now, written := s.put(w.key, version(before), l, w.exchange.Conn.Client(), w.node.Name())
			return func() {
				switch {
				case !written:
					w.change(now)
				case before == nil:
					w.end(http.StatusCreated, now.lease)
				default:
					w.end(http.StatusOK, now.lease)
				}
			}
		})
	})
}

// admit goes on when the webhook has answered.
func (w *work) admit(then func()) {
	if w.webhook == nil {
		then()
		return
	}
	if w.webhook.Down() {
		w.fail(apierrors.NewInternalError(errors.New(`failed calling webhook "leases.locksim": connection refused`)))
		return
	}
	life, back := w.life, w.webhook.Peer(w.node)
	late := w.node.After(webhookTimeout, func() {
		w.fail(apierrors.NewInternalError(errors.New(`failed calling webhook "leases.locksim": context deadline exceeded`)))
	})
	w.node.Peer(w.webhook).Send(func() {
		back.Send(func() {
			if late.Stop(); !w.exchange.Over() && life == w.life {
				then()
			}
		})
	})
}

func (w *work) fail(err *apierrors.StatusError) {
	s := err.Status()
	s.TypeMeta = meta.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.end(int(s.Code), &s)
}
