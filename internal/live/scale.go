//go:build linux

package live

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/subject"
)

// timely is the part of a lease by which a server may be back late after a crash, as in [file.Scenario.LateLimit].
const timely = 10

// least is the shortest TTL that a lock can have here in a scenario, and why.
func least(sc *file.Scenario, l subject.Lock) (shortest time.Duration, why string) {
	for _, s := range l.Needs() {
		pace := paceOf(s.Kind)
		if pace.Lease > shortest {
			shortest, why = pace.Lease, pace.Why
		}
		if pace.Own && sc.Lock.TTL > shortest {
			shortest, why = sc.Lock.TTL, pace.Why
		}
		if d := timely * pace.Return; d > shortest && awaitsReturn(sc, s) {
			shortest = d
			why = fmt.Sprintf("%s needs up to %v to serve again after a crash, where the simulated one needs nothing, and "+
				"that is to be a small part of the lease",
				s.Kind.Name, pace.Return)
		}
	}
	return shortest, why
}

// awaitsReturn says that clients have to wait in a scenario until servers are back that have crashed: a cluster goes on
// as long as a majority of its members runs.
func awaitsReturn(sc *file.Scenario, s subject.Servers) bool {
	back := 0
	for _, f := range sc.Faults {
		if r, ok := f.Action.(faults.Restart); ok && (slices.Contains(s.Names(sc.World), r.Process) ||
			r.Process == s.Kind.Leader) {
			back++
		}
	}
	if s.Kind.Settles == 0 {
		return back > 0
	}
	return 2*back >= max(s.Count, sc.World.Count(s.Kind.Name))
}

// ScaleFor is the scale that is wanted or, where the servers of the lock cannot take that, the least that they can, in
// whole hundredths.
func ScaleFor(sc *file.Scenario, l subject.Lock, wanted float64) float64 {
	shortest, _ := least(sc, l)
	return max(wanted, math.Ceil(100*float64(shortest)/float64(sc.Lock.TTL))/100)
}

// checkScale returns an error if the servers of a lock cannot play a scenario at a scale.
func checkScale(sc *file.Scenario, l subject.Lock, scale float64) error {
	if math.IsNaN(scale) || scale <= 0 || scale > 10 {
		return fmt.Errorf("--scale %v: give a number above 0, up to 10, such as 0.1 for a tenth of the times of the file",
			scale)
	}
	shortest, why := least(sc, l)
	if ttl := times(sc.Lock.TTL, scale); ttl < shortest {
		need := math.Ceil(1000*float64(shortest)/float64(sc.Lock.TTL)) / 1000
		return fmt.Errorf("--scale %v: the TTL of %v would be %v, and lock %s needs %v on real servers, since %s: give "+
			"--scale %v or more",
			scale, sc.Lock.TTL, ttl, l.Name, shortest, why, need)
	}
	return nil
}

// times is a duration at a scale, in whole microseconds.
func times(d time.Duration, scale float64) time.Duration {
	return time.Duration(math.Round(float64(d)*scale/float64(time.Microsecond))) * time.Microsecond
}

// ofAMessage is the longest duration that may be the delay of a message. Such a one is not made shorter: a machine
// sends no message in less than a part of a millisecond, and a fault that strikes while a request is under way is still
// to do so.
const ofAMessage = 5 * time.Millisecond

// Scaled is a scenario whose durations are all multiplied, but for those of a message. What is counted in a unit stays
// a multiple of it, and what is not 0 does not become 0.
func Scaled(sc *file.Scenario, scale float64) *file.Scenario {
	c := sc.Clone()
	in := func(d *time.Duration, unit time.Duration) {
		if *d != 0 {
			sign := time.Duration(1)
			if *d < 0 {
				sign = -1
			}
			*d = sign * max(times(sign**d, scale).Round(unit), unit)
		}
	}
	message := func(d *time.Duration) {
		least := min(*d, ofAMessage)
		in(d, time.Millisecond)
		*d = max(*d, least)
	}
	w := &c.Workload
	w.Section = slices.Clone(w.Section)
	for _, k := range file.Keys() {
		switch v := k.Value.(type) {
		case file.Length:
			if v.Divides > 0 {
				continue
			}
			in(v.Of(c), cmp.Or(v.Grain, time.Millisecond))
		case file.Span:
			scaled := func(d *time.Duration) { in(d, time.Millisecond) }
			if v.Message {
				scaled = message
			}
			scaled(&v.Of(c).Min)
			scaled(&v.Of(c).Max)
		}
	}
	for i := range w.Section {
		in(&w.Section[i].For, time.Millisecond)
	}
	c.Lock.Settings = slices.Clone(c.Lock.Settings)
	for i, s := range c.Lock.Settings {
		if d, err := time.ParseDuration(s.Value); err == nil && d > 0 {
			in(&d, time.Millisecond)
			c.Lock.Settings[i].Value = d.String()
		}
	}
	for i := range c.Faults {
		f := &c.Faults[i]
		in(&f.At, time.Millisecond)
		message(&f.After)
		in(&f.Every, time.Millisecond)
		form, ok := faults.Open(f.Action)
		if !ok {
			continue
		}
		for _, field := range form.Fields {
			switch holds := field.Holds.(type) {
			case faults.Length:
				in(holds.To, time.Millisecond)
			case faults.Offset:
				in(holds.To, max(holds.Unit, time.Microsecond))
			}
		}
		f.Action = form.Action()
	}
	return c
}
