//go:build linux

package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"locksim/internal/child"
	"locksim/lock"
	"locksim/sim/store"
)

// frame is what one process says to the other, as a line of JSON.
type frame struct {
	// ID identifies a request and its reply; 0 is a notice, which has no reply.
	ID int64 `json:"id,omitempty"`
	// Kind is what is asked for. "" is a reply.
	Kind string `json:"kind,omitempty"`
	// At is the instant of the sender, by the clock of the machine.
	At int64 `json:"at"`
	// Ended says that the context of the request was cancelled before it was made.
	Ended bool `json:"ended,omitempty"`
	// Body is what is asked or answered, Problem the error of an answer.
	Body    json.RawMessage `json:"body,omitempty"`
	Problem *problem        `json:"problem,omitempty"`
}

// kindCancel ends the context of the request whose ID it has.
const kindCancel = "cancel"

// errEnded is returned for a request to a process that has ended.
var errEnded = errors.New("the process has ended")

// link carries requests in both directions. Its methods are safe for concurrent use.
type link struct {
	serve func(ctx context.Context, f frame) (any, error)

	out *child.Writer

	mu      sync.Mutex
	last    int64
	open    map[int64]chan frame
	cancels map[int64]context.CancelFunc // of the requests that this side serves
	ended   chan struct{}
}

// newLink makes a link that serves requests and notices of the other side with serve: a request on a goroutine of its
// own, a notice in order.
func newLink(out *child.Writer, serve func(ctx context.Context, f frame) (any, error)) *link {
	return &link{serve: serve, out: out, open: map[int64]chan frame{},
		cancels: map[int64]context.CancelFunc{}, ended: make(chan struct{})}
}

// read reads what the other side says until it ends.
func (l *link) read(in *child.Reader) {
	defer l.end()
	for {
		var f frame
		if in.Read(&f) != nil {
			return
		}
		switch {
		case f.Kind == "":
			l.mu.Lock()
			answer := l.open[f.ID]
			delete(l.open, f.ID)
			l.mu.Unlock()
			if answer != nil {
				answer <- f
			}
		case f.Kind == kindCancel:
			l.mu.Lock()
			cancel := l.cancels[f.ID]
			l.mu.Unlock()
			if cancel != nil {
				cancel()
			}
		case f.ID == 0:
			_, _ = l.serve(context.Background(), f)
		default:
			ctx, cancel := context.WithCancel(context.Background())
			if f.Ended {
				cancel()
			}
			l.mu.Lock()
			l.cancels[f.ID] = cancel
			l.mu.Unlock()
			go l.answer(ctx, f)
		}
	}
}

// answer serves a request.
func (l *link) answer(ctx context.Context, f frame) {
	body, err := l.serve(ctx, f)
	at := monotonic()
	l.mu.Lock()
	cancel := l.cancels[f.ID]
	delete(l.cancels, f.ID)
	l.mu.Unlock()
	cancel()
	reply := frame{ID: f.ID, At: at, Problem: problemOf(err)}
	if body != nil {
		reply.Body = encode(body)
	}
	_ = l.send(reply)
}

// encode is a value as JSON. The values are structs of this package.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("live: a %T is not JSON: %v", v, err))
	}
	return b
}

func decode[T any](f frame) (v T, err error) {
	if len(f.Body) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(f.Body, &v); err != nil {
		return v, fmt.Errorf("live: %s of another process: %w", f.Kind, err)
	}
	return v, nil
}

func (l *link) send(f frame) error { return l.out.Write(f) }

// notify says something that needs no reply.
func (l *link) notify(kind string, body any) {
	_ = l.send(frame{Kind: kind, At: monotonic(), Body: encode(body)})
}

func (l *link) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.ended:
		return
	default:
	}
	close(l.ended)
	for _, cancel := range l.cancels {
		cancel()
	}
}

// call makes a request and waits for its reply, also after ctx has ended: then the other side is told, and the reply
// says what came of it. It returns the instant at which the other side had its answer. The error is that of the
// request, or errEnded.
func (l *link) call(ctx context.Context, kind string, request, answer any) (at int64, err error) {
	reply := make(chan frame, 1)
	l.mu.Lock()
	l.last++
	id := l.last
	l.open[id] = reply
	l.mu.Unlock()
	f := frame{ID: id, Kind: kind, At: monotonic(), Ended: errors.Is(ctx.Err(), context.Canceled)}
	if request != nil {
		f.Body = encode(request)
	}
	if l.send(f) != nil {
		return 0, errEnded
	}
	stop := context.AfterFunc(ctx, func() { _ = l.send(frame{ID: id, Kind: kindCancel, At: monotonic()}) })
	defer stop()
	select {
	case f = <-reply:
	case <-l.ended:
		select {
		case f = <-reply: // it came before the end
		default:
			return 0, errEnded
		}
	}
	if answer != nil && len(f.Body) > 0 {
		if err := json.Unmarshal(f.Body, answer); err != nil {
			return f.At, fmt.Errorf("live: the answer to %s: %w", kind, err)
		}
	}
	return f.At, f.Problem.err()
}

// problem is an error on its way to another process: its text, which of the known errors it is, and what it wraps.
type problem struct {
	Text  string     `json:"text"`
	Known string     `json:"known,omitempty"`
	Wraps []*problem `json:"wraps,omitempty"`
}

// known are the errors that package play, and the locks, compare with.
var known = map[string]error{
	"not-held": lock.ErrNotHeld, "outcome-unknown": lock.ErrOutcomeUnknown, "no-quorum": lock.ErrNoQuorum,
	"extension-limit": lock.ErrExtensionLimit, "taken": lock.ErrTaken, "lost": lock.ErrLost,
	"canceled": context.Canceled, "deadline": context.DeadlineExceeded, "unsupported": errors.ErrUnsupported,
	"refused": store.ErrRefused, "store-unknown": store.ErrUnknownOutcome, "ended": errEnded,
}

// problemOf is an error as it is sent.
func problemOf(err error) *problem {
	if err == nil {
		return nil
	}
	p := &problem{Text: err.Error()}
	for name, k := range known {
		if err == k { //nolint:errorlint // what it wraps comes below
			p.Known = name
			return p
		}
	}
	switch e := err.(type) { //nolint:errorlint // it looks at each error of the tree
	case interface{ Unwrap() error }:
		if inner := problemOf(e.Unwrap()); inner != nil {
			p.Wraps = append(p.Wraps, inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if inner != nil {
				p.Wraps = append(p.Wraps, problemOf(inner))
			}
		}
	}
	return p
}

func (p *problem) err() error {
	switch {
	case p == nil:
		return nil
	case known[p.Known] != nil:
		return known[p.Known]
	case len(p.Wraps) == 0:
		return errors.New(p.Text)
	}
	inner := make([]error, len(p.Wraps))
	for i, w := range p.Wraps {
		inner[i] = w.err()
	}
	if len(inner) == 1 {
		return sentError{p.Text, inner[0]}
	}
	return sentErrors{p.Text, inner}
}

// sentError is an error of another process that wraps one.
type sentError struct {
	text  string
	inner error
}

func (e sentError) Error() string { return e.text }
func (e sentError) Unwrap() error { return e.inner }

// sentErrors is one that wraps several.
type sentErrors struct {
	text  string
	inner []error
}

func (e sentErrors) Error() string   { return e.text }
func (e sentErrors) Unwrap() []error { return e.inner }
