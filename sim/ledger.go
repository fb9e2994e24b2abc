package sim

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ledger is what a node knows of its keys besides miniredis: it finds out what
// a command or a script has really done, by comparing the keys that it named
// before and after. What comes of it are effects, with expiry at instants of
// the node's wall clock: what Redis replicates and writes to its append-only
// file. A write that changes nothing has no effect; Redis would replicate it. A
// node has a ledger only where somebody wants one: replicas, a disk,
// or a test that watches keys.
type ledger struct {
	node *RedisNode
	only map[string]bool // the keys of database 0 that count; nil: every key
	// data is what the node has. A replica keeps what has expired by its clock,
	// and hides it.
	data   map[place]datum
	past   map[place]datum // what it had when it crashed
	dbs    map[int]bool    // that were used
	offset int64           // effects so far

	touched []place // that the command at hand may have changed
	all     bool    // or every key
	emptied bool    // by FLUSHALL

	next    time.Duration // when the next key expires, in the node's wall time
	planned int           // numbers the events for that: only the latest counts
	due     time.Duration // what that event is for
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

func (b batch) String() string {
	texts := make([]string, len(b.effects))
	for i, e := range b.effects {
		texts[i] = e.String()
	}
	return strings.Join(texts, ", ")
}

func (e effect) String() string {
	switch {
	case !e.datum.exists():
		return "no " + e.place.key
	case e.datum.until == never:
		return e.place.key + "=" + e.datum.String()
	}
	return e.place.key + "=" + e.datum.String() + " until " + e.datum.until.String()
}

func newLedger(n *RedisNode) *ledger {
	return &ledger{node: n, data: map[place]datum{}, dbs: map[int]bool{0: true}, next: never, due: never}
}

// wide are the commands that change keys which they do not name, or in another
// database; so do scripts that miniredis runs, those in a transaction.
var wide = []string{"FLUSHALL", "FLUSHDB", "SWAPDB", "MOVE", "COPY", "SELECT"}

// touch notes the keys that a client's command may change: any of its arguments
// may be one. On a replica it changes nothing.
func (n *RedisNode) touch(db int, args []string) {
	if n.ledger != nil && n.leader == nil {
		n.ledger.touch(db, args)
	}
}

func (l *ledger) touch(db int, args []string) {
	if runsScript(args[0]) || slices.ContainsFunc(wide, func(w string) bool { return strings.EqualFold(w, args[0]) }) {
		l.touchAll(args)
		return
	}
	if l.only == nil && l.node.mini.IsReadOnlyCommand(args[0]) {
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

// settle is for nodes with or without a ledger.
func (n *RedisNode) settle(why origin) {
	if n.ledger != nil {
		n.ledger.settle(why)
	}
}

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
	if l.emptied && l.node.disk.mode == PersistRDB {
		l.node.disk.rewrite() // as Redis does
	}
	l.touched, l.all, l.emptied = l.touched[:0], false, false
}

// compare brings the ledger up to date for one key.
func (l *ledger) compare(p place, why origin) (is datum, changed bool) {
	was := l.has(p)
	if is = l.node.read(p); is.equal(was) {
		return is, false
	}
	l.set(p, is)
	l.node.changed(p, was, is, why)
	return is, true
}

func (l *ledger) set(p place, d datum) {
	if !d.exists() {
		delete(l.data, p)
		return
	}
	l.data[p] = d
	l.next = min(l.next, d.ends(l.node.shown))
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
		for _, k := range l.node.mini.DB(db).Keys() {
			set[place{db, k}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(set), comparePlaces)
}

// publish passes effects on to the disk and to the replicas.
func (l *ledger) publish(done []effect) {
	l.offset += int64(len(done))
	b := batch{done, l.offset}
	l.node.disk.write(b)
	for _, r := range l.node.followers {
		r.feed(b)
	}
	l.plan()
}

// replace makes the node's keys those of data, in place of those that it had.
// What has expired by its clock a primary drops and a replica hides.
func (l *ledger) replace(data, was map[place]datum, why origin) {
	n := l.node
	n.mini.FlushAll()
	l.data, l.next = map[place]datum{}, never
	for _, p := range slices.SortedFunc(maps.Keys(data), comparePlaces) {
		l.dbs[p.db] = true
		n.put(p, data[p])
		if n.leader == nil {
			l.set(p, n.read(p))
		} else {
			l.set(p, data[p])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(n.w.watched)) {
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
func (l *ledger) seen(p place) datum { return l.has(p).at(l.node.shown) }

func (l *ledger) has(p place) datum {
	if d, ok := l.data[p]; ok {
		return d
	}
	return gone
}
