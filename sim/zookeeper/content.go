package zookeeper

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"locksim/sim"
	"locksim/sim/trace"
)

// Request is a request in the trace.
type Request struct{ request request }

// AppendText appends the request in words, such as "create /locks/order/q-7c, ephemeral and sequential".
func (r Request) AppendText(b []byte) []byte {
	return append(b, trace.Readable(strings.Join(r.Words(), " "))...)
}

// AppendHash appends all of it.
func (r Request) AppendHash(b []byte) []byte { return fmt.Appendf(b, "%+v", r.request) }

// Brief implements [trace.Request]: what opens a connection or keeps it open is left out.
func (r Request) Brief(trace.Content) string {
	switch r.request.op {
	case opPing, opCreateSession, opSetWatches, opAuth:
		return ""
	}
	return string(r.AppendText(nil))
}

// Kind implements [trace.Kinded].
func (r Request) Kind() string { return opWords[r.request.op] }

// Words implements [trace.Worded].
func (r Request) Words() []string { return r.request.words() }

var opWords = map[op]string{
	opCreate: "create", opCreate2: "create", opCreateContainer: "create", opCreateTTL: "create", opDelete: "delete",
	opDeleteContainer: "delete",
	opExists:          "exists", opGetData: "get", opSetData: "set", opGetACL: "getACL", opSetACL: "setACL",
	opGetChildren:  "children",
	opGetChildren2: "children", opSync: "sync", opPing: "ping", opCheck: "check", opMulti: "multi", opReconfig: "reconfig",
	opAuth:       "auth",
	opSetWatches: "setWatches", opCreateSession: "connect", opCloseSession: "close",
}

var createWords = [...]string{"", "ephemeral", "sequential", "ephemeral and sequential", "container", "with a TTL",
	"sequential with a TTL"}

func (q request) words() []string {
	name, known := opWords[q.op]
	if !known {
		return []string{fmt.Sprintf("request-%d", q.op)}
	}
	words := []string{name}
	if q.path != "" {
		words = append(words, q.path)
	}
	switch {
	case q.op == opCreate || q.op == opCreate2 || q.op == opCreateContainer || q.op == opCreateTTL:
		if q.flags > 0 && q.flags <= maxFlags {
			words[len(words)-1] += ","
			words = append(words, strings.Fields(createWords[q.flags])...)
		}
	case q.watch:
		words = append(words, "and", "watch")
	case q.op == opMulti:
		for i, one := range q.ops {
			if i > 0 {
				words = append(words, "and")
			}
			words = append(words, one.words()...)
		}
	case q.op == opSetWatches:
		for _, paths := range q.watches {
			words = append(words, paths...)
		}
	}
	return words
}

// Answer is an answer in the trace.
type Answer struct {
	err  code
	text string // what it has, in words
	zxid int64
}

// AppendText appends what the answer has, or its error.
func (a Answer) AppendText(b []byte) []byte {
	if a.err != ok {
		return append(b, a.err.String()...)
	}
	if a.text != "" {
		return append(b, trace.Readable(a.text)...)
	}
	return append(b, "ok"...)
}

// AppendHash appends all of it.
func (a Answer) AppendHash(b []byte) []byte {
	return trace.AppendInt(trace.AppendInt(trace.AppendString(b, a.text), int64(a.err)), a.zxid)
}

// Negative implements [trace.Answer].
func (a Answer) Negative() bool { return a.err != ok }

// answerTo is the answer to a request, from its body.
func answerTo(q request, zxid int64, err code, body []byte) Answer {
	a := Answer{err: err, zxid: zxid}
	if err != ok {
		return a
	}
	r := &reader{b: body}
	switch q.op {
	case opCreate, opCreate2, opCreateContainer:
		a.text = r.string()
		if zxid != 0 {
			a.text += fmt.Sprintf(" at %x", zxid)
		}
	case opGetData:
		a.text = fmt.Sprintf("%q", r.bytes())
		a.text += createdAt(r)
	case opExists:
		a.text = strings.TrimSpace(createdAt(r))
	case opGetChildren, opGetChildren2:
		a.text = strings.Join(list(r, r.string), ", ")
		if a.text == "" {
			a.text = "no children"
		}
	case opMulti:
		for r.err == nil {
			kind := op(r.int32())
			done := r.bool()
			r.int32()
			if done {
				break
			}
			switch kind {
			case opError:
				if failed := code(r.int32()); failed != ok && failed != errRuntimeInconsistency {
					a.err = failed
				}
			case opCreate:
				r.string()
			case opCreate2:
				r.string()
				r.take(statLength)
			case opSetData:
				r.take(statLength)
			}
		}
	}
	return a
}

