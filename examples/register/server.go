// Package register brings a server of its own into locksim's world: a
// compare-and-set register that speaks a protocol of lines over TCP, a lock on
// it, and the same lock done wrong. The server is in server.go, the locks in
// lock.go, how they are judged in register_test.go.
package register

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/faults"
	"locksim/scenarios"
	"locksim/sim"
	"locksim/sim/trace"
)

// Kind is the kind of server, for locks and for scenario files: k0, k1, …
func Kind() scenarios.ServerKind {
	return scenarios.ServerKind{Name: "register", Prefix: "k", Make: func(n int) sim.Kind { return servers(n) }}
}

// Port is where a server listens.
const Port = 7100

// servers are so many of them in a world.
type servers int

// Build implements sim.Kind.
func (n servers) Build(b *sim.Builder) {
	for i := range int(n) {
		b.Add(fmt.Sprintf("k%d", i), Port, func(node *sim.Node) sim.Server {
			return &server{node: node, disk: map[string]entry{}}
		})
	}
}

// server holds registers by name. Each has a value, which may have an end: a lease,
// by the machine's monotonic clock. What it holds is on its disk before it answers.
//
//	CAS name old new milliseconds   OK, or NO value
//	GET name                        OK value
//
// An empty value is written as a dash. A register without a value, or whose value
// has come to its end, is empty.
type server struct {
	node    *sim.Node
	disk    map[string]entry
	watched []string
}

// entry is a register.
type entry struct {
	value string
	until time.Duration // on the machine's monotonic clock; 0 is for ever
	timer *sim.Timer
	by    string // who has set it
}

// Accept implements sim.Server.
func (s *server) Accept(c *sim.ServerConn) sim.Session { return &session{server: s, conn: c} }

// session is one client's connection.
type session struct {
	server *server
	conn   *sim.ServerConn
	in     []byte
}

// Data implements sim.Session: a request for each line.
func (s *session) Data(b []byte) {
	s.in = append(s.in, b...)
	for {
		line, rest, whole := bytes.Cut(s.in, []byte("\n"))
		if !whole {
			return
		}
		s.in = rest
		s.serve(string(line))
	}
}

// EOF implements sim.Session.
func (s *session) EOF() { s.conn.Finish() }

// Reset implements sim.Session.
func (s *session) Reset() { s.in = nil }

// serve does one request: the event comes first, then the ground truth that names
// it, then the answer.
func (s *session) serve(line string) {
	answer, change := s.server.do(strings.Fields(line))
	step := s.server.node.Record(s.conn.Client(),
		trace.Exec{Conn: s.conn.Name(), Request: trace.Text(line), Answer: trace.Text(answer)})
	if change != nil {
		change(step, s.conn.Client())
	}
	s.conn.Send([]byte(answer + "\n"))
}

// do does a request. change is nil where nothing has changed.
func (s *server) do(f []string) (answer string, change func(step int, by string)) {
	switch {
	case len(f) == 2 && f[0] == "GET":
		return "OK " + orDash(s.disk[f[1]].value), nil
	case len(f) == 5 && f[0] == "CAS":
		ms, err := strconv.Atoi(f[4])
		if err != nil || ms < 0 {
			return "ERROR the milliseconds are no number", nil
		}
		if now := s.disk[f[1]].value; now != empty(f[2]) {
			return "NO " + orDash(now), nil
		}
		return "OK", func(step int, by string) { s.set(f[1], empty(f[3]), time.Duration(ms)*time.Millisecond, step, by) }
	}
	return fmt.Sprintf("ERROR no such request: %q", f), nil
}

// set gives a register a value, and lets it come to its end.
func (s *server) set(name, value string, lease time.Duration, step int, by string) {
	if t := s.disk[name].timer; t != nil {
		t.Stop()
	}
	e := entry{value: value, by: by}
	change := trace.KeyDeleted
	if value != "" {
		change = trace.KeySet
		if lease > 0 {
			e.until = s.node.Monotonic() + lease
		}
	}
	s.disk[name] = e
	s.plan(name)
	s.changed(name, step, by, change)
}

// plan lets a register be empty when its lease is over.
func (s *server) plan(name string) {
	e := s.disk[name]
	if e.value == "" || e.until == 0 {
		return
	}
	e.timer = s.node.After(max(e.until-s.node.Monotonic(), 0), func() {
		delete(s.disk, name)
		s.changed(name, s.node.Record("", trace.Expire{Key: name}), "", trace.KeyExpired)
	})
	s.disk[name] = e
}

// changed tells the ground truth.
func (s *server) changed(name string, step int, by string, what trace.Change) {
	if slices.Contains(s.watched, name) {
		s.node.KeyChanged(trace.KeyChange{Step: step, Key: name, Value: s.disk[name].value, By: by, Change: what})
	}
}

// Crash implements sim.Crasher: the disk outlives the process, and the machine's
// clock goes on.
func (s *server) Crash(faults.CrashMode) {}

// Kept implements sim.Keeper.
func (s *server) Kept() string { return fmt.Sprintf("%d registers kept", len(s.disk)) }

// Restart implements sim.Restarter: what has come to its end meanwhile does so now.
func (s *server) Restart(int) {
	for _, name := range slices.Sorted(maps.Keys(s.disk)) {
		s.plan(name)
	}
}

// WatchKeys implements sim.KeyWatcher.
func (s *server) WatchKeys(names []string) { s.watched = append(s.watched, names...) }

// Keys implements sim.Keyed.
func (s *server) Keys() []trace.Key {
	var out []trace.Key
	for _, name := range slices.Sorted(maps.Keys(s.disk)) {
		e := s.disk[name]
		if e.value == "" || s.node.Down() {
			continue
		}
		k := trace.Key{Name: name, Value: e.value}
		if e.until > 0 {
			k.TTL = max(e.until-s.node.Monotonic(), 1)
		}
		out = append(out, k)
	}
	return out
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func empty(word string) string {
	if word == "-" {
		return ""
	}
	return word
}
