package redis

import (
	"cmp"
	"slices"
	"time"

	"locksim/sim/rare"
	"locksim/sim/trace"
)

// advance follows the machine's clock from one wall time to another: it finds
// the keys that have expired, which miniredis has already dropped.
func (l *ledger) advance(from, to time.Duration) {
	if to >= l.next {
		l.expire()
	}
	if to < from && l.server.repl.leader != nil {
		l.reveal(from)
	}
}

// expire turns each expired key into an effect. A replica only hides the key,
// and waits for the primary to delete it.
func (l *ledger) expire() {
	n := l.server
	var done []effect
	for _, p := range l.expired() {
		why := origin{step: l.tells()("", trace.Expire{Key: p.key}), change: trace.KeyExpired}
		if n.repl.leader != nil {
			n.node.Reached(rare.RedisHidden)
			n.changed(p, l.data[p], n.data.read(p), why)
			continue
		}
		if is, changed := l.compare(p, why); changed {
			done = append(done, effect{p, is})
		}
	}
	l.refresh()
	if len(done) > 0 {
		l.publish(done)
	}
	l.plan()
}

// tells is how the ledger records what no command has done: a ledger that exists only for watched keys notes it.
func (l *ledger) tells() func(peer string, what trace.What) int {
	if l.only != nil {
		return l.server.node.Note
	}
	return l.server.node.Record
}

// expired are the keys that have expired since the last tick, the earliest
// first.
func (l *ledger) expired() []dbKey {
	var out []dbKey
	for p, d := range l.data {
		if d.ends(l.next-1) <= l.server.data.shown {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b dbKey) int {
		return cmp.Or(cmp.Compare(l.data[a].ends(l.next-1), l.data[b].ends(l.next-1)), compareKeys(a, b))
	})
	return out
}

// refresh finds the next instant at which a key expires.
func (l *ledger) refresh() {
	l.next = never
	for _, d := range l.data {
		l.next = min(l.next, d.ends(l.server.data.shown))
	}
}

// reveal shows keys again that a replica has hidden while its clock was ahead.
func (l *ledger) reveal(from time.Duration) {
	n := l.server
	for _, p := range l.allKeys() {
		d, known := l.data[p]
		if known && d.until <= from && d.until > n.data.shown {
			n.node.Reached(rare.RedisRevealed)
			n.data.put(p, d)
			n.changed(p, absent, d, origin{step: n.node.Record("", trace.Reveal{Key: p.key}), change: trace.KeyRestored})
		}
	}
	l.refresh()
	l.plan()
}

// plan schedules a tick for the next expiry, so that a key expires at its
// instant and not with the next command.
func (l *ledger) plan() {
	node := l.server.node
	if l.next == l.due || node.Down() {
		return
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.due, l.timer = l.next, nil
	if l.next == never {
		return
	}
	l.timer = node.After(l.next-node.Wall(), func() {
		l.due = never
		l.server.tick()
		l.plan()
	})
}

// replan plans anew after a change of the clock.
func (l *ledger) replan() {
	l.due = never
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	l.plan()
}
