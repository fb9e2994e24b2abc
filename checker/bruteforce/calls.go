package bruteforce

import "locksim/checker"

// "Calls counts the calls of a run by how they ended."
func calls(h checker.History) (c checker.Calls) {
	// "Granted counts the calls of Acquire and TryAcquire that returned a lease."
	for range h.Grants {
		c.Granted++
	}
	// "Taken counts those that returned that the lock is taken."
	for _, t := range h.Tries {
		if t.Taken {
			c.Taken++
		}
	}
	for _, a := range h.Attempts {
		if a.Returned == 0 {
			continue
		}
		// "GaveUp counts the attempts that returned anything else after the end of their context, or while another client
		// had the lock or asked for it: it had called Acquire, and had neither returned from that without a grant, nor
		// returned from releasing its grant, nor crashed."
		if a.Taken {
			c.Taken++
		} else if a.ContextEnded != 0 || there(h, a, a.Returned) {
			c.GaveUp++
		} else { // "Failed counts all other attempts that returned."
			c.Failed++
		}
	}
	for _, call := range h.Calls {
		switch {
		case call.What == "Extend" && call.Result == checker.ResultDone:
			c.Extended++
		case call.What == "Extend" && (call.Result == checker.ResultNotHeld || call.Result == checker.ResultRefused):
			c.NotExtended++
		case call.What == "Extend" && call.Result == checker.ResultFailed:
			c.FailedExtends++
		case call.What == "Release" && call.Result == checker.ResultDone:
			c.Released++
		case call.What == "Release" && call.Result == checker.ResultNotHeld:
			c.NotHeld++
		case call.What == "Release" && call.Result == checker.ResultFailed:
			c.FailedReleases++
		}
	}
	return c
}

// there reports whether at a position another client had the lock of an attempt, or asked for it.
func there(h checker.History, a checker.Attempt, p checker.Pos) bool {
	for _, g := range h.Grants {
		if g.Client != a.Client && g.Resource == a.Resource && happened(g.Invoked, p) && !happened(g.ReleaseReturned, p) &&
			!happened(g.Crashed, p) {
			return true
		}
	}
	for _, b := range h.Attempts {
		if b.Client != a.Client && b.Resource == a.Resource && happened(b.Invoked, p) && !happened(b.Returned, p) {
			return true
		}
	}
	return false
}
