package search

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/scenarios/file"
)

// rares draws what other strategies never do, one thing in each scenario: many short rounds, a lease of minutes, names
// that end or begin alike, clocks that are read in steps, so that ids made of a time collide, a release that failed and
// is repeated when the client has asked for the lock again, a client with two locks at once, contexts of Acquire that
// end about when its first request is answered, an Acquire whose request a stock client sends again.
var rares = strategy{draw: func(d *drawer) {
	d.manner = seams
	d.space.MaxFaults = min(d.space.MaxFaults, 2)
	what := d.from.Below(8)
	if what == 0 && d.usualTTL { // else the lock does not follow it, or it was asked for
		d.space.TTL = file.Range{Min: time.Minute, Max: longestTTL}
	}
	shorts.draw(d)
	w := &d.sc.Workload
	switch what {
	case 1:
		if !d.usualRounds {
			return
		}
		// 130: more than a byte counts
		w.Rounds, w.Hold, w.Think = pick(d, 8, 16, 24, 32, 40, 130), time.Millisecond, time.Millisecond
		d.sc.Lock.Backoff = file.Range{Min: time.Millisecond, Max: 4 * time.Millisecond}
		if d.once(2) { // several grants in one millisecond
			w.Hold, w.Think, d.sc.World.Latency = 0, 0, file.Range{Max: 100 * time.Microsecond}
		}
	case 2:
		w.Resources = pick(d, []string{"a/order", "b/order"}, []string{"order:1", "stock:1"}, alikeAtFirst())
	case 3:
		w.Think = 0
		d.sc.World.ClockStep = min(pick(d, time.Millisecond, time.Microsecond), d.sc.World.Latency.Min)
	case 4:
		w.Rounds, w.Release = max(w.Rounds, min(2, d.space.Rounds.Max)), file.ReleaseLater
	case 5:
		if d.space.Beside && w.Kind == file.WorkloadRegister && w.Nested == 0 {
			w.Resources, w.Beside, w.ChecksUntil = pick(d, []string{"order", "stock"}, alikeAtFirst()), true, checker.CareSteps
		}
	case 6:
		if d.usualRounds {
			w.Rounds = 8
		}
		trip := d.sc.World.Latency
		// of one request, or of some
		w.AcquireWithin = pick[time.Duration](d, 1, 2, 4, 12)*(trip.Min+trip.Max) + trip.Max/4 - before
		w.Think = d.part(5)
	case 7:
		stock := d.space.Stock || slices.Contains(d.space.Profiles, file.ClientStock)
		if !stock || !allows(d.space, lateTroubles[1]) || w.Leads() {
			return
		}
		d.sc.Lock.Client, w.Rounds, w.Hold, w.Extend, w.Think = file.ClientStock, max(w.Rounds, min(3, d.space.Rounds.Max)),
			d.part(25), 0, d.part(1)
		d.sc.Faults = []faults.Fault{{Action: faults.LoseReply{Between: []string{"c0"}, And: d.oneOrAll(), Count: 1,
			Skip: d.from.Below(2)},
			When: &faults.Event{Client: "c0", Name: faults.EventAcquire, Nth: 2}}}
	}
}}

// longestTTL is the longest lease that is drawn where the space leaves it open.
const longestTTL = 10 * time.Minute
