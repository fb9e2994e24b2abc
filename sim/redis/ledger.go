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

// ledger is a node's copy of its keys beside miniredis. It determines what a
// command or a script has done, by comparing the keys that it named before and
// after. The result are effects, with expiry at instants of the node's wall
// clock: what Redis replicates and writes to its append-only file. A write that
// changes nothing has no effect; Redis would replicate it. A node has a ledger
// only for replicas, a disk, or watched keys.
type ledger struct {
	server *Server
	only   map[string]bool // the keys of database 0 to follow; nil: every key
	// data are the node's keys. A replica keeps those that have expired by its
	// clock, and hides them.
	data   map[dbKey]datum
	past   map[dbKey]datum // its keys when it crashed
	dbs    map[int]bool    // databases that were used
	offset int64           // effects so far

	touched []dbKey // keys that the current command may have changed
	all     bool    // it may have changed every key
	emptied bool    // by FLUSHALL

	next  time.Duration // when the next key expires, in the machine's wall time
	timer *sim.Timer    // for the next expiry
	due   time.Duration // the instant of the timer
}

// effect is the new state of one key.
type effect struct {
	key   dbKey
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
		h = trace.AppendString(trace.AppendInt(h, int64(e.key.db)), e.key.key)
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
		return append(append(b, "no "...), e.key.key...)
	}
	b = append(append(append(b, e.key.key...), '='), e.datum.String()...)
	if e.datum.until != never {
		b = append(append(b, " until "...), e.datum.until.String()...)
	}
	return b
}

func newLedger(n *Server) *ledger {
	return &ledger{server: n, data: map[dbKey]datum{}, dbs: map[int]bool{0: true}, next: never, due: never}
}

// wide are the commands that change keys which they do not name, or in another
// database; so may scripts in a transaction, which miniredis runs.
var wide = []string{"FLUSHALL", "FLUSHDB", "SWAPDB", "MOVE", "COPY", "SELECT"}

// touch records the keys that a command may change: any of its arguments may be
// one.
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
			l.touched = append(l.touched, dbKey{db, a})
		}
	}
	l.dbs[db] = true
}

// touchAll records that every key may change. A small number may be a database.
func (l *ledger) touchAll(args []string) {
	l.all = true
	l.emptied = l.emptied || strings.EqualFold(args[0], "FLUSHALL")
	for _, a := range args[1:] {
		if n, err := strconv.Atoi(a); err == nil && n >= 0 && n < databases {
			l.dbs[n] = true
		}
	}
}

// databases is the number of databases in Redis.
const databases = 16

// commit determines the effects of the commands since the last commit, and
// publishes them.
func (l *ledger) commit(why origin) {
	places := l.touched
	if l.all {
		places = l.allKeys()
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

func (l *ledger) compare(p dbKey, why origin) (is datum, changed bool) {
	was := l.has(p)
	if is = l.server.data.read(p); is.equal(was) {
		return is, false
	}
	l.set(p, is)
	l.server.changed(p, was, is, why)
	return is, true
}

func (l *ledger) set(p dbKey, d datum) {
	if !d.exists() {
		delete(l.data, p)
		return
	}
	l.data[p] = d
	l.next = min(l.next, d.ends(l.server.data.shown))
}

// allKeys are all keys that exist, or did before the command, in order.
func (l *ledger) allKeys() []dbKey {
	if l.only != nil {
		var all []dbKey
		for _, k := range slices.Sorted(maps.Keys(l.only)) {
			all = append(all, dbKey{0, k})
		}
		return all
	}
	set := map[dbKey]bool{}
	for p := range l.data {
		set[p] = true
	}
	for db := range l.dbs {
		for _, k := range l.server.data.mini.DB(db).Keys() {
			set[dbKey{db, k}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(set), compareKeys)
}

// publish passes effects to the disk and to the replicas.
func (l *ledger) publish(done []effect) {
	l.offset += int64(len(done))
	b := batch{done, l.offset}
	l.server.disk.write(b)
	for _, r := range l.server.repl.followers {
		r.feed(b)
	}
	l.plan()
}

// replace replaces the node's keys by those of data. A primary drops what has
// expired by its clock, a replica hides it.
func (l *ledger) replace(data, was map[dbKey]datum, why origin) {
	n := l.server
	n.data.mini.FlushAll()
	l.data, l.next = map[dbKey]datum{}, never
	for _, p := range slices.SortedFunc(maps.Keys(data), compareKeys) {
		l.dbs[p.db] = true
		n.data.put(p, data[p])
		if n.repl.leader == nil {
			l.set(p, n.data.read(p))
		} else {
			l.set(p, data[p])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(n.family.watched)) {
		p := dbKey{0, k}
		n.changed(p, was[p], l.seen(p), why)
	}
	l.plan()
}

// forget empties the ledger of a crashed node.
func (l *ledger) forget() {
	l.past, l.data, l.next = l.data, map[dbKey]datum{}, never
	l.touched, l.all = nil, false
	l.replan()
}

// seen is a key as clients see it.
func (l *ledger) seen(p dbKey) datum { return l.has(p).at(l.server.data.shown) }

func (l *ledger) has(p dbKey) datum {
	if d, ok := l.data[p]; ok {
		return d
	}
	return absent
}

// origin is the cause of key changes, and its step.
type origin struct {
	step    int
	by      string
	request Request      // by's, which was carried out
	change  trace.Change // of deleted keys, and of keys not set by a command
}

// changed records a change of a key, if it is watched.
func (n *Server) changed(p dbKey, was, is datum, why origin) {
	if p.db != 0 || !n.family.watched[p.key] {
		return
	}
	change := why.change
	switch {
	case change == trace.KeyRestored && is.exists():
	case was.sameValue(is):
		if !is.exists() || was.equal(is) || change == trace.KeyExpired || change == trace.KeyRestored {
			return
		}
		change = trace.KeyProlonged
	case is.exists() && (change == trace.KeyDeleted || change == trace.KeyFlushed):
		change = trace.KeySet
	}
	c := trace.KeyChange{Step: why.step, Key: p.key, Value: is.String(), Members: is.members(), By: why.by, Change: change}
	if c.Left = was.left(n.data.shown); why.by != "" {
		c.Asked, c.Request = why.by, why.request.Kind()
	}
	n.node.KeyChanged(c)
}

// left is the time that a key has left at an instant of a wall clock, until it expires or the first of its fields does.
func (d datum) left(wall time.Duration) trace.TimeLeft {
	if !d.exists() {
		return trace.TimeLeft{End: trace.EndNone}
	}
	until := d.until
	for _, of := range d.fields {
		until = min(until, of)
	}
	if until == never {
		return trace.TimeLeft{End: trace.EndNever}
	}
	return trace.LeftFor(until - wall)
}
