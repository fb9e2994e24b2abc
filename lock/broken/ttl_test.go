package broken_test

import (
	"testing"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
)

// Each mistake shows at both ends of the range of TTLs that its specimen names, in the same story played
// faster or slower.
func TestTTLRange(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many runs")
	}
	for _, tr := range trials {
		t.Run(tr.specimen, func(t *testing.T) {
			s, sc := tr.load(t)
			for _, ttl := range []time.Duration{s.MinTTL, s.MaxTTL} {
				at := tr.paced(sc, ttl)
				if tr.count(t, at, s, tr.wrap(s.Name, s), seeds/4) == 0 {
					t.Errorf("not caught at a TTL of %v", ttl)
				}
			}
		})
	}
}

// paced is the scenario with all its times in the same proportion to another TTL. The network stays as
// fast as it is.
func (tr trial) paced(sc *file.Scenario, ttl time.Duration) *file.Scenario {
	pace := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) / float64(sc.Lock.TTL) * float64(ttl))
	}
	out := *sc
	out.Lock.TTL = ttl
	out.Lock.Backoff = file.Range{
		Min: max(pace(sc.Lock.Backoff.Min), time.Millisecond),
		Max: max(pace(sc.Lock.Backoff.Max), time.Millisecond),
	}
	w := &out.Workload
	w.Hold, w.Think, w.Stagger = pace(w.Hold), pace(w.Think), pace(w.Stagger)
	out.Faults = nil
	for _, f := range sc.Faults {
		switch a := f.Action.(type) {
		case faults.Pause:
			a.For = pace(a.For)
			f.Action = a
		case faults.Partition:
			a.For = pace(a.For)
			f.Action = a
		case faults.ClockJump, faults.ClockDrift:
			continue // made anew
		}
		out.Faults = append(out.Faults, f)
	}
	if tr.more != nil {
		out.Faults = append(out.Faults, tr.more(ttl)...)
	}
	return &out
}
