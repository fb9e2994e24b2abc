package consul

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"locksim/sim/trace"
)

// short is the beginning of a session's id.
func short(id string) string {
	first, _, _ := strings.Cut(id, "-")
	return first
}

// words are an entry in words: "acquire locks/order for session 1f2e3d4c".
func (e entry) words() string {
	text := string(e.Op)
	switch e.Op {
	case opFail, opPass:
		return text + " serfHealth of " + e.Node
	case opCreate:
		if e.Made != nil {
			text += fmt.Sprintf(" with TTL %s, lock-delay %v, %s", e.Made.TTL, e.Made.LockDelay, e.Made.Behavior)
		}
	}
	if e.Key != "" {
		text += " " + e.Key
	}
	if e.Op == opCAS || e.Checked {
		text += fmt.Sprintf(" from index %d", e.Index)
	}
	if e.Session != "" {
		text += " for session " + short(e.Session)
	}
	return text
}

// AppendText appends the entry in words.
func (e entry) AppendText(b []byte) []byte { return trace.Text(e.words()).AppendText(b) }

// AppendHash appends all of it.
func (e entry) AppendHash(b []byte) []byte { return trace.AppendString(b, string(encode(e))) }

// asked is a request in the trace.
type asked request

// AppendText appends the request in words.
func (a asked) AppendText(b []byte) []byte {
	return trace.Text(a.words()).AppendText(b)
}

// AppendHash appends all of it.
func (a asked) AppendHash(b []byte) []byte {
	b = trace.AppendString(trace.AppendString(trace.AppendString(b, string(a.does)), string(a.mode)), a.through)
	return a.entry.AppendHash(trace.AppendInt(trace.AppendInt(b, int64(a.index)), int64(a.wait)))
}

func (a asked) words() string {
	switch {
	case a.does == "":
		return "a request that is malformed or unknown"
	case a.does == doesWrite, a.does == doesCreate:
		return a.entry.words()
	case a.does == doesRenew:
		return "renew session " + short(a.entry.Session)
	}
	text := "get " + a.entry.Key
	if a.does == doesInfo {
		text = "get session " + short(a.entry.Session)
	}
	if a.mode != modeDefault {
		text += ", " + string(a.mode)
	}
	if a.index > 0 {
		text += fmt.Sprintf(", after index %d", a.index)
	}
	return text
}

// Brief implements [trace.Request].
func (a asked) Brief(trace.Content) string { return a.words() }

// Kind implements [trace.Kinded].
func (a asked) Kind() string {
	if a.does == doesWrite {
		return string(a.entry.Op)
	}
	return string(a.does)
}

// Unknown implements [trace.Asking].
func (a asked) Unknown(answer trace.Content) string {
	if s, ok := answer.(said); ok && s.code == http.StatusNotFound && a.does == "" {
		return s.err.Error()
	}
	return ""
}

// said is an answer in the trace.
type said struct{ answer }

// AppendText appends the code, if it is an error, and what the answer has.
func (s said) AppendText(b []byte) []byte {
	text := ""
	switch v := s.body.(type) {
	case bool:
		text = fmt.Sprint(v)
	case []*pair:
		text = pairsText(v)
	case []*session:
		text = fmt.Sprintf("%d sessions", len(v))
		if len(v) == 1 {
			text = "TTL " + v[0].TTL
		}
	case struct{ ID string }:
		text = "session " + short(v.ID)
	}
	switch {
	case s.err != nil:
		text = fmt.Sprintf("%d %v", s.code, s.err)
	case s.code == http.StatusNotFound:
		text = "nothing there"
	}
	if s.index > 0 {
		text += fmt.Sprintf(", index %d", s.index)
	}
	return trace.Text(text).AppendText(b)
}

// pairsText is which session has a key, and of several how many there are.
func pairsText(pairs []*pair) string {
	if len(pairs) > 1 {
		return fmt.Sprintf("%d keys", len(pairs))
	}
	text := "free"
	if p := pairs[0]; p.Session != "" {
		text = "session " + short(p.Session)
	}
	return fmt.Sprintf("%s, LockIndex %d", text, pairs[0].LockIndex)
}

// AppendHash appends all of it.
func (s said) AppendHash(b []byte) []byte {
	b = trace.AppendInt(trace.AppendInt(b, int64(s.code)), int64(s.index))
	return trace.AppendString(trace.AppendString(b, fmt.Sprint(s.err)), string(encode(s.body)))
}

// Negative implements [trace.Answer].
func (s said) Negative() bool { return s.code >= http.StatusBadRequest || s.body == false }

// message is a piece of HTTP in the trace: its first line and its body.
type message []byte

// AppendText appends that.
func (m message) AppendText(b []byte) []byte {
	head, body, _ := bytes.Cut(m, []byte("\r\n\r\n"))
	first, _, _ := strings.Cut(string(head), "\r\n")
	first = strings.TrimPrefix(strings.TrimSuffix(first, " HTTP/1.1"), "HTTP/1.1 ")
	return trace.Text(strings.TrimSpace(first + " " + string(body))).AppendText(b)
}

// AppendHash appends all of it.
func (m message) AppendHash(b []byte) []byte { return trace.Bytes(m).AppendHash(b) }

// Words implements [trace.Worded].
func (m message) Words() []string { return strings.Fields(string(m.AppendText(nil))) }

// Brief implements [trace.Request].
func (m message) Brief(trace.Content) string { return string(m.AppendText(nil)) }
