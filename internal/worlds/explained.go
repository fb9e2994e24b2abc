package worlds

import (
	"fmt"
	"time"

	"locksim/lock/fence"
)

// differences are what is known of cells in which the worlds differ: by the scenario, and the lock, which may be "".
var differences = []struct{ scenario, lock, why string }{}

// explanation says why the worlds differ in a mode of a pair; "" if it is not known.
func (p *pair) explanation(mode fence.Mode) string {
	for _, d := range differences {
		if d.scenario == p.scenario.Name && (d.lock == "" || d.lock == p.lock.Name) {
			return d.why
		}
	}
	odd, late := 0, time.Duration(0)
	for _, r := range p.runs {
		if p.simulated[mode][r.Labels[mode]] > 0 {
			continue
		}
		if !p.disturbed(r) {
			return ""
		}
		odd, late = odd+1, max(late, r.Late)
	}
	return fmt.Sprintf("the machine was late: in each of the %d runs that differ, by up to %v, where a lease lasts for %v",
		odd, late.Round(time.Millisecond), p.lease())
}

// lease is how long a lease lasts in a live run.
func (p *pair) lease() time.Duration { return time.Duration(float64(p.scenario.Lock.TTL) * p.scale) }

// disturbed says that the machine was late by a good part of a lease in a run, so that it shows the machine too.
func (p *pair) disturbed(r run) bool { return r.Late > p.lease()/10 }
