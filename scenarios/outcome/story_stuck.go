package outcome

import (
	"cmp"

	"locksim/checker"
	"locksim/sim/trace"
)

// probePhrases are phrases for the first and last event of the probe, by their
// numbers, if it never got the lock.
func probePhrases(run *ModeRun) map[int]string {
	first, last := 0, 0
	for _, e := range run.Trace.Events {
		if e.Actor == trace.Probe {
			first, last = cmp.Or(first, e.N), e.N
		}
	}
	if !run.Barred || first == last {
		return nil
	}
	return map[int]string{
		first: "asks for the lock, with nobody else there and the network whole",
		last:  "has still not got it",
	}
}

// stuckSince is the step of the story after which the lock was stuck: the last
// event of the grant of the last client that still holds the lock on the nodes. It
// is 0 if no client does.
func stuckSince(run *ModeRun) int {
	at := lastHold(run.History)
	if at == 0 {
		return 0
	}
	for _, e := range run.Trace.Events[at-1:] {
		if m, ok := e.What.(trace.Mark); ok && m.Step == trace.LostSeen {
			continue // it says nothing of the servers
		}
		if phrase(e, trace.View{}) != "" {
			return e.N
		}
	}
	return 0
}

// lastHold is where the last holding that never ended began or, if its client was
// granted the lock, the last position of that grant.
func lastHold(h checker.History) checker.Pos {
	var last checker.Holding
	for _, s := range h.Holdings {
		if s.To == 0 && s.From > last.From {
			last = s
		}
	}
	at := last.From
	for _, g := range h.Grants {
		if at > 0 && g.Client == last.Client && g.Granted >= last.From {
			at = max(at, g.Granted, g.Released, g.ReleaseReturned, g.Crashed)
		}
	}
	return at
}
