// Package trace holds what a simulated world did: numbered events, their
// hash, and the comparison of two runs.
//
// A trace is a value. The world appends to it in one canonical order, so two
// runs of one seed have equal traces, byte for byte; [Diff] names the first
// event in which two traces part, and [Trace.Hash] is the short proof that
// they do not.
//
// The trace is what the world did. What the clients saw, operations with an
// invocation and a return, is the history, and is kept elsewhere.
package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
	"time"
	"unicode/utf8"
)

// Event is one thing that happened in a world.
type Event struct {
	// N numbers the events of a trace from 1, without gaps.
	N int
	// At is the virtual time since the start of the run.
	At time.Duration
	// Actor is who did it: a client (c0), a Redis node (r0), the store (s0),
	// or "world" for what is done to them from outside.
	Actor string
	// Kind says what happened in one word: send, recv, exec, pause, …
	Kind string
	// Peer is the other side, where there is one.
	Peer string
	// Text is the detail: the bytes sent, the command and its reply.
	Text string
}

// Trace is the list of events of one run. Its zero value is an empty trace.
// It is not safe for concurrent use while events are added.
type Trace struct {
	Events []Event
}

// Add appends an event, numbers it, and returns its number.
func (t *Trace) Add(e Event) int {
	e.N = len(t.Events) + 1
	t.Events = append(t.Events, e)
	return e.N
}

// Len is the number of events.
func (t *Trace) Len() int { return len(t.Events) }

// Hash is the SHA-256 of the canonical JSON lines, in hex.
func (t *Trace) Hash() string {
	h := sha256.New()
	if err := t.WriteJSON(h); err != nil {
		panic("trace: a hash refused bytes: " + err.Error()) // hash.Hash never returns an error
	}
	return hex.EncodeToString(h.Sum(nil))
}

// WriteJSON writes the canonical form: one JSON object a line, fields in a
// fixed order, empty fields left out. It returns the writer's error.
func (t *Trace) WriteJSON(w io.Writer) error {
	buf := make([]byte, 0, 64<<10)
	for i := range t.Events {
		buf = t.Events[i].appendJSON(buf)
		buf = append(buf, '\n')
		if len(buf) < 60<<10 {
			continue
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	_, err := w.Write(buf)
	return err
}

// String is the event as one canonical JSON line, without the line break.
func (e Event) String() string { return string(e.appendJSON(nil)) }

func (e *Event) appendJSON(b []byte) []byte {
	b = append(b, `{"n":`...)
	b = strconv.AppendInt(b, int64(e.N), 10)
	b = append(b, `,"at":`...)
	b = strconv.AppendInt(b, int64(e.At), 10)
	b = appendField(b, `,"actor":`, e.Actor)
	b = appendField(b, `,"kind":`, e.Kind)
	b = appendField(b, `,"peer":`, e.Peer)
	b = appendField(b, `,"text":`, e.Text)
	return append(b, '}')
}

func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendString(append(b, name...), value)
}

// appendString writes a JSON string. Unlike encoding/json it keeps no table
// of options and allocates nothing: a hash is taken of every run.
func appendString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
			i++
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			i++
		case c < utf8.RuneSelf:
			b = append(b, c)
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r) // an invalid byte becomes U+FFFD, as in encoding/json
			i += n
		}
	}
	return append(b, '"')
}

// JSON is the whole trace in its canonical form.
func (t *Trace) JSON() []byte {
	var b bytes.Buffer
	_ = t.WriteJSON(&b) // a bytes.Buffer returns no error
	return b.Bytes()
}
