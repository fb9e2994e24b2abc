package nats

import (
	"bytes"
	"strings"

	"locksim/sim/trace"
)

// Protected says how clients keep the protected data of a run in the bucket, by requests that name their operation in a
// header; a write stores that name. The trace has a [trace.Decision] for each of them that the server has decided, as
// for the operations of the store.
type Protected struct {
	// Header names the operation.
	Header string
	// Of is the rest of an operation: whether it writes, and what, by the subject of the request.
	Of func(subject string) (op trace.Decision, ok bool)
	// Where is the key of a register.
	Where func(resource, register string) (key string)
}

// notePending remembers the operations of which a client's bytes have requests, by the inbox of the answer.
func (n *session) notePending(all []frame) {
	p := n.server.on.protected
	if p == nil {
		return
	}
	for _, f := range all {
		if f.words[0] != "HPUB" || len(f.words) != 5 {
			continue
		}
		header, _ := split(f.words, f.payload)
		id := headerOf(header, p.Header)
		op, ok := p.Of(f.words[1])
		if !ok || id == "" {
			continue
		}
		op.Op, op.Conn = id, n.conn.Name()
		n.pending[f.words[2]] = op
		if op.Write {
			n.server.writes[id] = asked{n.conn.Client(), op}
		}
	}
}

// asked is a write and who asks for it.
type asked struct {
	client string
	op     trace.Decision
}

// stored records a write that has changed the bucket, where that is told: its answer comes in the same instant, and
// which of the goroutines of the server is first does not count.
func (s *natsServer) stored(value string) {
	if w, ok := s.writes[value]; ok {
		delete(s.writes, value)
		s.node.Record(w.client, w.op)
	}
}

// decided records the reads and the refused writes that some bytes answer. What the server could not do, such as for
// want of its disk, is not decided.
func (n *session) decided(b []byte) {
	if len(n.pending) == 0 {
		return
	}
	all, _ := frames(b)
	for _, f := range all {
		if f.payload == nil {
			continue
		}
		op, ok := n.pending[f.words[1]]
		if !ok {
			continue
		}
		delete(n.pending, f.words[1])
		header, body := split(f.words, f.payload)
		switch {
		case bytes.HasPrefix(header, []byte("NATS/1.0 503")): // there is no server for the request
			continue
		case !op.Write:
		case bytes.Contains(body, []byte(wrongRevision)):
			op.Refused = "the revision is another"
		default: // stored tells it, or it has failed
			continue
		}
		n.server.node.Record(n.conn.Client(), op)
	}
}

// wrongRevision is the code of the error that says that a key has another revision.
const wrongRevision = `"err_code":10071`

// headerOf is the value of a header, "" if there is none.
func headerOf(header []byte, name string) string {
	for line := range strings.SplitSeq(string(header), "\r\n") {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Value is the value of a register of the protected data, "" if there is none.
func (s *natsServer) Value(resource, register string) string {
	if s.on.protected == nil {
		return ""
	}
	return s.on.keys[s.on.protected.Where(resource, register)]
}
