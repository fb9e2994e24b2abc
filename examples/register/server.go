// Package register adds a server to locksim's world: a compare-and-set register
// with a protocol of lines over TCP, a lock on it, and the same lock with a
// mistake. The server is in server.go, the locks are in lock.go, and the tests
// of the locks in register_test.go.
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
	return scenarios.ServerKind{Facts: scenarios.ServerFacts{Name: "register", Prefix: "k"},
		Make: func(n int) sim.Kind { return servers(n) }}
}

// Port is the port of a server.
const Port = 7100

// servers is the number of servers in a world.
type servers int

// Build implements sim.Kind.
func (n servers) Build(b *sim.Builder) {
	for i := range int(n) {
		b.Add(fmt.Sprintf("k%d", i), Port, func(node *sim.Node) sim.Server {
			return &server{node: node, disk: map[string]entry{}}
		})
	}
}

// server stores registers by name. Each has a value, which may expire, by the
// machine's monotonic clock: a lease. A change is on the disk before the reply.
//
//	CAS name old new milliseconds   OK, or NO value
//	GET name                        OK value
//
// An empty value is written as a dash. A register without a value, or with an
// expired one, is empty.
type server struct {
	node    *sim.Node
	disk    map[string]entry
	watched []string
}

// entry is a register.
type entry struct {
	value string
	until time.Duration // on the machine's monotonic clock; 0 means no expiry
	timer *sim.Timer
	by    string // the client that set it
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

// serve executes one request: first it records the event, then the ground truth
// that names the event, and then it replies.
func (s *session) serve(line string) {
	answer, change := s.server.do(strings.Fields(line))
	step := s.server.node.Record(s.conn.Client(),
		trace.Exec{Conn: s.conn.Name(), Request: trace.Text(line), Answer: trace.Text(answer)})
	if change != nil {
		change(step, s.conn.Client())
	}
	s.conn.Send([]byte(answer + "\n"))
}

// do executes a request. change is nil if the request changes nothing.
func (s *server) do(f []string) (answer string, change func(step int, by string)) {
	switch {
	case len(f) == 2 && f[0] == "GET":
		return "OK " + orDash(s.disk[f[1]].value), nil
	case len(f) == 5 && f[0] == "CAS":
		ms, err := strconv.Atoi(f[4])
		if err != nil || ms < 0 {
			return "ERROR the milliseconds are not a number", nil
		}
		if now := s.disk[f[1]].value; now != empty(f[2]) {
			return "NO " + orDash(now), nil
		}
		return "OK", func(step int, by string) { s.set(f[1], empty(f[3]), time.Duration(ms)*time.Millisecond, step, by) }
	}
	return fmt.Sprintf("ERROR no such request: %q", f), nil
}

// set sets a register and starts the timer of its expiry.
func (s *server) set(name, value string, lease time.Duration, step int, by string) {
	before := s.disk[name]
	if before.timer != nil {
		before.timer.Stop()
	}
	e := entry{value: value, by: by}
	change := trace.KeyDeleted
	if value != "" {
		change = trace.KeySet
		if lease > 0 {
			e.until = s.node.Monotonic() + lease
		}
		if before.value == value {
			change = trace.KeyProlonged
		}
	}
	s.disk[name] = e
	s.plan(name)
	s.changed(name, step, by, change, before)
}

// plan starts the timer of a register's expiry.
func (s *server) plan(name string) {
	e := s.disk[name]
	if e.value == "" || e.until == 0 {
		return
	}
	e.timer = s.node.After(max(e.until-s.node.Monotonic(), 0), func() {
		delete(s.disk, name)
		s.changed(name, s.node.Record("", trace.Expire{Key: name}), "", trace.KeyExpired, e)
	})
	s.disk[name] = e
}

// changed reports a change as ground truth, with the time that the register had
// left before it.
func (s *server) changed(name string, step int, by string, what trace.Change, before entry) {
	if !slices.Contains(s.watched, name) {
		return
	}
	c := trace.KeyChange{Step: step, Key: name, Value: s.disk[name].value, By: by, Change: what, Asked: by}
	if by != "" {
		c.Request = "CAS"
	}
	switch {
	case before.value == "":
		c.Left.End = trace.EndNone
	case before.until == 0:
		c.Left.End = trace.EndNever
	default:
		c.Left = trace.LeftFor(before.until - s.node.Monotonic())
	}
	s.node.KeyChanged(c)
}

// Crash implements sim.Crasher: the disk survives, and the machine's clock
// continues.
func (s *server) Crash(faults.CrashMode) {}

// Kept implements sim.Keeper.
func (s *server) Kept() string { return fmt.Sprintf("%d registers kept", len(s.disk)) }

// Restart implements sim.Restarter: it starts the timers again. A register
// whose lease has ended expires now.
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
