package broken_test

import (
	"testing"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
)

// The detector catches each mistake at both ends of the specimen's range of TTLs, in the same scenario with scaled
// times.
func TestTTLRange(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	for _, tr := range trials {
		t.Run(tr.specimen, func(t *testing.T) {
			s, sc := tr.load(t)
			for _, ttl := range []time.Duration{s.MinTTL, s.MaxTTL} {
				at := tr.scaled(sc, ttl)
				if tr.count(t, at, s, tr.specimenLock(s.Name, s), seeds()/4) == 0 {
					t.Errorf("not caught at a TTL of %v", ttl)
				}
			}
		})
	}
}

// scaled is the scenario with all its times in the same proportion to another TTL. The latency of the network does not
// change.
func (tr trial) scaled(sc *file.Scenario, ttl time.Duration) *file.Scenario {
	scale := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) / float64(sc.Lock.TTL) * float64(ttl))
	}
	out := *sc
	out.Lock.TTL = ttl
	out.Lock.Backoff = file.Range{
		Min: max(scale(sc.Lock.Backoff.Min), time.Millisecond),
		Max: max(scale(sc.Lock.Backoff.Max), time.Millisecond),
	}
	w := &out.Workload
	w.Hold, w.Think, w.Stagger, w.Request = scale(w.Hold), scale(w.Think), scale(w.Stagger), scale(w.Request)
	out.Faults = nil
	for _, f := range sc.Faults {
		switch a := f.Action.(type) {
		case faults.Pause:
			a.For = scale(a.For)
			f.Action = a
		case faults.Partition:
			a.For = scale(a.For)
			f.Action = a
		case faults.ClockJump, faults.ClockDrift:
			continue // tr.more creates them for the TTL
		}
		out.Faults = append(out.Faults, f)
	}
	if tr.more != nil {
		out.Faults = append(out.Faults, tr.more(ttl)...)
	}
	return &out
}
