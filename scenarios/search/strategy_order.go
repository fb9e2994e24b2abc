package search

import (
	"slices"

	"locksim/faults"
)

// orders delays or loses a few messages at drawn places among all, so that each order of a few of them is as likely as
// another: for mistakes that need one message to overtake another, and no other trouble. Burckhardt et al. (2010) do
// so with the steps of threads, by a few changes of priority at drawn places.
var orders = strategy{draw: func(d *drawer) {
	menu := slices.DeleteFunc(slices.Clone(lateTroubles), func(t trouble) bool { return !allows(d.space, t) })
	if len(menu) == 0 { // no message may be late
		swarms.draw(d)
		return
	}
	d.shorten()
	d.manner = seams
	d.lock()
	d.world()
	d.workload()
	for range 1 + d.from.Below(3) {
		d.sc.Faults = append(d.sc.Faults, faults.Fault{Action: pick(d, menu...).steps(d)[0].action})
	}
	if d.once(2) {
		d.space.MaxFaults = 1
		d.schedule()
	}
	d.further()
}}

// lateTroubles strike one message among all those of a client.
var lateTroubles = []trouble{
	{"delay-nth", []faults.Action{faults.DelayMessage{}}, func(d *drawer) []step {
		way := pick(d, faults.DirectionForward, faults.DirectionForward, faults.DirectionBackward)
		return single(faults.DelayMessage{Between: []string{d.client()}, And: d.oneOrAll(), By: d.spell(), Skip: d.place(),
			Direction: way})
	}, often},
	{"lose-nth", []faults.Action{faults.LoseReply{}}, func(d *drawer) []step {
		return single(faults.LoseReply{Between: []string{d.client()}, And: d.oneOrAll(), Count: 1, Skip: d.place()})
	}, often},
}

// place draws how many messages of a client pass before one: among the first few, or among many.
func (d *drawer) place() int {
	return d.from.Below(pick(d, 6, 3, 12, 30))
}

// oneOrAll draws a server, or all of them.
func (d *drawer) oneOrAll() []string {
	if d.once(4) {
		return d.sc.World.Names()
	}
	return []string{d.node()}
}
