//go:build linux

package live

import (
	"fmt"
	"math"
	"slices"
	"time"

	"locksim/faults"
	"locksim/internal/live/server"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// The shortest lease that the servers of a kind can grant, and that real clients can use.
const (
	leastRedis     = 100 * time.Millisecond // of it a client needs some milliseconds to hear of the grant
	leastEtcd      = 2 * time.Second        // etcd counts whole seconds, and makes it two with the time of an election
	leastZooKeeper = 4 * time.Second        // the lock asks for no shorter session
	leastPostgres  = 100 * time.Millisecond
)

// least is the shortest TTL that a lock can have here, and why.
func least(l play.Lock) (shortest time.Duration, why string) {
	shortest, why = leastRedis, "its clients would not hear of the grant in time"
	for _, s := range l.Servers {
		switch server.Kind(s.Kind.Name) {
		case server.Etcd:
			return leastEtcd, "a lease of etcd lasts for whole seconds, and the lock asks for two at least"
		case server.ZooKeeper:
			return leastZooKeeper, "the lock asks ZooKeeper for no shorter session"
		case server.Postgres:
			return leastPostgres, "its clients would not hear of the grant in time"
		}
	}
	return shortest, why
}

// ScaleFor is the scale that is wanted or, where the servers of the lock cannot take that, the least that they can, in whole
// hundredths.
func ScaleFor(sc *file.Scenario, l play.Lock, wanted float64) float64 {
	shortest, _ := least(l)
	return max(wanted, math.Ceil(100*float64(shortest)/float64(sc.Lock.TTL))/100)
}

// checkScale returns an error if the servers of a lock cannot play a scenario at a scale.
func checkScale(sc *file.Scenario, l play.Lock, scale float64) error {
	if math.IsNaN(scale) || scale <= 0 || scale > 10 {
		return fmt.Errorf("--scale %v: give a number above 0, up to 10, such as 0.1 for a tenth of the times of the file", scale)
	}
	shortest, why := least(l)
	if ttl := times(sc.Lock.TTL, scale); ttl < shortest {
		need := math.Ceil(1000*float64(shortest)/float64(sc.Lock.TTL)) / 1000
		return fmt.Errorf("--scale %v: the TTL of %v would be %v, and lock %s needs %v on real servers, since %s: give --scale %v or more",
			scale, sc.Lock.TTL, ttl, l.Name, shortest, why, need)
	}
	return nil
}

// times is a duration at a scale, in whole microseconds.
func times(d time.Duration, scale float64) time.Duration {
	return time.Duration(math.Round(float64(d)*scale/float64(time.Microsecond))) * time.Microsecond
}

// ofAMessage is the longest duration that may be the delay of a message. Such a one is not made shorter: a machine sends no
// message in less than a part of a millisecond, and a fault that strikes while a request is under way is still to do so.
const ofAMessage = 5 * time.Millisecond

// Scaled is a scenario whose durations are all multiplied, but for those of a message. What is counted in a unit stays a
// multiple of it, and what is not 0 does not become 0.
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
	for _, d := range []*time.Duration{
		&w.Hold, &w.Think, &w.Stagger, &w.Timeout, &w.Request, &w.AcquireWithin, &w.ExtendWithin, &w.ReleaseWithin, &c.Lock.TTL,
		&c.Lock.Backoff.Min, &c.Lock.Backoff.Max, &c.World.Lag.Min, &c.World.Lag.Max, &c.World.Skew,
	} {
		in(d, time.Millisecond)
	}
	message(&c.World.Latency.Min)
	message(&c.World.Latency.Max)
	for i := range w.Section {
		in(&w.Section[i].For, time.Millisecond)
	}
	in(&c.World.Snapshot, time.Second) // Redis counts no finer
	for i := range c.Faults {
		f := &c.Faults[i]
		in(&f.At, time.Millisecond)
		message(&f.After)
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
