package kube

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	events "k8s.io/apimachinery/pkg/watch"

	"locksim/sim/trace"
)

// watch is a watch that an API server has begun to answer, from its cache.
type watch struct {
	*work
	form string // the content type of its parts
}

// watch answers a watch: with all leases first, unless it names a version, and then with each change.
func (w *work) watch() {
	from := int64(0)
	if w.from != "" {
		n, err := strconv.ParseInt(w.from, 10, 64)
		if err != nil {
			w.fail(apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: %q", w.from)))
			return
		}
		from = n
	}
	if from != 0 && from < w.since {
		w.fail(apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", from, w.since)))
		return
	}
	s := &watch{work: w, form: streamed(w.exchange.Request.Header.Get("Accept"))}
	w.node.Record(w.exchange.Conn.Client(), trace.Exec{Conn: w.exchange.Conn.Name(), Request: w.what,
		Answer: answer{call{head: "200 OK, and what changes"}, http.StatusOK}})
	w.exchange.Begin(http.StatusOK, http.Header{"Content-Type": {s.form}})
	w.watches = append(w.watches, s)
	if from == 0 {
		for _, key := range slices.Sorted(maps.Keys(w.cache)) {
			if o := w.cache[key]; w.asksFor(o) {
				s.send(events.Added, o)
			}
		}
	} else {
		for _, c := range w.changes {
			if c.revision > from {
				s.tell(c)
			}
		}
	}
	life := w.life
	w.node.After(w.limit, func() {
		w.node.WhenServing(func() {
			if life == w.life {
				w.watches = slices.DeleteFunc(w.watches, func(o *watch) bool { return o == s })
				w.exchange.End()
			}
		})
	})
}

// tell sends a change to the client, if it has asked for it.
func (w *watch) tell(c change) {
	switch {
	case !w.asksFor(c.now):
	case c.deleted:
		w.send(events.Deleted, c.now)
	case c.was == nil:
		w.send(events.Added, c.now)
	default:
		w.send(events.Modified, c.now)
	}
}

func (w *watch) send(what events.EventType, o *object) {
	part, err := event(what, o, w.form)
	if err != nil {
		w.node.Fail(fmt.Errorf("write a part of a watch: %w", err))
		return
	}
	w.exchange.Part(part)
}

// streamed is the content type of the answer to a watch.
func streamed(accept string) string {
	if form := preferred(accept); form == runtime.ContentTypeProtobuf {
		return form + ";stream=watch"
	}
	return runtime.ContentTypeJSON
}

// event is a change as a watch has it, in its frame.
func event(what events.EventType, o *object, form string) ([]byte, error) {
	form = preferred(form)
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), form)
	if !ok || info.StreamSerializer == nil {
		return nil, fmt.Errorf("there is no stream of %s", form)
	}
	var inner, outer, framed bytes.Buffer
	if err := info.Serializer.Encode(o.lease, &inner); err != nil {
		return nil, err
	}
	whole := &meta.WatchEvent{Type: string(what), Object: runtime.RawExtension{Raw: inner.Bytes()}}
	if err := info.StreamSerializer.Encode(whole, &outer); err != nil {
		return nil, err
	}
	_, err := info.StreamSerializer.Framer.NewFrameWriter(&framed).Write(outer.Bytes())
	return framed.Bytes(), err
}
