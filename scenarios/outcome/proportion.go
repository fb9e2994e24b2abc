package outcome

import (
	"fmt"
	"time"

	"locksim/scenarios/outcome/blame"
	"locksim/sim/trace"
)

// outOfProportion is how many lengths of a lease are no TTL of its key.
const outOfProportion = 20

// longestLease is the longest lease that clients were granted in a run, by what the lock said, or what it says of
// leases without an end; 0 if that is not known.
func longestLease(m ModeRun) (longest time.Duration) {
	longest = m.Terms.LeaseTTL
	for _, g := range m.History.Grants {
		if g.Left != nil {
			longest = max(longest, *g.Left)
		}
	}
	return longest
}

// longLived says that a key of the lock had far more time to live than a lease lasts, in a run that did not end well;
// "" if none had, or if its first reason, which says what happened, asks about the unit by itself.
func longLived(m ModeRun) string {
	reasons := m.Verdict.Reasons
	told := len(reasons) > 0 && reasons[0].Unit && !blame.Exclusive(m.Verdict.Label)
	if m.Record == nil || m.Verdict.Label.Clean() || told {
		return ""
	}
	lease := longestLease(m)
	if lease <= 0 {
		return ""
	}
	most := outOfProportion * lease
	tell := func(key, server string, left time.Duration) string {
		return fmt.Sprintf(" The key %s on %s had %v to live, and a lease lasts %v: is its TTL in the right unit, and a "+
			"length of time?",
			trace.Name(key), server, left.Round(time.Second), lease.Round(time.Millisecond))
	}
	keys := map[string]bool{}
	for _, of := range m.Record.Keys {
		for _, key := range of {
			keys[key] = true
		}
	}
	for _, c := range m.Record.KeyChanges() {
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
