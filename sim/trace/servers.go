package trace

import (
	"fmt"
	"strconv"
)

// Exec is a request that a server executed for a client, with its answer.
type Exec struct {
	// Conn is the connection of the request.
	Conn string
	// Request and Answer are described by the server's kind. Answer is nil if
	// the client has to wait for it: another Exec of the same request follows.
	Request, Answer Content
}

// Expire is a key that expires.
type Expire struct{ Key string }

// Apply is a replica that applies effects from its peer.
type Apply struct{ Effects Content }

// Resync is a replica that copies all keys of its peer.
type Resync struct{ Keys int }

// Reveal is a key that a replica had hidden and shows again, since its clock
// jumped back.
type Reveal struct{ Key string }

// Snapshot is a server that saves all its keys to its disk.
type Snapshot struct{ Keys int }

// Elected is a server that has become the leader of a cluster, in a term of it.
type Elected struct{ Term uint64 }

// StepDown is a server that is the leader no more.
type StepDown struct{ Term uint64 }

// Decision is the decision of the protected resource, the store, on an
// operation.
type Decision struct {
	// Conn is the connection of the operation.
	Conn string
	// Write says that it is a write, not a read.
	Write bool
	// Resource and Register identify the register, Op the operation.
	Resource, Register, Op string
	// Token is the fencing token of the operation, Grant the id of its sender's
	// grant, Base the id of the operation that a write is based on.
	Token       uint64
	Grant, Base string
	// Refused is the fencing rule's reason, empty if the operation was
	// accepted; Value is the value that a read has found.
	Refused, Value string
}

// Kind is "exec".
func (Exec) Kind() string { return "exec" }

// Kind is "expire".
func (Expire) Kind() string { return "expire" }

// Kind is "apply".
func (Apply) Kind() string { return "apply" }

// Kind is "resync".
func (Resync) Kind() string { return "resync" }

// Kind is "reveal".
func (Reveal) Kind() string { return "reveal" }

// Kind is "snapshot".
func (Snapshot) Kind() string { return "snapshot" }

// Kind is "elected".
func (Elected) Kind() string { return "elected" }

// Kind is "step-down".
func (StepDown) Kind() string { return "step-down" }

// Kind is "store".
func (Decision) Kind() string { return "store" }

// AppendText appends "request -> answer".
func (e Exec) AppendText(b []byte) []byte {
	b = append(e.Request.AppendText(b), " -> "...)
	if e.Answer == nil {
		return append(b, "(waits)"...)
	}
	return e.Answer.AppendText(b)
}

// AppendText appends the key.
func (e Expire) AppendText(b []byte) []byte { return append(b, e.Key...) }

// AppendText appends the effects.
func (a Apply) AppendText(b []byte) []byte { return a.Effects.AppendText(b) }

// AppendText appends the number of keys.
func (r Resync) AppendText(b []byte) []byte { return appendKeys(b, r.Keys) }

// AppendText appends the key.
func (r Reveal) AppendText(b []byte) []byte { return append(b, r.Key...) }

// AppendText appends the number of keys.
func (s Snapshot) AppendText(b []byte) []byte { return appendKeys(b, s.Keys) }

// AppendText appends the term.
func (e Elected) AppendText(b []byte) []byte { return fmt.Appendf(b, "leader of term %d", e.Term) }

// AppendText appends the term.
func (s StepDown) AppendText(b []byte) []byte {
	return fmt.Appendf(b, "leader no more, in term %d", s.Term)
}

func appendKeys(b []byte, n int) []byte {
	return append(strconv.AppendInt(b, int64(n), 10), " keys"...)
}

// Verb is READ or WRITE.
func (d Decision) Verb() string {
	if d.Write {
		return "WRITE"
	}
	return "READ"
}

// Same reports whether two decisions concern the same operation.
func (d Decision) Same(e Decision) bool {
	d.Refused, d.Value, d.Conn = "", "", ""
	e.Refused, e.Value, e.Conn = "", "", ""
	return d == e
}

// Brief is the operation in a few words: "write c0.w2 (token 1)".
func (d Decision) Brief() string {
	what := "read " + d.Op
	if d.Write {
		what = "write " + d.Op
	}
	if d.Token != 0 {
		what += fmt.Sprintf(" (token %d)", d.Token)
	}
	return what
}

// AppendText appends the operation and the answer.
func (d Decision) AppendText(b []byte) []byte {
	b = fmt.Appendf(b, "%s %s %s %s %d %s %s -> ", d.Verb(), Name(d.Resource), d.Register, d.Op, d.Token, orDash(d.Grant), orDash(d.Base))
	switch {
	case d.Refused != "":
		return append(append(b, "REFUSED "...), d.Refused...)
	case d.Value != "":
		return append(append(b, "OK "...), d.Value...)
	}
	return append(b, "OK"...)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// AppendHash implements [What].
func (e Exec) AppendHash(b []byte) []byte {
	b = e.Request.AppendHash(AppendString(b, e.Conn))
	if e.Answer == nil {
		return append(b, 0)
	}
	return e.Answer.AppendHash(append(b, 1))
}

// AppendHash implements [What].
func (e Expire) AppendHash(b []byte) []byte { return AppendString(b, e.Key) }

// AppendHash implements [What].
func (a Apply) AppendHash(b []byte) []byte { return a.Effects.AppendHash(b) }

// AppendHash implements [What].
func (r Resync) AppendHash(b []byte) []byte { return AppendInt(b, int64(r.Keys)) }

// AppendHash implements [What].
func (r Reveal) AppendHash(b []byte) []byte { return AppendString(b, r.Key) }

// AppendHash implements [What].
func (e Elected) AppendHash(b []byte) []byte { return AppendInt(b, int64(e.Term)) }

// AppendHash implements [What].
func (s StepDown) AppendHash(b []byte) []byte { return AppendInt(b, int64(s.Term)) }

// AppendHash implements [What].
func (s Snapshot) AppendHash(b []byte) []byte { return AppendInt(b, int64(s.Keys)) }

// AppendHash implements [What].
func (d Decision) AppendHash(b []byte) []byte {
	b = AppendInt(AppendString(b, d.Verb()), int64(d.Token))
	return AppendStrings(b, []string{d.Conn, d.Resource, d.Register, d.Op, d.Grant, d.Base, d.Refused, d.Value})
}
