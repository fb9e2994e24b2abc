package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// troubled is the instant from which on something had gone wrong: that of a first fault, or the one at which the
// context of a call ended before the call did.
func (h History) troubled(first time.Duration) time.Duration {
	note := func(at time.Duration) {
		if at > 0 {
			first = min(first, at)
		}
	}
	for _, g := range h.Grants {
		note(g.ContextEnded)
	}
	for _, a := range h.Attempts {
		note(a.ContextEnded)
	}
	for _, c := range h.Calls {
		if c.ContextEnded {
			note(c.Called)
		}
	}
	return first
}

// failedCalls finds the calls that failed although nothing was wrong: see [Facts.FailedCalls].
func failedCalls(h History) *tally {
	found := &tally{more: "calls that failed although nothing was wrong"}
	if h.Timing == nil || !h.Timing.Prompt {
		return found
	}
	troubled := h.troubled(h.Timing.Undisturbed)
	undecided := h.troubled(max(h.Timing.Undisturbed, h.Timing.Majority))
	for _, a := range slices.SortedFunc(slices.Values(h.Attempts), byAsking) {
		if a.Returned == 0 || a.Taken || !h.TakenNamed && !h.leftAlone(a.Client, a.Invoked, a.Returned) {
			continue
		}
		returned := h.Timing.when(a.Returned)
		soon := 2*(returned-h.Timing.when(a.Invoked)) < h.Timing.Lease
		if returned >= troubled && (returned >= undecided || !soon) {
			continue
		}
		found.add(func() Reason {
			return Reason{Text: fmt.Sprintf("%s asked for %s at step %d, and Acquire failed at step %d, although %s: %s.",
				a.Client, a.Resource, a.Invoked, a.Returned, h.goneWrong(returned), a.Error), At: []Pos{a.Invoked, a.Returned}}
		})
	}
	grants := map[call]Grant{}
	for _, g := range h.Grants {
		grants[call{g.Client, g.Granted}] = g
	}
	for _, c := range slices.SortedFunc(slices.Values(h.Calls), inTime) {
		g, known := grants[call{c.Client, c.About}]
		failed := c.Result == ResultFailed || c.Result == ResultNotHeld && h.Entry != EntryReentrant
		if !known || !failed || c.Returned >= troubled || !h.lasted(g, c) {
			continue
		}
		found.add(func() Reason {
			why := cmp.Or(c.Error, "the lock is not held")
			if c.What == "Release" {
				return Reason{Text: fmt.Sprintf("%s failed to release %s at step %d, although nothing had gone wrong and its "+
					"lease had not ended: %s.",
					c.Client, c.Resource, g.ReleaseReturned, why), At: []Pos{g.ReleaseReturned}}
			}
			return Reason{Text: fmt.Sprintf("%s called %s for %s, which it had been granted at step %d, and that failed, "+
				"although nothing had gone wrong and the lease had not ended: %s.",
				c.Client, c.What, c.Resource, g.Granted, why), At: []Pos{g.Granted}}
		})
	}
	return found
}

// goneWrong says what had gone wrong by an instant at which a majority of the nodes was undisturbed.
func (h History) goneWrong(by time.Duration) string {
	var nodes []string
	for _, s := range h.Timing.Struck {
		if s.At <= by {
			nodes = append(nodes, s.Node)
		}
	}
	if len(nodes) == 0 {
		return "nothing had gone wrong"
	}
	return fmt.Sprintf("faults had struck only %s, a minority of the %d nodes", strings.Join(nodes, ", "), h.Voters)
}

// call identifies what a call is about.
type call struct {
	client string
	about  Pos
}

// lasted reports whether the lease of a grant had not ended when a call of it returned, nor before the call could have
// been answered, and no other client was granted the lock until the return or had not returned from releasing it when
// this one was granted.
func (h History) lasted(g Grant, c Call) bool {
	until := func(p Pos) bool { return p > 0 && h.Timing.when(p) <= c.Returned }
	over := func(p Pos) bool { return p > 0 && h.Timing.when(p) <= max(c.Returned, c.Called+h.Timing.Trips) }
	if g.ExpiredAtCall || g.Doubted > 0 || over(g.Until) || over(g.Lost) || c.What != "Release" && g.Released > 0 &&
		h.Timing.when(g.Released) < c.Called {
		return false
	}
	return !slices.ContainsFunc(h.Grants, func(other Grant) bool {
		return other.ID != g.ID && other.Resource == g.Resource && (other.Client != g.Client || h.Entry != EntryReentrant) &&
			until(other.Granted) && cmp.Or(other.ReleaseReturned, never) > g.Granted
	})
}

// leftAlone reports whether a client had no reason not to be granted a lock in a time: no other client had one or asked
// for one, each of those granted before was released with success before its lease ended, and each Acquire before was
// granted. A lock that the client may enter again need not have been released by it. Locks of all names count: two may
// be one.
func (h History) leftAlone(client string, from, to Pos) bool {
	asked := pending(from, to)
	return !slices.ContainsFunc(h.Grants, func(g Grant) bool {
		there := Interval{Start: g.Invoked, End: cmp.Or(g.ReleaseReturned, never)}
		ended := g.ReleaseSucceeded && g.ReleaseReturned <= from && g.Claim().End == g.Released
		entered := h.Entry == EntryReentrant && g.Client == client && cmp.Or(g.ReleaseReturned, never) > from
		return g.Client != client && there.Overlaps(asked) || g.Granted < from && !ended && !entered
	}) && !slices.ContainsFunc(h.Attempts, func(a Attempt) bool {
		there := Interval{Start: a.Invoked, End: cmp.Or(a.Returned, never)}
		return a.Client != client && there.Overlaps(asked) || a.Invoked < from
	})
}

// withheld finds the Acquires that were not granted a lock which was free: see [Facts.Withheld].
func withheld(h History) *tally {
	found := &tally{more: "clients that were kept from a lock that was free"}
	if h.Timing == nil || !h.Timing.Prompt || h.Timing.Alone == 0 {
		return found
	}
	troubled := h.troubled(h.Timing.Undisturbed)
	var all []waiting
	for _, g := range h.Grants {
		all = append(all, waiting{client: g.Client, invoked: g.Invoked,
			span: Span{h.Timing.when(g.Invoked), h.Timing.when(g.Granted)}})
	}
	for _, a := range h.Attempts {
		all = append(all, waiting{client: a.Client, invoked: a.Invoked,
			span: Span{h.Timing.when(a.Invoked), h.Timing.when(cmp.Or(a.Returned, never))}})
	}
	slices.SortFunc(all, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(a.invoked, b.invoked), cmp.Compare(a.client, b.client))
	})
	for _, a := range all {
		released := slices.ContainsFunc(h.Grants, func(g Grant) bool { return g.Granted < a.invoked })
		i, _ := slices.BinarySearch(h.Timing.Sends[a.client], a.span.From)
		if !released || i == len(h.Timing.Sends[a.client]) || !h.leftAlone(a.client, a.invoked, a.invoked) {
			continue
		}
		asked, over := h.Timing.Sends[a.client][i], a.span.To
		for _, b := range all {
			if b.client != a.client && b.invoked > a.invoked {
				over = min(over, b.span.From)
			}
		}
		if late := asked + h.Timing.Alone; over > late && late < troubled {
			found.add(func() Reason {
				return Reason{Text: fmt.Sprintf("%s asked for a lock at step %d that had been released, and had not been granted "+
					"it %v later, although no other client asked for it and nothing had gone wrong.%s",
					a.client, a.invoked, over-asked, keptOnPurpose), At: []Pos{a.invoked}}
			})
		}
	}
	return found
}
