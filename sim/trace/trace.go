// Package trace holds the trace of a simulated world: numbered events, their
// hash, and the comparison of two runs.
//
// A trace is a value. The world appends to it in one canonical order, so two
// runs of one seed have equal traces, byte for byte; [Diff] names the first
// event in which two traces differ, and equal values of [Trace.Hash] show that
// they do not.
//
// The content of an event is a value of a Go type, such as [Send], [Pause] or
// [Mark]: see [What]. Code reads it with a type switch, which the compiler
// checks; text is built only when it is read.
//
// The trace is what the world did. What the clients saw, operations with an
// invocation and a return, is the history, which is stored separately.
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

// Event is one event of a world.
type Event struct {
	// N numbers the events of a trace from 1, without gaps.
	N int
	// At is the virtual time since the start of the run.
	At time.Duration
	// Within is by how much the event may be later than At: 0 in a simulated
	// world, where instants are exact.
	Within time.Duration
	// Actor is a client (c0), a server (r0), the store (s0), or [World].
	Actor string
	// Peer is the other side, if there is one. For a fault on several processes
	// it lists them as text; [Parties] has the names.
	Peer string
	// What is the content of the event. It is never nil.
	What What
}

// What is the content of an event: one of the types of this package, or a type
// of the package of the server that recorded it. Values in a trace are not
// modified.
type What interface {
	// Kind names the type in one word, such as "send". Two types have two kinds,
	// except that a [Mark] has a kind for each step.
	Kind() string
	// Fields adds the fields, all of them, in an order that does not change. The
	// text of an event has their values with spaces between, unless its type has
	// a method AppendText(b []byte) []byte, which appends one readable line.
	Fields(f Fields) Fields
	// Words tell the event to readers.
	Words(v View) Words
}

// Parties are the names of the processes and servers that an event concerns
// besides its actor: the ends of a link, all processes of a partition. They
// come from a method Parties of its [What], or are its peer.
func Parties(e Event) []string {
	if several, ok := e.What.(interface{ Parties() []string }); ok {
		return several.Parties()
	}
	if e.Peer == "" {
		return nil
	}
	return []string{e.Peer}
}

// Struck are the names of all that a fault affects: of both sides, where it has
// two. They come from a method Struck of its [What], or are its [Parties].
func Struck(e Event) []string {
	if both, ok := e.What.(interface{ Struck() []string }); ok {
		return both.Struck()
	}
	return Parties(e)
}

// Kind is the kind of the event's [What].
func (e Event) Kind() string { return e.What.Kind() }

// Text is the event's [What] as one readable line.
func (e Event) Text() string { return line(e.What) }

// Trace is the list of events of one run. Its zero value is an empty trace.
// It is not safe for concurrent use while events are added.
type Trace struct {
	Events []Event
	// Servers are what the servers of the world are. They are no events: neither the hash of the trace nor its JSON has
	// them.
	Servers Servers
}

// Add appends an event, numbers it, and returns its number.
func (t *Trace) Add(e Event) int {
	e.N = len(t.Events) + 1
	t.Events = append(t.Events, e)
	return e.N
}

// Len is the number of events.
func (t *Trace) Len() int { return len(t.Events) }

// Hash is the SHA-256, in hex, of everything in the trace: the details of its
// events in full, also those that their texts cut.
func (t *Trace) Hash() string {
	h := sha256.New()
	b := make([]byte, 0, 8<<10)
	for i := range t.Events {
		b = t.Events[i].appendHash(b)
		if len(b) > 7<<10 {
			h.Write(b)
			b = b[:0]
		}
	}
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// appendHash appends the event in binary. Its position implies its number.
func (e *Event) appendHash(b []byte) []byte {
	b = AppendInt(AppendInt(b, int64(e.At)), int64(e.Within))
	b = AppendString(b, e.Actor)
	b = AppendString(b, e.Peer)
	b = AppendString(b, e.What.Kind())
	return hashOf(b, e.What)
}

// equal compares two events with the same number.
func (e *Event) equal(f *Event) bool {
	return e.At == f.At && e.Within == f.Within && e.Actor == f.Actor && e.Peer == f.Peer && e.Kind() == f.Kind() &&
		bytes.Equal(hashOf(nil, e.What), hashOf(nil, f.What))
}

// WriteJSON writes the trace for users and tools: one JSON object a line, in a
// fixed order, without what is empty. Beside its text, each event has an object
// "fields" with its fields, typed: numbers, lists, durations in nanoseconds. It
// returns the writer's error.
func (t *Trace) WriteJSON(w io.Writer) error {
	buf := make([]byte, 0, 64<<10)
	for i := range t.Events {
		buf = t.Events[i].appendJSON(buf)
		buf = append(jsonOf(buf, `,"fields":`, t.Events[i].What), '}', '\n')
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

// String is the event as one JSON line for a reader: without the fields and the
// line break.
func (e Event) String() string { return string(append(e.appendJSON(nil), '}')) }

func (e *Event) appendJSON(b []byte) []byte {
	b = append(b, `{"n":`...)
	b = strconv.AppendInt(b, int64(e.N), 10)
	b = append(b, `,"at":`...)
	b = strconv.AppendInt(b, int64(e.At), 10)
	if e.Within != 0 {
		b = strconv.AppendInt(append(b, `,"within":`...), int64(e.Within), 10)
	}
	b = appendField(b, `,"actor":`, e.Actor)
	b = appendField(b, `,"kind":`, e.Kind())
	b = appendField(b, `,"peer":`, e.Peer)
	return appendField(b, `,"text":`, e.Text())
}

func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendString(append(b, name...), value)
}

// appendString writes a JSON string. Unlike encoding/json it escapes only what
// has to be escaped, and control characters.
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

// JSON is the whole trace as [Trace.WriteJSON] writes it.
func (t *Trace) JSON() []byte {
	var b bytes.Buffer
	_ = t.WriteJSON(&b) // a bytes.Buffer returns no error
	return b.Bytes()
}

// The names of actors that every run has. Clients are c0, c1, …; servers have
// the prefix of their kind and a number.
const (
	// World is the actor of faults, and of events that the world itself causes.
	World = "world"
	// Store is the protected resource.
	Store = "s0"
	// Probe is the client that asks for the lock after the workload.
	Probe = "probe"
)

// IsClient reports whether a name is that of a client: c0, c1, …
func IsClient(name string) bool {
	return len(name) > 1 && name[0] == 'c' && '0' <= name[1] && name[1] <= '9'
}

// IsServer reports whether a name is that of a server other than the store.
func IsServer(name string) bool {
	return name != "" && !IsClient(name) && name != Store && name != Probe && name != World
}
