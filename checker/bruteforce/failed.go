package bruteforce

import (
	"slices"
	"time"

	"locksim/checker"
)

// fine reports whether nothing was wrong before an instant: "on a prompt network, before the first fault struck and
// before the context of any call had ended before the call returned".
func fine(h checker.History, by time.Duration) bool {
	return h.Timing.Prompt && by < h.Timing.Undisturbed && noContextEnded(h, by)
}

// noContextEnded reports whether by an instant the context of no call had ended before the call returned.
func noContextEnded(h checker.History, by time.Duration) bool {
	for _, g := range h.Grants {
		if g.ContextEnded != 0 && g.ContextEnded <= by {
			return false
		}
	}
	for _, a := range h.Attempts {
		if a.ContextEnded != 0 && a.ContextEnded <= by {
			return false
		}
	}
	for _, c := range h.Calls {
		if c.ContextEnded && c.Called != 0 && c.Called <= by {
			return false
		}
	}
	return true
}

// "FailedCalls counts the calls of Acquire, Release and Extend that returned an error although nothing was wrong."
func failedCalls(h checker.History) (n int) {
	if h.Timing == nil {
		return 0
	}
	for _, a := range h.Attempts {
		// "An Acquire that returned that the lock is taken does not count. Any other one counts if the lock names the errors
		// with which it says that, or if from its call to its return no other client had a lock or asked for one, …"
		if a.Returned == 0 || a.Taken || !fine(h, at(h, a.Returned)) && !majorityFine(h, a) {
			continue
		}
		alone := true
		for p := a.Invoked; p < max(a.Returned, a.Invoked+1); p++ {
			alone = alone && !busy(h, a.Client, p)
		}
		if h.TakenNamed || alone && clean(h, a.Client, a.Invoked) {
			n++
		}
	}
	for _, c := range h.Calls {
		for _, g := range h.Grants {
			if g.Client == c.Client && g.Granted == c.About && fine(h, c.Returned) && failedNeedlessly(h, g, c) {
				n++
			}
		}
	}
	return n
}

// "An Acquire counts too if not all was undisturbed and a majority was, and it returned sooner after its call than half
// a Timing.Lease."
func majorityFine(h checker.History, a checker.Attempt) bool {
	returned := at(h, a.Returned)
	soon := 2*(returned-at(h, a.Invoked)) < h.Timing.Lease
	return h.Timing.Prompt && returned < h.Timing.Majority && noContextEnded(h, returned) && soon
}

// "A Release or an Extend counts if by its return, and by Timing.Trips after its call, the lease had not ended or been
// lost, and no other grant of the resource, in a reentrant lock none to another client, had been made which had not
// been released when this one was; an Extend not after the call of Release, and one that the lock is not held not in a
// reentrant lock, nor one that the lease may not be extended any more."
func failedNeedlessly(h checker.History, g checker.Grant, c checker.Call) bool {
	reentrant := h.Entry == checker.EntryReentrant
	switch {
	case c.Result != checker.ResultFailed && (c.Result != checker.ResultNotHeld || reentrant):
		return false
	case c.What != "Release" && g.Released != 0 && at(h, g.Released) < c.Called:
		return false
	}
	over := func(p checker.Pos) bool { return p != 0 && at(h, p) <= c.Returned }
	soon := func(p checker.Pos) bool { return p != 0 && at(h, p)-c.Called <= h.Timing.Trips }
	if g.ExpiredAtCall || g.Doubted != 0 || over(g.Until) || over(g.Lost) || soon(g.Until) || soon(g.Lost) {
		return false
	}
	for _, other := range h.Grants {
		if other.ID != g.ID && other.Resource == g.Resource && !(reentrant && other.Client == g.Client) &&
			over(other.Granted) &&
			!happened(other.ReleaseReturned, g.Granted) {
			return false
		}
	}
	return true
}

// busy reports whether at a position another client had a lock, or asked for one.
func busy(h checker.History, client string, p checker.Pos) bool {
	return slices.ContainsFunc(h.Grants, func(g checker.Grant) bool {
		return g.Client != client && happened(g.Invoked, p) && !happened(g.ReleaseReturned, p)
	}) || slices.ContainsFunc(h.Attempts, func(a checker.Attempt) bool {
		return a.Client != client && happened(a.Invoked, p) && !happened(a.Returned, p)
	})
}

// "Each grant before had been released with success before its lease ended, and each Acquire before had been granted;
// in a reentrant lock the grants of the client itself need not have been released."
func clean(h checker.History, client string, p checker.Pos) bool {
	for _, a := range h.Attempts {
		if a.Invoked < p {
			return false
		}
	}
	for _, g := range h.Grants {
		if g.Granted >= p || h.Entry == checker.EntryReentrant && g.Client == client && !happened(g.ReleaseReturned, p) {
			continue
		}
		if !g.ReleaseSucceeded || !happened(g.ReleaseReturned, p) ||
			first(g.Released, g.Lost, g.Until, g.Doubted, g.Crashed) != g.Released {
			return false
		}
	}
	return true
}

// "Withheld counts the Acquires that were not granted a lock that was free, although nothing was wrong until then: a
// grant had been made and, when the Acquire was called, no other client had a lock or asked for one, … More than
// Timing.Alone after the client first sent something, it had not returned, and no other client had asked."
func withheld(h checker.History) (n int) {
	if h.Timing == nil || h.Timing.Alone == 0 {
		return 0
	}
	for _, a := range everyAcquire(h) {
		made := slices.ContainsFunc(h.Grants, func(g checker.Grant) bool { return g.Granted < a.invoked })
		if !made || busy(h, a.client, a.invoked) || !clean(h, a.client, a.invoked) {
			continue
		}
		for _, sent := range h.Timing.Sends[a.client] {
			if sent < at(h, a.invoked) {
				continue
			}
			late := sent + h.Timing.Alone
			returned := a.returned != 0 && at(h, a.returned) <= late || late >= h.Timing.At[len(h.Timing.At)-1]
			asked := slices.ContainsFunc(everyAcquire(h), func(b acquire) bool {
				return b.client != a.client && b.invoked > a.invoked && at(h, b.invoked) <= late
			})
			if !returned && !asked && fine(h, late) {
				n++
			}
			break
		}
	}
	return n
}

func everyAcquire(h checker.History) (all []acquire) {
	for _, resource := range lockNames(h) {
		all = append(all, acquires(h, resource)...)
	}
	return all
}
