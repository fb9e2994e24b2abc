package outcome

import (
	"fmt"
	"strings"
	"time"

	"locksim/sim/trace"
)

// outOfProportion is how many TTLs of a lock are no TTL of its key.
const outOfProportion time.Duration = 20

// longLived says that a key of the lock had far more time to live than a lease lasts, in a run that did not end well; "" if
// none had, or if what happened says so by itself.
func longLived(o *Outcome, m ModeRun, happened string) string {
	if m.Record == nil || m.Verdict.Label.Clean() || strings.Contains(happened, "right unit") {
		return ""
	}
	most := outOfProportion * o.Scenario.Lock.TTL
	tell := func(key, server string, left time.Duration) string {
		return fmt.Sprintf(" The key %s on %s had %v to live, and a lease lasts %v: is its TTL in the right unit, and a length of time?",
			trace.Name(key), server, left.Round(time.Second), o.Scenario.Lock.TTL)
	}
	keys := map[string]bool{}
	for _, of := range m.Record.Keys {
		for _, key := range of {
			keys[key] = true
		}
	}
	for _, c := range m.Record.OfLock() {
		if c.Left.End == trace.EndTimed && c.Left.Time > most {
			return tell(c.Key, c.Server, c.Left.Time)
		}
	}
	for _, s := range m.Record.Left {
		for _, k := range s.Keys {
			if keys[k.Name] && k.TTL > most {
				return tell(k.Name, s.Name, k.TTL)
			}
		}
	}
	return ""
}
