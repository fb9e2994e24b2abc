package consul

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pair is a key, as the HTTP API shows it.
type pair struct {
	LockIndex   uint64
	Key         string
	Flags       uint64
	Value       []byte
	Session     string `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64

	acquired uint64 // the index at which Session acquired it
}

func (p pair) equals(q pair) bool {
	return p.LockIndex == q.LockIndex && p.Flags == q.Flags && p.Session == q.Session && bytes.Equal(p.Value, q.Value)
}

// session is a session, as the HTTP API shows it.
type session struct {
	ID         string
	Name       string
	Node       string
	LockDelay  time.Duration
	Behavior   behavior
	TTL        string
	NodeChecks []string
	// ServiceChecks is always nil: these servers have no services.
	ServiceChecks []string
	CreateIndex   uint64
	ModifyIndex   uint64

	ttl time.Duration // 0 for none
}

// behavior is what happens to the locks of a session that ends.
type behavior string

const (
	behaviorRelease behavior = "release"
	behaviorDelete  behavior = "delete"
)

// state is what the log makes: sessions and keys.
type state struct {
	pairs    map[string]*pair
	removed  map[string]uint64 // the indexes at which keys were deleted
	changed  uint64            // the index at which a key last was
	sessions map[string]*session
	failed   map[string]bool // nodes whose check serfHealth is critical
	// delays are the ends of lock-delays, on the monotonic clock of the server that has the state.
	delays map[string]time.Duration
}

func newState() *state {
	return &state{
		pairs: map[string]*pair{}, removed: map[string]uint64{}, delays: map[string]time.Duration{},
		sessions: map[string]*session{}, failed: map[string]bool{},
	}
}

// op is what an entry of the log does.
type op string

const (
	opSet     op = "set"
	opCAS     op = "cas"
	opAcquire op = "acquire"
	opRelease op = "release"
	opDelete  op = "delete"
	opDestroy op = "destroy" // a session
	opCreate  op = "session" // a session
	opFail    op = "fail"    // the check of a node
	opPass    op = "pass"
)

// entry is an entry of the log.
type entry struct {
	ID      uint64 // of the request
	Op      op
	Key     string   `json:",omitempty"`
	Value   []byte   `json:",omitempty"`
	Flags   uint64   `json:",omitempty"`
	Index   uint64   `json:",omitempty"` // of a CAS
	Checked bool     `json:",omitempty"` // a delete is a CAS
	Prefix  bool     `json:",omitempty"` // a delete of all keys that begin with Key
	Session string   `json:",omitempty"`
	Made    *session `json:",omitempty"`
	TTL     time.Duration
	Node    string `json:",omitempty"`
}

// apply applies an entry. done is the answer to who asked for it; changed says that a lock may have another holder.
func (s *state) apply(e entry, index uint64, now time.Duration) (done, changed bool, err error) {
	switch e.Op {
	case opCreate:
		made := *e.Made
		for _, check := range made.NodeChecks {
			if check != serfHealth {
				return false, false, failure(fmt.Sprintf("apply failed: Missing check '%s' registration", check))
			}
			if s.failed[made.Node] {
				return false, false, failure("apply failed: Check 'serfHealth' is in critical state")
			}
		}
		made.ttl, made.CreateIndex, made.ModifyIndex = e.TTL, index, index
		s.sessions[made.ID] = &made
		return true, false, nil
	case opDestroy:
		return true, s.invalidate(e.Session, index, now), nil
	case opFail:
		s.failed[e.Node] = true
		for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
			if x := s.sessions[id]; x.Node == e.Node && slices.Contains(x.NodeChecks, serfHealth) {
				changed = s.invalidate(id, index, now) || changed
			}
		}
		return true, changed, nil
	case opPass:
		delete(s.failed, e.Node)
		return true, false, nil
	case opDelete:
		done, changed = s.remove(e, index)
		return done, changed, nil
	}
	return s.write(e, index)
}

// write sets a key. As in Consul's own state store (1.14.11), a write without a session sets the LockIndex to 0, and
// one that changes nothing moves no index.
func (s *state) write(e entry, index uint64) (done, changed bool, err error) {
	before := s.pairs[e.Key]
	next := pair{Key: e.Key, Value: e.Value, Flags: e.Flags, CreateIndex: index, ModifyIndex: index}
	if before != nil {
		next.CreateIndex, next.LockIndex = before.CreateIndex, before.LockIndex
		next.Session, next.acquired = before.Session, before.acquired
	}
	switch e.Op {
	case opSet:
		next.LockIndex = 0
	case opCAS:
		if e.Index == 0 && before != nil || e.Index != 0 && (before == nil || before.ModifyIndex != e.Index) {
			return false, false, nil
		}
		next.LockIndex = 0
	case opAcquire:
		if e.Session == "" {
			return false, false, failure("raft apply failed: missing session")
		}
		if s.session(e.Session) == nil {
			return false, false, failure("raft apply failed: invalid session " + strconv.Quote(e.Session))
		}
		switch next.Session {
		case e.Session: // it has it already
		case "":
			next.LockIndex++
			next.Session, next.acquired = e.Session, index
		default:
			return false, false, nil
		}
	case opRelease:
		if e.Session == "" {
			return false, false, failure("raft apply failed: missing session")
		}
		if before == nil || before.Session != e.Session {
			return false, false, nil
		}
		next.Session = ""
	}
	if before != nil && before.equals(next) {
		return true, false, nil
	}
	s.pairs[e.Key], s.changed = &next, index
	return true, true, nil
}

// remove deletes a key, or those that begin with it. To delete a key that is not there succeeds, whatever its index
// should be.
func (s *state) remove(e entry, index uint64) (done, changed bool) {
	before := s.pairs[e.Key]
	if e.Checked && before != nil && before.ModifyIndex != e.Index {
		return false, false
	}
	keys := s.under(e.Key, e.Prefix)
	for _, key := range keys {
		s.drop(key, index)
	}
	return true, len(keys) > 0
}

// session is the session with an id, in capital letters too; nil if it is not there.
func (s *state) session(id string) *session { return s.sessions[strings.ToLower(id)] }

func (s *state) drop(key string, index uint64) {
	delete(s.pairs, key)
	s.removed[key], s.changed = index, index
}

// invalidate ends a session, and gives up its locks. changed says that it had some.
func (s *state) invalidate(id string, index uint64, now time.Duration) (changed bool) {
	ended := s.session(id)
	if ended == nil {
		return false
	}
	delete(s.sessions, ended.ID)
	for _, key := range s.under("", true) {
		p := s.pairs[key]
		if !strings.EqualFold(p.Session, ended.ID) {
			continue
		}
		changed = true
		if ended.LockDelay > 0 {
			s.delays[key] = now + min(ended.LockDelay, maxLockDelay)
		}
		if ended.Behavior == behaviorDelete {
			s.drop(key, index)
			continue
		}
		next := *p
		next.Session, next.ModifyIndex = "", index
		s.pairs[key], s.changed = &next, index
	}
	return changed
}

// under are the keys with a name, or those that begin with it, in order.
func (s *state) under(name string, prefix bool) []string {
	if !prefix {
		if s.pairs[name] == nil {
			return nil
		}
		return []string{name}
	}
	var keys []string
	for key := range s.pairs {
		if strings.HasPrefix(key, name) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// read is a key, or those that begin with it, with the index of the answer.
func (s *state) read(name string, prefix bool) (found []*pair, index uint64) {
	for _, key := range s.under(name, prefix) {
		p := s.pairs[key]
		found = append(found, p)
		index = max(index, p.ModifyIndex)
	}
	if prefix && name != "" {
		for key, at := range s.removed {
			if strings.HasPrefix(key, name) {
				index = max(index, at)
			}
		}
	}
	if index == 0 {
		index = s.changed
	}
	return found, max(index, 1)
}

// failure is an error that a request gets with the code 500.
type failure string

func (f failure) Error() string { return string(f) }
