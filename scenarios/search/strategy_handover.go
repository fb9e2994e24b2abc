package search

import (
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/spaces"
)

// handovers has two clients, and the second asks for the lock from just before the lease of the first ends, so often
// that it is granted within the few milliseconds by which the first counts wrongly: for mistakes in a margin, a drift,
// or the instant from which a lease is counted. The clocks are as far apart as may be, or an answer is late, or both.
var handovers = strategy{draw: func(d *drawer) {
	d.space.Clients = spaces.Span{Min: d.space.Clients.Min, Max: d.space.Clients.Min}
	d.space.Rounds = spaces.Span{Min: d.space.Rounds.Min, Max: d.space.Rounds.Min}
	if d.usualRounds {
		d.space.Rounds = spaces.Span{Min: 1, Max: 1}
	}
	d.manner = seams
	d.manner.corners = true
	d.lock()
	d.world()
	d.workload()
	w, l := &d.sc.Workload, &d.sc.Lock
	w.ChecksUntil, w.Timeout, w.Request, w.Nested = checker.CareLost, 0, 0, 0
	w.Extend = pick(d, 0, 0, 1, 3)
	tilts := allows(d.space, tilt) && !d.once(3)

	const partly = 40 // between two extensions, in hundredths of a lease
	last := partly * w.Extend
	w.Hold = d.part(150)
	if w.Extend > 0 { // the last extension makes the lease longer than the section, unless the client stands still
		w.Hold = d.part(partly * (w.Extend + 1))
	} else if d.once(3) { // renewed by the lock, a third of a lease after the grant
		last = 33
	}
	if last > 0 && allows(d.space, standstill) {
		d.sc.Faults = append(d.sc.Faults,
			faults.Fault{At: d.part(last + 10), Action: faults.Pause{Process: "c0", For: d.part(150)}})
	}
	if late := lateTroubles[0]; allows(d.space, late) && (!tilts || d.once(2)) {
		answer := faults.DelayMessage{Between: []string{"c0"}, And: d.oneOrAll(), By: d.part(pick(d, 2, 1, 5, 20)),
			Direction: faults.DirectionBackward}
		f := faults.Fault{Action: answer, When: &faults.Event{Client: "c0", Name: faults.EventAcquire, Nth: 1}}
		if last > 0 {
			f = faults.Fault{Action: answer, At: d.part(last - 1)}
		}
		d.sc.Faults = append(d.sc.Faults, f)
	}
	if tilts {
		d.sc.Faults = append(d.sc.Faults, d.tilted()...)
	}
	w.Stagger = d.part(last + 98)
	often := max(l.TTL/500, time.Millisecond).Truncate(time.Millisecond)
	l.Backoff = file.Range{Min: often, Max: often}
}}

// standstill is the trouble of a client that stops.
var standstill = trouble{"standstill", []faults.Action{faults.Pause{Process: "c0"}}, nil, seldom}
