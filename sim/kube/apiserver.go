package kube

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	coordination "k8s.io/api/coordination/v1"
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
	// watchTimeout is after how long it ends a watch that names no time (--min-request-timeout).
	watchTimeout = 30 * time.Minute
	// freshTimeout is for how long a read waits for the cache.
	freshTimeout = 3 * time.Second
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
	made    int       // numbers the objects that it makes

	memory // of its process
}

// memory is what an API server loses when its process ends.
type memory struct {
	life    int // the number of the process
	cache   map[string]*object
	changes []change // that the cache has followed, since it had all leases
	since   int64    // the revision of the store at which it had them
	watches []*watch
	waiting []waiting
}

func newAPIServer(n *sim.Node) *apiServer {
	return &apiServer{node: n, memory: memory{cache: map[string]*object{}}}
}

// change is a change of the store: what is there now, or the last of what was deleted.
type change struct {
	key      string
	revision int64
	now      *object // with the revision as its version
	was      *object // nil for a lease that is new
	deleted  bool
}

// follow puts a change of the store into the cache, and tells those who watch.
func (a *apiServer) follow(c change) {
	if c.revision <= a.revision() {
		return // all leases came after it was sent
	}
	if a.cache[c.key] = c.now; c.deleted {
		delete(a.cache, c.key)
	}
	a.changes = append(a.changes, c)
	for _, w := range a.watches {
		w.tell(c)
	}
	a.proceed()
}

// revision is up to which change of the store the cache has followed it.
func (a *apiServer) revision() int64 {
	if n := len(a.changes); n > 0 {
		return a.changes[n-1].revision
	}
	return a.since
}

// begin has all leases, as of a revision of the store. Watches end: they have missed what happened meanwhile.
func (a *apiServer) begin(all map[string]*object, revision int64) {
	watches := a.watches
	a.cache, a.changes, a.since, a.watches = all, nil, revision, nil
	for _, w := range watches {
		w.exchange.End()
	}
	a.proceed()
}

// Crash implements [sim.Crasher].
func (a *apiServer) Crash(faults.CrashMode) {
	a.memory = memory{life: a.life + 1, cache: map[string]*object{}}
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
	number   int           // of the object that it makes
	tries    int           // how often the change was made
}

// carry carries it out, within its time.
func (w *work) carry() {
	if w.verb != verbWatch {
		w.node.After(w.limit, func() {
			w.fail(apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0))
		})
	}
	switch {
	case w.node.Refused(faults.ReplyThrottled):
		w.fail(apierrors.NewTooManyRequests("Too many requests, please try again later.", retryAfter))
	case w.node.Refused(faults.ReplyInternal):
		w.fail(apierrors.NewInternalError(errors.New("the server is in trouble")))
	case w.writes() && w.node.Refused(faults.ReplyConflict):
		w.fail(w.conflict())
	case w.verb == verbWatch && w.from != "":
		w.watch()
	case w.verb == verbWatch: // from now on
		w.ask(func(*store) (then func()) { return w.watch })
	case w.from != "":
		w.fresh()
	case w.verb == verbList:
		w.ask(func(s *store) (then func()) {
			all, revision := maps.Clone(s.disk), s.revision
			return func() { w.list(all, revision) }
		})
	default:
		w.made++
		w.number = w.made
		w.ask(func(s *store) (then func()) {
			o := s.get(w.key())
			return func() {
				if w.verb == verbGet {
					w.found(o)
				} else {
					w.change(o)
				}
			}
		})
	}
}

// fresh answers a read from the cache, once that has followed the store as far as the read wants.
func (w *work) fresh() {
	from, err := strconv.ParseInt(w.from, 10, 64)
	if err != nil {
		w.fail(apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: %q", w.from)))
		return
	}
	answer := func() {
		if w.verb == verbList {
			w.list(w.cache, w.revision())
		} else {
			w.found(w.cache[w.key()])
		}
	}
	if from <= w.revision() {
		answer()
		return
	}
	w.waiting = append(w.waiting, waiting{from, answer})
	w.node.After(freshTimeout, func() {
		w.fail(apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", from, w.revision()), 1))
	})
}

// waiting is a read that waits for the cache.
type waiting struct {
	from   int64
	answer func()
}

// proceed answers the reads for which the cache is fresh enough now.
func (a *apiServer) proceed() {
	waits := a.waiting
	a.waiting = nil
	for _, w := range waits {
		if w.from <= a.revision() {
			w.answer()
		} else {
			a.waiting = append(a.waiting, w)
		}
	}
}

// writes reports whether a request may change something.
func (r request) writes() bool { return r.verb != verbGet && r.verb != verbList && r.verb != verbWatch }

// asksFor reports whether a list or a watch is about a lease.
func (r request) asksFor(o *object) bool {
	return (r.namespace == "" || r.namespace == o.lease.Namespace) && (r.name == "" || r.name == o.lease.Name)
}

// list answers with all leases that are asked for.
func (w *work) list(all map[string]*object, revision int64) {
	found := &coordination.LeaseList{
		TypeMeta: meta.TypeMeta{APIVersion: coordination.SchemeGroupVersion.String(), Kind: "LeaseList"},
		ListMeta: meta.ListMeta{ResourceVersion: strconv.FormatInt(revision, 10)}, Items: []coordination.Lease{},
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if o := all[key]; w.asksFor(o) {
			found.Items = append(found.Items, *o.lease)
		}
	}
	if w.most > 0 && len(found.Items) > w.most { // it would go on with another request
		w.what = unknown{call{head: fmt.Sprint("a list in pieces of ", w.most)}}
		w.fail(apierrors.NewMethodNotSupported(resource, http.MethodGet))
		return
	}
	w.end(http.StatusOK, found)
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
	l, err := w.next(w.node, before, w.number)
	if w.tries++; err == nil && w.tries > attempts {
		err = w.conflict()
	}
	if err != nil {
		w.fail(err)
		return
	}
	if l != nil {
		w.name = l.Name // it may be generated
	}
	w.admit(func() {
		if w.dry || before != nil && l == before.lease { // what changes nothing is not written
			w.done(before, l)
			return
		}
		w.ask(func(s *store) (then func()) {
			now, written := s.put(w.key(), version(before), l, w.exchange.Conn.Client(), w.node.Name())
			return func() {
				switch {
				case !written:
					w.change(now)
				case l == nil:
					w.done(before, nil)
				default:
					w.done(before, now.lease)
				}
			}
		})
	})
}

// done answers a change, from what was there to what is.
func (w *work) done(before *object, now *coordination.Lease) {
	switch {
	case before == nil:
		w.end(http.StatusCreated, now)
	case now == nil:
		w.end(http.StatusOK, &meta.Status{
			TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: meta.StatusSuccess,
			Details: &meta.StatusDetails{
				Name: w.name, Group: resource.Group, Kind: resource.Resource, UID: before.lease.UID,
			},
		})
	default:
		w.end(http.StatusOK, now)
	}
}

// admit goes on when the webhook has answered.
func (w *work) admit(then func()) {
	if w.webhook == nil || w.verb == verbDelete { // its rules name CREATE and UPDATE
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
