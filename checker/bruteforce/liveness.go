package bruteforce

import "locksim/checker"

// liveness is decided by [checker.Ending].
func liveness(h checker.History) checker.Liveness {
	e := h.Ending
	// "The lock is stuck if a client waits or loops for ever (Hung)."
	if len(e.Hung) > 0 {
		return checker.LivenessStuck
	}
	probed := e.Asked > 0
	// "It is stuck if the clients had not ended in time although only a minority of the nodes was out of reach; but only if a
	// probe asked."
	minority := 0
	for range e.CutOff {
		minority++
	}
	if probed && e.Late && minority > 0 && minority < e.Nodes-minority && !e.Kept {
		return checker.LivenessStuck
	}
	// "Or if the probe did not get it in the time that it had."
	if probed && !e.Granted {
		return checker.LivenessStuck
	}
	// "Otherwise it leaked if a key remained that nothing excuses."
	var endless, ending int
	servers := map[string]struct{}{}
	for _, l := range e.Leftovers {
		switch {
		case !probed:
		case l.Left == 0 && !e.Learnt: // "A key without an end is a leak."
			endless++
		case l.Left == 0: // "Then a key without an end is no leak if the probe was granted the lock."
			if !e.Granted {
				endless++
			}
		case !excused(h, l):
			ending++
			servers[l.Server] = struct{}{}
		}
	}
	// "Keys that end by themselves are none on so few servers that most of the voters are free."
	if few := 2*len(servers) < h.Voters; e.Learnt && endless == 0 && few {
		ending = 0
	}
	if endless+ending > 0 {
		return checker.LivenessLeaked
	}
	return checker.LivenessOK
}

// "One with an end is excused if a fault may have left it there, or if its owner, or any client if the owner is not known,
// could not take care of it."
func excused(h checker.History, l checker.Leftover) bool {
	if l.Struck {
		return true
	}
	for _, client := range h.Ending.Gone {
		if l.Owner == "" || l.Owner == client {
			return true
		}
	}
	for _, g := range h.Grants {
		if l.Owner != "" && l.Owner != g.Client {
			continue
		}
		// "A release of it failed."
		if g.ReleaseFailed {
			return true
		}
		// "Of a key that was learnt: a grant that was not released with success or, where there are several voters, one that
		// was, under a context that had ended."
		if h.Ending.Learnt && !(g.ReleaseSucceeded && (h.Voters < 2 || !g.ReleaseContextEnded)) {
			return true
		}
	}
	for _, a := range h.Attempts {
		if l.Owner != "" && l.Owner != a.Client {
			continue
		}
		// "One of its requests for the lock has an unknown outcome; of a key that was learnt, an attempt whose context had
		// ended."
		if a.Outcome == checker.OutcomeUnknown || a.ContextEnded != 0 && h.Ending.Learnt {
			return true
		}
	}
	return false
}
