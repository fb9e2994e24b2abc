package fences

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locksim/scenarios/kinds/server"
	"locksim/scenarios/subject"
	"locksim/sim"
	"locksim/sim/trace"
)

// The ledger is the server of the lock beside a fence under test: it keeps leases, and mints tokens that grow by
// one with each grant of a resource. It never forgets anything, and no search draws a fault for it alone.
//
//	TAKE name owner milliseconds twice   OK token, or NO milliseconds that the lease of another one has left
//	FREE name owner                      OK, or NO
//
// With twice 1 each token is given to two grants, one after the other, as by a counter that was lost.

// ledgerKind is the kind of the ledger.
var ledgerKind = subject.ServerKind{Facts: server.Facts{Name: "ledger", Prefix: "led", Beside: true},
	Make: func(int) sim.Kind { return ledgers{} }}

// ledgers is the kind of the one ledger of a world.
type ledgers struct{}

// Build implements [sim.Kind].
func (ledgers) Build(b *sim.Builder) { b.Add(ledgerName, ledgerPort, newLedger) }

const (
	ledgerName = "led0"
	ledgerPort = 7200
)

// firstTokens are those from which the tokens of a resource begin. After each of them comes one that has more
// digits or, soon, more bits.
var firstTokens = []uint64{1, 8, 98, 1<<31 - 3, 1<<32 - 3}

// entry is a resource in the ledger.
type entry struct {
	owner  string        // "" if it is free
	until  time.Duration // by the clock of the ledger
	token  uint64        // the last one
	grants int
}

type ledger struct {
	node    *sim.Node
	entries map[string]*entry
}

func newLedger(n *sim.Node) sim.Server { return &ledger{node: n, entries: map[string]*entry{}} }

// Accept implements [sim.Server].
func (l *ledger) Accept(c *sim.ServerConn) sim.Session { return &page{ledger: l, conn: c} }

// page is one connection.
type page struct {
	ledger *ledger
	conn   *sim.ServerConn
	in     []byte
}

// Data implements [sim.Session]: a request for each line.
func (p *page) Data(b []byte) {
	p.in = append(p.in, b...)
	for {
		line, rest, whole := bytes.Cut(p.in, []byte("\n"))
		if !whole {
			return
		}
		p.in = rest
		answer := p.ledger.do(strings.Fields(string(line)))
		p.ledger.node.Record(p.conn.Client(), trace.Exec{Conn: p.conn.Name(), Request: trace.Text(string(line)),
			Answer: trace.Text(answer)})
		p.conn.Send([]byte(answer + "\n"))
	}
}

// EOF implements [sim.Session].
func (p *page) EOF() { p.conn.Finish() }

// Reset implements [sim.Session].
func (p *page) Reset() { p.in = nil }

// do carries out a request.
func (l *ledger) do(f []string) string {
	switch {
	case len(f) == 5 && f[0] == "TAKE":
		ms, err := strconv.Atoi(f[3])
		if err != nil {
			return "ERROR the milliseconds are not a number"
		}
		return l.take(f[1], f[2], time.Duration(ms)*time.Millisecond, f[4] == "1")
	case len(f) == 3 && f[0] == "FREE":
		if e := l.entry(f[1]); e.owner == f[2] {
			e.owner = ""
			return "OK"
		}
		return "NO"
	}
	return fmt.Sprintf("ERROR no such request: %q", f)
}

// take grants a resource that is free.
func (l *ledger) take(name, owner string, ttl time.Duration, twice bool) string {
	e := l.entry(name)
	if e.owner != "" && e.owner != owner {
		return fmt.Sprintf("NO %d", (e.until - l.node.Monotonic()).Milliseconds())
	}
	if e.owner != owner && (e.grants == 0 || !twice || e.grants%2 == 0) {
		e.token++
	}
	if e.owner != owner {
		e.grants++
	}
	e.owner, e.until = owner, l.node.Monotonic()+ttl
	return fmt.Sprintf("OK %d", e.token)
}

// entry is that of a resource, without an owner whose lease has ended.
func (l *ledger) entry(name string) *entry {
	e := l.entries[name]
	if e == nil {
		dice := l.node.Rand("tokens of " + name)
		e = &entry{token: firstTokens[dice.IntN(len(firstTokens))] - 1}
		l.entries[name] = e
	}
	if e.owner != "" && e.until <= l.node.Monotonic() {
		e.owner = ""
	}
	return e
}
