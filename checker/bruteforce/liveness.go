package bruteforce

import "locksim/checker"

// liveness is decided by [checker.Ending].
func liveness(h checker.History) checker.Liveness {
	e := h.Ending
	// "The lock is stuck if a client loops, or waits for ever in an Acquire."
	if len(e.Loops) > 0 {
		return checker.LivenessStuck
	}
	for _, w := range e.Waiting {
		if w.Ever && w.Call != "Release" && w.Call != "Extend" {
			return checker.LivenessStuck
		}
	}
	probed := e.Asked > 0
	// "If one waited in an Acquire for longer than a lease when the time of the workload was over, although only a
	// minority of the nodes was out of reach."
	for _, w := range e.Waiting {
		if w.Call == "Acquire" && tooLong(h, w) {
			return checker.LivenessStuck
		}
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

// "Of a call that does return later it is asked only if CutOff has a server, fewer than half of the Nodes, and
// nothing else is Kept; and only if a probe asked."
func tooLong(h checker.History, w checker.Waiting) bool {
	e := h.Ending
	lost := 0
	for range e.CutOff {
		lost++
	}
	return h.Timing != nil && e.Asked != 0 && lost > 0 && lost < e.Nodes-lost && !e.Kept && h.Timing.Lease < w.For
}

// "HungCalls counts the calls other than an Acquire that had not returned when the time of the workload was over,
// although most of the servers of the lock answered, or that never returned."
func hungCalls(h checker.History) (n int) {
	for _, w := range h.Ending.Waiting {
		if (w.Call == "Release" || w.Call == "Extend") && (w.Ever || tooLong(h, w)) {
			n++
		}
	}
	return n
}

// "One with an end is excused if a fault may have left it there, or if its owner, or any client if the owner is not
// known, could not take care of it."
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
