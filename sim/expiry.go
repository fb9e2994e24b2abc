package sim

import (
	"cmp"
	"slices"
	"time"
)

// advance follows the node's clock from one wall time to another: it finds the
// keys that have expired, which miniredis has dropped by now.
func (l *ledger) advance(from, to time.Duration) {
	if to >= l.next {
		l.expire()
	}
	if to < from && l.node.leader != nil {
		l.reveal(from)
	}
}

// expire makes an effect of each key that has expired. A replica makes none: it
// hides the key, and waits for its primary to say that it is gone.
func (l *ledger) expire() {
	n := l.node
	var done []effect
	for _, p := range l.expired() {
		why := origin{step: n.w.record(n.id, "expire", "", p.key), kind: KeyExpired}
		if n.leader != nil {
			n.changed(p, l.data[p], n.read(p), why)
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

// expired are the keys whose time has come since the last look, the earliest
// first.
func (l *ledger) expired() []place {
	var out []place
	for p, d := range l.data {
		if d.ends(l.next-1) <= l.node.shown {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b place) int {
		return cmp.Or(cmp.Compare(l.data[a].ends(l.next-1), l.data[b].ends(l.next-1)), comparePlaces(a, b))
	})
	return out
}

// refresh looks for the next key to expire.
func (l *ledger) refresh() {
	l.next = never
	for _, d := range l.data {
		l.next = min(l.next, d.ends(l.node.shown))
	}
}

// reveal shows again what a replica has hidden since its clock was ahead.
func (l *ledger) reveal(from time.Duration) {
	n := l.node
	for _, p := range l.places() {
		d, known := l.data[p]
		if known && d.until <= from && d.until > n.shown {
			n.put(p, d)
			n.changed(p, gone, d, origin{step: n.w.record(n.id, "reveal", "", p.key), kind: KeyRestored})
		}
	}
	l.refresh()
	l.plan()
}

// plan lets the node look at its clock when the next key expires, so that this
// happens at its instant and not with the next command.
func (l *ledger) plan() {
	n := l.node
	if l.next == l.due || n.Down() {
		return
	}
	l.planned++
	l.due = l.next
	after := n.clock.worldDuration(l.next - n.clock.wall(n.w.Now()))
	if l.next == never || after >= never/2 {
		return
	}
	planned := l.planned
	n.w.queue.add(n.w.now()+max(int64(after), 1), func() {
		if planned == l.planned && !n.Down() {
			l.due = never
			n.tick()
			l.plan()
		}
	})
}

// replan plans anew, since the clock has changed.
func (l *ledger) replan() {
	l.due = never
	l.planned++
	l.plan()
}
