package sim

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"sort"
	"strconv"
	"strings"

	"locksim/lock/fence"
)

// Store is the protected resource, a node across the network: named resources
// of one or more registers, which clients read and write under a lock. It
// judges every operation by its fencing mode; the scope is the resource, and
// the register for versions. Its methods are for the world's goroutine.
type Store struct {
	w         *World
	mode      fence.Mode
	addr      string
	resources map[string]*resource
	decisions []Decision
}

type resource struct {
	fence     fence.State // its Version is that of whatever register was asked for last
	registers map[string]string
	versions  map[made]uint64
}

// made names a version of a register by the operation that made it.
type made struct{ register, op string }

// Decision is what the store made of one operation.
type Decision struct {
	// Step is the number of the event in the trace.
	Step int
	// Op names the operation; a write stores it.
	Op string
	// Write tells a write from a read.
	Write bool
	// Refused is the rule's reason, or empty where the operation was accepted.
	Refused string
	// Value is what a read has found.
	Value string
}

func newStore(w *World, mode fence.Mode) *Store {
	s := &Store{w: w, mode: mode, resources: map[string]*resource{}}
	s.addr = w.addHost(s, net.IPv4(10, 0, 1, 1).String(), storePort)
	return s
}

func (s *Store) name() string { return "s0" }

// Decisions are all operations that arrived, in the order of their arrival.
func (s *Store) Decisions() []Decision { return s.decisions }

// Value is what a register holds: the name of the operation that wrote it
// last, or nothing. It is exempt from fencing: the epilogue of a run.
func (s *Store) Value(resource, register string) string {
	if r := s.resources[resource]; r != nil {
		return r.registers[register]
	}
	return ""
}

// Cells are the registers that hold something, as "resource/register=value"
// in order.
func (s *Store) Cells() []string {
	var out []string
	for name, r := range s.resources {
		for reg, v := range r.registers {
			out = append(out, name+"/"+reg+"="+v)
		}
	}
	sort.Strings(out)
	return out
}

func (s *Store) resource(name string) *resource {
	r := s.resources[name]
	if r == nil {
		r = &resource{registers: map[string]string{}, versions: map[made]uint64{}}
		s.resources[name] = r
	}
	return r
}

func (s *Store) accept(c *conn) session { return &storeSession{store: s, conn: c} }

// storeSession is one client's connection to the store. It speaks lines:
//
//	READ resource register op token grant -
//	WRITE resource register op token grant base
//
// where grant is the id of the sender's grant, base the id of the operation
// that the write is based on, "-" for none; and answers "OK value", "REFUSED reason" or "ERROR message".
type storeSession struct {
	store *Store
	conn  *conn
	in    []byte
	gone  bool
}

// maxStoreLine bounds a request.
const maxStoreLine = 64 << 10

func (s *storeSession) data(b []byte) {
	if s.gone {
		return
	}
	s.in = append(s.in, b...)
	for {
		line, n := nextLine(s.in)
		if n == 0 {
			break
		}
		s.in = s.in[n:]
		s.conn.send([]byte(s.serve(line) + "\n"))
	}
	if len(s.in) > maxStoreLine {
		s.conn.send([]byte("ERROR a request of more than 64 KiB\n"))
		s.conn.finish()
		s.gone, s.in = true, nil
	}
}

// nextLine takes a request off a stream. n is what it used; 0 means that the
// rest has not arrived yet.
func nextLine(b []byte) (line string, n int) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return "", 0
	}
	return string(b[:end]), end + 1
}

func (s *storeSession) serve(line string) string {
	req, err := parseStoreRequest(line)
	if err != nil {
		return "ERROR " + err.Error()
	}
	return s.store.apply(req, s.conn.link.p.name)
}

// apply decides on an operation and records the decision.
func (s *Store) apply(req storeRequest, client string) string {
	r := s.resource(req.resource)
	d := Decision{Op: req.op, Write: req.write}
	answer := "OK"
	switch err := s.judge(r, req); {
	case err != nil:
		d.Refused = singleLine(err.Error())
		answer = "REFUSED " + d.Refused
	case req.write:
		r.registers[req.register] = req.op
		r.versions[made{req.register, req.op}] = r.fence.Version
	default:
		d.Value = r.registers[req.register]
		answer = strings.TrimSpace("OK " + d.Value)
	}
	d.Step = s.w.record(s.name(), "store", client, req.String()+" -> "+answer)
	s.decisions = append(s.decisions, d)
	return answer
}

// judge asks the fencing rule. A refused operation leaves no trace in the
// fence.
func (s *Store) judge(r *resource, req storeRequest) error {
	rule := s.mode.Read
	if req.write {
		rule = s.mode.Write
	}
	r.fence.Version = r.versions[made{req.register, r.registers[req.register]}]
	state, err := rule(r.fence, fence.Op{Token: req.token, Grant: req.grant, Version: r.versions[made{req.register, req.base}]})
	if err == nil {
		r.fence = state
	}
	return err
}

// singleLine puts a text on one line, as the protocol needs it.
func singleLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func (s *storeSession) eof() { s.conn.finish() }

func (s *storeSession) reset() {}

// storeRequest is one operation on the wire.
type storeRequest struct {
	write                  bool
	resource, register, op string
	token                  uint64
	grant, base            string // may be empty
}

func (r storeRequest) String() string {
	verb := "READ"
	if r.write {
		verb = "WRITE"
	}
	return fmt.Sprintf("%s %s %s %s %d %s %s", verb, r.resource, r.register, r.op, r.token,
		cmp.Or(r.grant, absent), cmp.Or(r.base, absent))
}

func parseStoreRequest(line string) (storeRequest, error) {
	f := strings.Fields(line)
	if len(f) != 7 || f[0] != "READ" && f[0] != "WRITE" {
		return storeRequest{}, fmt.Errorf("want READ or WRITE with resource, register, operation, token, grant and base, got %q", line)
	}
	token, err := strconv.ParseUint(f[4], 10, 64)
	if err != nil {
		return storeRequest{}, fmt.Errorf("token %q is not a number", f[4])
	}
	return storeRequest{write: f[0] == "WRITE", resource: f[1], register: f[2], op: f[3], token: token,
		grant: present(f[5]), base: present(f[6])}, nil
}

// absent stands for an empty word on the wire.
const absent = "-"

func present(word string) string {
	if word == absent {
		return ""
	}
	return word
}
