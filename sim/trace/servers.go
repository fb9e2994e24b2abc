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

// Kind is "exec".
func (Exec) Kind() string { return "exec" }

// Fields implements [What].
func (e Exec) Fields(f Fields) Fields {
	return f.Text("conn", e.Conn).Content("request", e.Request).Maybe("answer", e.Answer)
}

// AppendText appends "request -> answer".
func (e Exec) AppendText(b []byte) []byte {
	b = append(e.Request.AppendText(b), " -> "...)
	if e.Answer == nil {
		return append(b, "(waits)"...)
	}
	return e.Answer.AppendText(b)
}

// Words implements [What].
func (Exec) Words(View) Words { return Words{Untold: ofServer} }

// Expire is a key that expires.
type Expire struct{ Key string }

// Kind is "expire".
func (Expire) Kind() string { return "expire" }

// Fields implements [What].
func (e Expire) Fields(f Fields) Fields { return f.Text("key", e.Key) }

// Words implements [What].
func (e Expire) Words(View) Words {
	return Words{Untold: ofPictures, Lane: "lets " + e.Key + " expire"}
}

// Apply is a replica that applies effects from its peer.
type Apply struct{ Effects Content }

// Kind is "apply".
func (Apply) Kind() string { return "apply" }

// Fields implements [What].
func (a Apply) Fields(f Fields) Fields { return f.Content("effects", a.Effects) }

// Words implements [What].
func (a Apply) Words(v View) Words {
	w := Words{Untold: ofPictures}
	if v.Lane != "" {
		w.Lane = "receives from its primary: " + line(a)
	}
	return w
}

// Resync is a replica that copies all keys of its peer.
type Resync struct{ Keys int }

// Kind is "resync".
func (Resync) Kind() string { return "resync" }

// Fields implements [What].
func (r Resync) Fields(f Fields) Fields { return f.Count("keys", int64(r.Keys)) }

// Words implements [What].
func (Resync) Words(View) Words { return Words{Untold: ofServer} }

// Reveal is a key that a replica had hidden and shows again, since its clock
// jumped back.
type Reveal struct{ Key string }

// Kind is "reveal".
func (Reveal) Kind() string { return "reveal" }

// Fields implements [What].
func (r Reveal) Fields(f Fields) Fields { return f.Text("key", r.Key) }

// Words implements [What].
func (Reveal) Words(View) Words { return Words{Untold: ofServer} }

// Snapshot is a server that saves all its keys to its disk.
type Snapshot struct{ Keys int }

// Kind is "snapshot".
func (Snapshot) Kind() string { return "snapshot" }

// Fields implements [What].
func (s Snapshot) Fields(f Fields) Fields { return f.Count("keys", int64(s.Keys)) }

// Words implements [What].
func (Snapshot) Words(View) Words { return Words{Untold: ofServer} }

// Elected is a server that has become the leader of a cluster, in a term of it.
type Elected struct{ Term uint64 }

// Kind is "elected".
func (Elected) Kind() string { return "elected" }

// Fields implements [What].
func (e Elected) Fields(f Fields) Fields { return f.Uint("term", e.Term) }

// AppendText appends the term.
func (e Elected) AppendText(b []byte) []byte { return fmt.Appendf(b, "leader of term %d", e.Term) }

// Words implements [What].
func (Elected) Words(View) Words { return Words{Untold: ofServer} }

// StepDown is a server that is the leader no more.
type StepDown struct{ Term uint64 }

// Kind is "step-down".
func (StepDown) Kind() string { return "step-down" }

// Fields implements [What].
func (s StepDown) Fields(f Fields) Fields { return f.Uint("term", s.Term) }

// AppendText appends the term.
func (s StepDown) AppendText(b []byte) []byte {
	return fmt.Appendf(b, "leader no more, in term %d", s.Term)
}

// Words implements [What].
func (StepDown) Words(View) Words { return Words{Untold: ofServer} }

// Decision is the decision of the protected resource, the store, on an
// operation.
type Decision struct {
	// Conn is the connection of the operation.
	Conn string `json:"conn,omitempty"`
	// Write says that it is a write, not a read.
	Write bool `json:"write,omitempty"`
	// Resource and Register identify the register, Op the operation.
	Resource string `json:"resource"`
	Register string `json:"register"`
	Op       string `json:"op"`
	// Token is the fencing token of the operation, Grant the id of its sender's
	// grant, Base the id of the operation that a write is based on.
	Token uint64 `json:"token,omitempty"`
	Grant string `json:"grant,omitempty"`
	Base  string `json:"base,omitempty"`
	// Refused is the fencing rule's reason, empty if the operation was
	// accepted; Value is the value that a read has found.
	Refused string `json:"refused,omitempty"`
	Value   string `json:"value,omitempty"`
}

// Kind is "store".
func (Decision) Kind() string { return "store" }

// Fields implements [What].
func (d Decision) Fields(f Fields) Fields {
	return f.Text("verb", d.Verb()).Uint("token", d.Token).Texts("conn", d.Conn, "resource", d.Resource,
		"register", d.Register, "op", d.Op, "grant", d.Grant, "base", d.Base, "refused", d.Refused, "value", d.Value)
}

// AppendText appends the operation and the answer.
func (d Decision) AppendText(b []byte) []byte {
	b = fmt.Appendf(b, "%s %s %s %s %d %s %s -> ",
		d.Verb(), Name(d.Resource), d.Register, d.Op, d.Token, orDash(d.Grant), orDash(d.Base))
	switch {
	case d.Refused != "":
		return append(append(b, "REFUSED "...), d.Refused...)
	case d.Value != "":
		return append(append(b, "OK "...), d.Value...)
	}
	return append(b, "OK"...)
}

// Words implements [What].
func (d Decision) Words(v View) (w Words) {
	switch {
	case d.Refused != "":
		w.Story = "REFUSES " + d.Brief()
	case d.Write:
		w.Story = "takes " + d.Brief()
	default:
		w.Untold = ofStep
	}
	switch {
	case v.Lane == "":
	case d.Refused != "":
		w.Lane = "refuses the " + d.verb() + d.Op
	case !d.Write:
		w.Lane = "answers the read " + d.Op
	case v.Stale:
		w.Lane = "takes the stale write " + d.Op
	default:
		w.Lane = "takes the write " + d.Op
	}
	return w
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
	if d.Token != 0 {
		return d.verb() + d.Op + " (token " + strconv.FormatUint(d.Token, 10) + ")"
	}
	return d.verb() + d.Op
}

func (d Decision) verb() string {
	if d.Write {
		return "write "
	}
	return "read "
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
