package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"locksim/lock/promise"
)

// late finds the breaches of [promise.DutyReturns].
func (h History) late(found *tally) {
	if !h.has(promise.DutyReturns) {
		return
	}
	for _, c := range slices.SortedFunc(slices.Values(h.Calls), inTime) {
		if c.Due > 0 && c.Returned > c.Due+h.Timing.Trips && h.ranDuring(c.Client, c.Called, c.Returned) {
			found.breach(promise.DutyReturns, func() Reason {
				return Reason{Text: fmt.Sprintf("%s called %s for %s, and it returned after %v, which is %v later than it had "+
					"to, although its process ran.",
					c.Client, c.What, c.Resource, c.Returned-c.Called, c.Returned-c.Due), At: []Pos{c.About}}
			})
		}
	}
}

func inTime(a, b Call) int {
	return cmp.Or(cmp.Compare(a.Called, b.Called), cmp.Compare(a.Client, b.Client), cmp.Compare(a.About, b.About),
		cmp.Compare(a.What, b.What))
}

// ranDuring reports whether a client ran at every instant of a time.
func (h History) ranDuring(client string, from, to time.Duration) bool {
	return !slices.ContainsFunc(h.Timing.Away[client], func(a Absence) bool {
		return !a.Running && a.From <= to &&
			a.To >= from
	})
}

// unwoken finds the breaches of [promise.DutyWakes].
func (h History) unwoken(found *tally) {
	if !h.has(promise.DutyWakes) || !h.Timing.Steady || !h.Timing.Prompt {
		return
	}
	for _, resource := range h.resources() {
		w := newWatch(h, resource)
		for _, a := range w.acquires {
			if h.tried(a.client, a.invoked) {
				continue
			}
			for _, s := range w.idleFor(a) {
				if s.To > w.wokenBy(s, h.Timing.InOrder && h.Entry != EntryReentrant) {
					found.breach(promise.DutyWakes, func() Reason {
						return Reason{Text: fmt.Sprintf("%s waited from step %d on to be told that %s is free, and from %v to %v no "+
							"client had it, although nothing had gone wrong.",
							a.client, a.invoked, resource, s.From.Round(time.Microsecond), s.To.Round(time.Microsecond)),
							At: []Pos{a.invoked}}
					})
				}
			}
		}
	}
}

// wokenBy is until when an idle time may last if a release wakes those who wait. undone says
// that an Acquire without a grant undoes what it asked for.
func (w *watch) wokenBy(s Span, undone bool) time.Duration {
	deadline := s.From + 2*w.Trips
	for _, d := range w.departures {
		switch {
		case d.from > deadline:
			return deadline
		case !d.gaveUp || !undone:
			return math.MaxInt64
		}
		deadline = max(deadline, d.from+2*w.Trips)
	}
	return deadline
}

// tried reports whether the Acquire that was called at a position asked by tries.
func (h History) tried(client string, invoked Pos) bool {
	return slices.ContainsFunc(h.Tries, func(t Try) bool { return t.Client == client && t.Invoked == invoked })
}

// wasteful finds the breaches of [promise.DutySpares].
func (h History) wasteful(found *tally) {
	pace := h.Timing.Pace
	if !h.has(promise.DutySpares) || pace == nil || !h.Timing.Steady || !h.Timing.Prompt {
		return
	}
	judge := func(client, what string, i Interval, every time.Duration, more int) {
		from, to := h.Timing.when(i.Start), h.Timing.when(i.End)
		each := 2
		if h.awayDuring(client, from, to) { // a script that a server refuses is sent whole each time
			each = 4
		}
		allowed := pace.Servers * (8 + each*(1+int((to-from)/every)) + 4*more)
		if n := h.Timing.sent(client, from, to); n > allowed && h.ranDuring(client, from, to) {
			found.breach(promise.DutySpares, func() Reason {
				return Reason{Text: fmt.Sprintf("%s %s for %v from step %d on, and sent %d requests meanwhile. With %v between "+
					"two of them there are %d at most.",
					client, what, to-from, i.Start, n, every, allowed), At: []Pos{i.Start, i.End}}
			})
		}
	}
	waited := func(client string, resource Resource, i Interval) {
		if !h.tried(client, i.Start) {
			judge(client, "waited for "+resource.String(), i, pace.Pause, h.endedDuring(i, resource))
		}
	}
	for _, a := range slices.SortedFunc(slices.Values(h.Attempts), byAsking) {
		if a.Returned > 0 {
			waited(a.Client, a.Resource, Interval{Start: a.Invoked, End: a.Returned})
		}
	}
	for _, grants := range grantsByResource(h) {
		for _, g := range grants {
			waited(g.Client, g.Resource, Interval{Start: g.Invoked, End: g.Granted})
			if claim := g.Claim(); h.has(promise.DutyRenews) && !claim.Empty() && claim.end() < never &&
				!h.asksAgain(g.Client, g.Resource, claim) {
				judge(g.Client, "had "+g.Resource.String(), claim, pace.Renewal, pace.Extends)
			}
		}
	}
}

// endedDuring counts what may wake those who wait for a resource: claims that ended, and attempts that returned.
func (h History) endedDuring(i Interval, resource Resource) int {
	n := 0
	within := func(p Pos) bool { return i.Start < p && p < i.End }
	for _, g := range h.Grants {
		if g.Resource == resource && !g.Claim().Empty() && within(g.Claim().end()) {
			n++
		}
	}
	for _, a := range h.Attempts {
		if a.Resource == resource && within(a.Returned) {
			n++
		}
	}
	return n
}

// asksAgain reports whether a client called Acquire for a resource within an interval.
func (h History) asksAgain(client string, resource Resource, i Interval) bool {
	return slices.ContainsFunc(h.Grants, func(g Grant) bool {
		return g.Client == client && g.Resource == resource &&
			i.Contains(g.Invoked)
	}) ||
		slices.ContainsFunc(h.Attempts, func(a Attempt) bool {
			return a.Client == client && a.Resource == resource && i.Contains(a.Invoked)
		})
}

// sent counts what a client sent after an instant, up to another.
func (t *Timing) sent(client string, from, to time.Duration) int {
	until := func(at time.Duration) int {
		n, _ := slices.BinarySearch(t.Sends[client], at+1)
		return n
	}
	return until(to) - until(from)
}
