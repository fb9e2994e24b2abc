package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	coordination "k8s.io/api/coordination/v1"

	"locksim/sim/trace"
)

// deed says what a write means for a lease. A nil one is deleted.
func deed(l *coordination.Lease, before *object) string {
	now, had := holder(l), ""
	if before != nil {
		had = holder(before.lease)
	}
	switch {
	case l == nil:
		return "delete"
	case before == nil:
		return "create"
	case now == had:
		return "renew"
	case now == "":
		return "release"
	}
	return "take"
}

// transaction is a write in the trace of the store.
type transaction struct {
	key, deed, from string
	lease           *coordination.Lease
}

// AppendText appends "renew leases/default/order for c0_1f2e from version 7".
func (t transaction) AppendText(b []byte) []byte {
	text := t.deed + " " + t.key
	if id := holder(t.lease); id != "" {
		text += " for " + id
	}
	if t.from != "" {
		text += " from version " + t.from
	}
	return trace.Text(text).AppendText(b)
}

// AppendHash appends all of it.
func (t transaction) AppendHash(b []byte) []byte {
	return appendJSON(trace.AppendString(trace.AppendString(trace.AppendString(b, t.key), t.deed), t.from), t.lease)
}

// Brief implements [trace.Request].
func (t transaction) Brief(trace.Content) string { return t.deed + " " + t.key }

// Kind implements [trace.Kinded].
func (t transaction) Kind() string { return t.deed }

// outcome is the answer of the store.
type outcome struct {
	before  *object
	written bool
}

// AppendText appends "OK", or which version is there.
func (o outcome) AppendText(b []byte) []byte {
	if o.written {
		return append(b, "OK"...)
	}
	return fmt.Appendf(b, "CONFLICT with version %s", orNone(version(o.before)))
}

// AppendHash appends all of it.
func (o outcome) AppendHash(b []byte) []byte { return o.AppendText(b) }

// Negative implements [trace.Answer].
func (o outcome) Negative() bool { return !o.written }

// call is a request to an API server in the trace, or an answer.
type call struct {
	head  string // the method and the path, or the code and its text
	brief string
	body  []byte
}

// AppendText appends the head, and what matters of the body.
func (c call) AppendText(b []byte) []byte {
	text := c.head
	if said := said(c.body); said != "" {
		text += " " + said
	}
	return trace.Text(text).AppendText(b)
}

// AppendHash appends all of it.
func (c call) AppendHash(b []byte) []byte {
	return trace.AppendString(trace.AppendString(b, c.head), string(c.body))
}

// Brief implements [trace.Request].
func (c call) Brief(trace.Content) string { return c.brief }

// Kind implements [trace.Kinded].
func (c call) Kind() string { return c.head }

// answer is an answer of an API server in the trace.
type answer struct {
	call
	code int
}

// Negative implements [trace.Answer].
func (a answer) Negative() bool { return a.code >= http.StatusBadRequest }

// unknown is a request that this API server does not have.
type unknown struct{ call }

// Unknown implements [trace.Asking].
func (u unknown) Unknown(trace.Content) string {
	return "the API server of locksim has leases only, and not every option: " + u.head
}

// message is a piece of HTTP in the trace: its first line, and what matters of its body.
type message []byte

// AppendText appends that.
func (m message) AppendText(b []byte) []byte {
	first, _, _ := bytes.Cut(m, []byte("\r\n"))
	text := strings.TrimSuffix(string(first), " HTTP/1.1")
	text = strings.TrimPrefix(text, "HTTP/1.1 ")
	if _, body, ok := bytes.Cut(m, []byte("\r\n\r\n")); ok {
		if said := said(body); said != "" {
			text += " " + said
		}
	}
	return trace.Text(text).AppendText(b)
}

// AppendHash appends all of it.
func (m message) AppendHash(b []byte) []byte { return trace.Bytes(m).AppendHash(b) }

// Words implements [trace.Worded].
func (m message) Words() []string { return strings.Fields(string(m.AppendText(nil))) }

// Brief implements [trace.Request].
func (m message) Brief(trace.Content) string { return string(m.AppendText(nil)) }

func appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return trace.AppendString(b, err.Error())
	}
	return trace.AppendString(b, string(text))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
