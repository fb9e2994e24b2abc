// Package store is the protected resource: named resources of one or more
// registers, which clients read and write under a lock. It applies its fencing
// mode to every operation, and records its decisions.
//
// [Store] is the resource itself, without a network. [Server] puts it into a
// simulated world as s0; [Client] accesses it there, or over real TCP.
package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"locksim/lock/fence"
	"locksim/sim/trace"
)

// Store is the protected resource. The scope of the fencing rule is the resource,
// and the register for versions. It is not safe for concurrent use.
type Store struct {
	mode      fence.Mode
	resources map[string]*resource
	decisions []Decision
}

type resource struct {
	fence     fence.State // its Version is that of the register of the last operation
	registers map[string]string
	versions  map[made]uint64
}

// made identifies a version of a register by the operation that wrote it.
type made struct{ register, op string }

// Decision is the store's decision on one operation.
type Decision struct {
	// Step is the number of the event in the trace.
	Step int
	trace.Decision
}

// New creates an empty store with a fencing rule. An empty mode is fence.None;
// an unknown one panics.
func New(mode fence.Mode) *Store {
	if mode == "" {
		mode = fence.None
	}
	if _, err := fence.ParseMode(string(mode)); err != nil {
		panic("store: " + err.Error())
	}
	return &Store{mode: mode, resources: map[string]*resource{}}
}

// Decisions are all operations that arrived, in the order of their arrival. Do not
// change them.
func (s *Store) Decisions() []Decision { return s.decisions }

// Value is the value of a register: the name of the operation that wrote it
// last, or nothing. It bypasses fencing, for the end of a run.
func (s *Store) Value(resource, register string) string {
	if r := s.resources[resource]; r != nil {
		return r.registers[register]
	}
	return ""
}

// Cells are the registers with a value, as "resource/register=value" in order.
func (s *Store) Cells() []string {
	var out []string
	for name, r := range s.resources {
		for reg, v := range r.registers {
			out = append(out, trace.Name(name)+"/"+reg+"="+v)
		}
	}
	slices.Sort(out)
	return out
}

// Highest is the highest token in the state of a resource's fence.
func (s *Store) Highest(resource string) uint64 {
	if r := s.resources[resource]; r != nil {
		return r.fence.Highest
	}
	return 0
}

func (s *Store) resource(name string) *resource {
	r := s.resources[name]
	if r == nil {
		r = &resource{registers: map[string]string{}, versions: map[made]uint64{}}
		s.resources[name] = r
	}
	return r
}

// Serve executes the operation of one line of the protocol, see [Client];
// record puts the decision into the trace and returns the number of the event.
// It returns the answer's line. For a line that is no operation that is ERROR,
// and nothing is recorded.
func (s *Store) Serve(line string, record func(trace.Decision) int) (answer string) {
	op, err := parseRequest(line)
	if err != nil {
		return "ERROR " + err.Error()
	}
	s.decide(&op)
	switch {
	case op.Refused != "":
		answer = "REFUSED " + op.Refused
	case op.Write:
		answer = "OK"
	default:
		answer = strings.TrimSpace("OK " + op.Value)
	}
	s.decisions = append(s.decisions, Decision{Step: record(op), Decision: op})
	return answer
}

// decide executes an operation: it sets why it is refused, or the value that a read finds.
func (s *Store) decide(op *trace.Decision) {
	r := s.resource(op.Resource)
	switch err := s.judge(r, *op); {
	case err != nil:
		op.Refused = singleLine(err.Error())
	case op.Write:
		r.registers[op.Register] = op.Op
		r.versions[made{op.Register, op.Op}] = r.fence.Version
	default:
		op.Value = r.registers[op.Register]
	}
}

// Alike reports whether a store with another fencing rule would have answered each operation of a trace in the same
// words. The run under that rule is then the same, event by event.
func Alike(t *trace.Trace, mode fence.Mode) bool {
	other := New(mode)
	for _, e := range t.Events {
		was, ok := e.What.(trace.Decision)
		if !ok {
			continue
		}
		op := was
		op.Refused, op.Value = "", ""
		if other.decide(&op); op != was {
			return false
		}
	}
	return true
}

// judge applies the fencing rule. A refused operation does not change the state
// of the fence.
func (s *Store) judge(r *resource, op trace.Decision) error {
	rule := s.mode.Read
	if op.Write {
		rule = s.mode.Write
	}
	r.fence.Version = r.versions[made{op.Register, r.registers[op.Register]}]
	state, err := rule(r.fence, fence.Op{Token: op.Token, Grant: op.Grant,
		Version: r.versions[made{op.Register, op.Base}]})
	if err == nil {
		r.fence = state
	}
	return err
}

// ErrRefused is returned by a [Client] when the store's fencing rule refused
// the operation. The message has the reason.
var ErrRefused = errors.New("the store refused the operation")

// ErrUnknownOutcome is returned by a [Client] when an operation was sent and no
// answer arrived: it may have been applied, or may be applied later.
var ErrUnknownOutcome = errors.New("no answer: the operation may have been applied, or may be yet")

// singleLine puts a text on one line, as the protocol requires.
func singleLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Op names an operation on the store.
type Op struct {
	// Resource and Register identify the register; neither may contain white
	// space.
	Resource, Register string
	// ID is unique in a run; a write stores it. No white space.
	ID string
	// Token is the fencing token of the grant, 0 for none.
	Token uint64
	// Grant is the id of the grant, Base the id of the operation that a write
	// is based on: the value that its client has read. Either may be empty. No
	// white space, nor a lone dash.
	Grant, Base string
}

func (op Op) validate() error {
	if op.Resource == "" {
		return fmt.Errorf("store: operation %+v: the resource must not be empty", op)
	}
	for _, s := range []string{op.Register, op.ID} {
		if f := strings.Fields(s); len(f) != 1 || f[0] != s {
			return fmt.Errorf("store: operation %+v: register and id must not be empty or contain white space", op)
		}
	}
	for _, s := range []string{op.Grant, op.Base} {
		if f := strings.Fields(s); s == absent || s != "" && (len(f) != 1 || f[0] != s) {
			return fmt.Errorf("store: operation %+v: grant and base must not be a dash or contain white space", op)
		}
	}
	return nil
}
