package redis

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/sim"
	"locksim/sim/trace"
)

// ledger is what a node knows of its keys besides miniredis: it finds out what
// a command or a script has really done, by comparing the keys that it named
// before and after. What comes of it are effects, with expiry at instants of
// the node's wall clock: what Redis replicates and writes to its append-only
// file. A write that changes nothing has no effect; Redis would replicate it. A
// node has a ledger only where somebody wants one: replicas, a disk,
// or a test that watches keys.
type ledger struct {
	server *Server
	only   map[string]bool // the keys of database 0 that count; nil: every key
	// data is what the node has. A replica keeps what has expired by its clock,
	// and hides it.
	data   map[place]datum
	past   map[place]datum // what it had when it crashed
	dbs    map[int]bool    // that were used
	offset int64           // effects so far

	touched []place // that the command at hand may have changed
	all     bool    // or every key
	emptied bool    // by FLUSHALL

	next  time.Duration // when the next key expires, in the machine's wall time
	timer *sim.Timer    // for that
	due   time.Duration // what the timer is for
}

// effect is one key as it is from now on.
type effect struct {
	place place
	datum datum
}

// batch are the effects of one command, script or transaction.
type batch struct {
	effects []effect
	offset  int64 // after it
}

// AppendText implements [trace.Content].
func (b batch) AppendText(text []byte) []byte {
	for i, e := range b.effects {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = e.appendText(text)
	}
	return text
}

// AppendHash implements [trace.Content].
func (b batch) AppendHash(h []byte) []byte {
	h = trace.AppendInt(h, b.offset)
	for _, e := range b.effects {
		h = trace.AppendString(trace.AppendInt(h, int64(e.place.db)), e.place.key)
		h = trace.AppendStrings(trace.AppendString(h, e.datum.kind), e.datum.parts)
		h = trace.AppendInt(trace.AppendInt(h, int64(e.datum.until)), int64(len(e.datum.fields)))
		for _, until := range e.datum.fields {
			h = trace.AppendInt(h, int64(until))
		}
	}
	return h
}

func (e effect) appendText(b []byte) []byte {
	if !e.datum.exists() {
		return append(append(b, "no "...), e.place.key...)
	}
	b = append(append(append(b, e.place.key...), '='), e.datum.String()...)
	if e.datum.until != never {
		b = append(append(b, " until "...), e.datum.until.String()...)
	}
	return b
}

func newLedger(n *Server) *ledger {
	return &ledger{server: n, data: map[place]datum{}, dbs: map[int]bool{0: true}, next: never, due: never}
}

// wide are the commands that change keys which they do not name, or in another
// database; so do scripts that miniredis runs, those in a transaction.
var wide = []string{"FLUSHALL", "FLUSHDB", "SWAPDB", "MOVE", "COPY", "SELECT"}

// touch notes the keys that a command may change: any of its arguments may be one.
func (l *ledger) touch(db int, args []string) {
	if runsScript(args[0]) || slices.ContainsFunc(wide, func(w string) bool { return strings.EqualFold(w, args[0]) }) {
		l.touchAll(args)
		return
	}
	if l.only == nil && l.server.data.mini.IsReadOnlyCommand(args[0]) {
		return
	}
	for _, a := range args[1:] {
		if l.only == nil || l.only[a] && db == 0 {
			l.touched = append(l.touched, place{db, a})
		}
	}
	l.dbs[db] = true
}

// touchAll notes that every key may change. A small number may be a database.
func (l *ledger) touchAll(args []string) {
	l.all = true
	l.emptied = l.emptied || strings.EqualFold(args[0], "FLUSHALL")
	for _, a := range args[1:] {
		if n, err := strconv.Atoi(a); err == nil && n >= 0 && n < databases {
			l.dbs[n] = true
		}
	}
}

// databases is how many Redis has.
const databases = 16

// settle works out what the commands since the last time have done, and passes
// it on.
func (l *ledger) settle(why origin) {
	places := l.touched
	if l.all {
		places = l.places()
	}
	var done []effect
	for _, p := range places {
		if is, changed := l.compare(p, why); changed {
			done = append(done, effect{p, is})
		}
	}
	if len(done) > 0 {
		l.publish(done)
	}
	if l.emptied && l.server.disk.mode == PersistRDB {
		l.server.disk.rewrite() // as Redis does
	}
	l.touched, l.all, l.emptied = l.touched[:0], false, false
}

// compare brings the ledger up to date for one key.
func (l *ledger) compare(p place, why origin) (is datum, changed bool) {
	was := l.has(p)
	if is = l.server.data.read(p); is.equal(was) {
		return is, false
	}
	l.set(p, is)
	l.server.changed(p, was, is, why)
	return is, true
}

func (l *ledger) set(p place, d datum) {
	if !d.exists() {
		delete(l.data, p)
		return
	}
	l.data[p] = d
	l.next = min(l.next, d.ends(l.server.data.shown))
}

// places are all keys that are, or were, in order.
func (l *ledger) places() []place {
	if l.only != nil {
		var all []place
		for _, k := range slices.Sorted(maps.Keys(l.only)) {
			all = append(all, place{0, k})
		}
		return all
	}
	set := map[place]bool{}
	for p := range l.data {
		set[p] = true
	}
	for db := range l.dbs {
		for _, k := range l.server.data.mini.DB(db).Keys() {
			set[place{db, k}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(set), comparePlaces)
}

// publish passes effects on to the disk and to the replicas.
func (l *ledger) publish(done []effect) {
	l.offset += int64(len(done))
	b := batch{done, l.offset}
	l.server.disk.write(b)
	for _, r := range l.server.repl.followers {
		r.feed(b)
	}
	l.plan()
}

// replace makes the node's keys those of data, in place of those that it had.
// What has expired by its clock a primary drops and a replica hides.
func (l *ledger) replace(data, was map[place]datum, why origin) {
	n := l.server
	n.data.mini.FlushAll()
	l.data, l.next = map[place]datum{}, never
	for _, p := range slices.SortedFunc(maps.Keys(data), comparePlaces) {
		l.dbs[p.db] = true
		n.data.put(p, data[p])
		if n.repl.leader == nil {
			l.set(p, n.data.read(p))
		} else {
			l.set(p, data[p])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(n.family.watched)) {
		p := place{0, k}
		n.changed(p, was[p], l.seen(p), why)
	}
	l.plan()
}

// forget empties the ledger of a node that has crashed.
func (l *ledger) forget() {
	l.past, l.data, l.next = l.data, map[place]datum{}, never
	l.touched, l.all = nil, false
	l.replan()
}

// seen is what clients see of a key.
func (l *ledger) seen(p place) datum { return l.has(p).at(l.server.data.shown) }

func (l *ledger) has(p place) datum {
	if d, ok := l.data[p]; ok {
		return d
	}
	return gone
}
