package search

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/scenarios/file"
)

// edges draws sections that last until a lease ends, contenders that ask often enough to be granted the lock in the few
// milliseconds by which a number is wrong, and clocks that are as far apart as the promise allows: for mistakes in a
// margin, a drift, a unit.
var edges = strategy{draw: func(d *drawer) {
	d.shorten()
	d.manner = seams
	d.manner.holds = []int{150, 110, 101, 99, 90}
	d.manner.backoffs = []int{1, 2}
	if d.space.Redis > 2 { // each attempt asks all of them
		d.manner.backoffs = []int{2, 5}
	}
	d.manner.tilts, d.manner.corners = true, true
	swarms.draw(d)
	w := &d.sc.Workload
	if w.ChecksUntil == checker.CareNever && d.once(2) {
		w.ChecksUntil, w.Hold = checker.CareLost, d.part(pick(d, d.manner.holds...))
	}
	if w.Extend > 0 && w.ChecksUntil != checker.CareNever && d.once(2) { // until the lease that the last one got has ended
		w.Hold = d.part(100*(w.Extend+1) + 10)
	}
	d.sc.Lock.Backoff.Max = d.sc.Lock.Backoff.Min
	if d.once(4) {
		d.sc.World.Latency = file.Range{Max: 100 * time.Microsecond}
	}
}}

// tilt is the trouble of clocks that are as far apart as two of modestDrift can be.
var tilt = trouble{"tilt", []faults.Action{faults.ClockDrift{Clock: "c0", PPM: modestDrift}}, nil, always}

// tilted makes the clocks of all clients as slow as they may be, and those of all servers as fast, or the other way
// round. Servers whose clocks cannot drift keep theirs.
func (d *drawer) tilted() []faults.Fault {
	ppm := int64(pick(d, -modestDrift, -modestDrift, modestDrift))
	length := d.part(10 * 300)
	var out []faults.Fault
	for _, c := range file.Numbered("c", d.sc.World.Clients) {
		out = append(out, faults.Fault{Action: faults.ClockDrift{Clock: c, PPM: ppm, For: length}})
	}
	w := d.sc.World
	w.Servers = slices.DeleteFunc(slices.Clone(w.Servers), func(s file.ServerCount) bool {
		return slices.Contains(s.Lacks, faults.ClockDrift{}.Kind())
	})
	for _, name := range slices.DeleteFunc(w.Names(), func(n string) bool { return n == "s0" }) {
		out = append(out, faults.Fault{Action: faults.ClockDrift{Clock: name, PPM: -ppm, For: length}})
	}
	return out
}