// statLength is the length of what is known of a node.
const statLength = 68

// createdAt is when a node was created, from what is known of it.
func createdAt(r *reader) string { return fmt.Sprintf(" created at %x", r.int64()) }

// Messages are the messages that one side sends in one piece.
type Messages struct {
	dir sim.Direction
	b   []byte
}

// AppendText appends the requests in words; of answers their errors.
func (m Messages) AppendText(b []byte) []byte {
	l := trace.NewLine(b)
	for _, text := range m.texts() {
		l.Add([]byte(text))
	}
	return l.End()
}

// AppendHash appends all of them.
func (m Messages) AppendHash(b []byte) []byte {
	return append(trace.AppendInt(b, int64(len(m.b))), m.b...)
}

// Words implements [trace.Worded]: those of the first request.
func (m Messages) Words() []string {
	if first, _, err := cut(m.b); m.dir == sim.Up && first != nil && err == nil {
		q, _ := parseFirst(first)
		return q.words()
	}
	return nil
}

// Brief implements [trace.Request].
func (m Messages) Brief(answer trace.Content) string {
	var list []string
	for _, q := range m.requests() {
		if text := (Request{q}).Brief(answer); text != "" {
			list = append(list, text)
		}
	}
	return strings.Join(list, "; ")
}

func (m Messages) requests() []request {
	var all []request
	rest := m.b
	for {
		message, more, err := cut(rest)
		if message == nil || err != nil {
			return all
		}
		q, _ := parseFirst(message)
		all = append(all, q)
		rest = more
	}
}

func (m Messages) texts() []string {
	var all []string
	if m.dir == sim.Up {
		for i, q := range m.requests() {
			if i > 0 {
				all = append(all, ";")
			}
			all = append(all, q.words()...)
		}
		if all == nil {
			all = []string{"a part of a request"}
		}
		return all
	}
	rest := m.b
	for {
		message, more, err := cut(rest)
		if message == nil || err != nil {
			return all
		}
		if len(all) > 0 {
			all = append(all, ";")
		}
		all = append(all, answerText(message))
		rest = more
	}
}

// parseFirst reads a request that may be the first of a connection, which asks for a session. Its protocol version is
// 0, which is no number of a request.
func parseFirst(message []byte) (request, error) {
	if r := (&reader{b: message}); r.int32() == 0 && len(message) >= 28 {
		return request{op: opCreateSession}, nil
	}
	return parse(message)
}

// The numbers of answers that are to no request.
const (
	xidEvent = -1
	xidPing  = -2
	xidAuth  = -4
)

func answerText(message []byte) string {
	r := &reader{b: message}
	xid := r.int32()
	if xid == 0 {
		r.int32()
		return fmt.Sprintf("session %x", r.int64())
	}
	r.int64()
	err := code(r.int32())
	switch {
	case xid == xidEvent:
		kind := eventKind(r.int32())
		r.int32()
		return kind.String() + " " + r.string()
	case xid == xidPing:
		return "pong"
	}
	return "answer: " + err.String()
}

func (k eventKind) String() string {
	switch k {
	case nodeCreated:
		return "created"
	case nodeDeleted:
		return "deleted"
	case nodeDataChanged:
		return "changed"
	case nodeChildrenChanged:
		return "children changed of"
	}
	return fmt.Sprintf("event %d", int32(k))
}

// Describe implements [sim.Describer].
func (s *Server) Describe(dir sim.Direction, b []byte) trace.Content { return Messages{dir, b} }

// Canonical implements [sim.Canonical]. The Go client lists the watches that it sets again in the order of a map.
func (*Server) Canonical(b []byte) []byte {
	message, rest, err := cut(b)
	if message == nil || err != nil || len(rest) > 0 {
		return slices.Clone(b)
	}
	if len(message) < 8 || op(binary.BigEndian.Uint32(message[4:])) != opSetWatches {
		return slices.Clone(b)
	}
	q, err := parse(message)
	if err != nil {
		return slices.Clone(b)
	}
	w := (&writer{}).int32(q.xid).int32(int32(q.op)).int64(q.zxid)
	for _, paths := range q.watches {
		slices.Sort(paths)
		w.int32(int32(len(paths)))
		for _, path := range paths {
			w.string(path)
		}
	}
	return w.packet()
}
