package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/lock/promise"
)

// leadership is what [leaders] finds.
type leadership struct {
	atOnce     *tally        // pairs of leaders that acted at once
	together   time.Duration // in which two acted
	afterLoss  time.Duration
	leaderless time.Duration
	overdue    *tally // times without a leader that were longer than the lock promises
}

// leaders finds what the leaders of a history with [History.Leads] did: see [Facts.ActedAtOnce] and the facts after it.
func leaders(h History, records map[holder]holdings) leadership {
	found := leadership{atOnce: &tally{more: "pairs of leaders that acted at once"},
		overdue: &tally{more: "times without a leader that were longer than promised"}}
	if !h.Leads {
		return found
	}
	acts := actsOf(h)
	for _, grants := range grantsByResource(h) {
		found.actAtOnce(h, grants, acts)
		found.actAfterLoss(h, grants, records, acts)
	}
	if h.Timing != nil {
		for _, resource := range h.resources() {
			found.without(h, resource)
		}
	}
	return found
}

// actsOf has where the operations of each grant acted, in order, by the id of the grant: where the store decided on
// them, and where one that did not reach it was called. A client may be paused between a call and what it sends.
func actsOf(h History) map[int][]Pos {
	acts := make(map[int][]Pos)
	for _, o := range h.Ops {
		acts[o.Grant] = append(acts[o.Grant], cmp.Or(o.Applied, o.Invoked))
	}
	for _, sent := range acts {
		slices.Sort(sent)
	}
	return acts
}

// actAtOnce finds the leaders of a resource that acted at once.
func (f *leadership) actAtOnce(h History, grants []Grant, acts map[int][]Pos) {
	acting := func(g Grant) Interval {
		sent := acts[g.ID]
		return Interval{Start: sent[0], End: sent[len(sent)-1] + 1}
	}
	byActing := slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return len(acts[g.ID]) == 0 })
	slices.SortFunc(byActing, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(acting(a).Start, acting(b).Start), byGranting(a, b))
	})
	var shared []Span
	eachOverlap(byActing, acting, func(a, b Grant) {
		if !h.excludes(a, b) {
			return
		}
		first, second := acting(a), acting(b)
		if h.Timing != nil {
			shared = append(shared, Span{h.Timing.when(second.Start), h.Timing.when(min(first.End, second.End) - 1)})
		}
		f.atOnce.add(func() Reason {
			return Reason{Text: fmt.Sprintf("%s acted as the leader of %s from step %d to step %d, and %s did from step %d to "+
				"step %d.",
				a.Client, a.Resource, first.Start, first.End-1, b.Client, second.Start, second.End-1),
				At: []Pos{first.Start, first.End - 1, second.Start, second.End - 1}}
		})
	})
	for _, s := range joined(shared) {
		f.together += s.To - s.From
	}
}

// actAfterLoss finds how long after the loss of its lock a leader still acted.
func (f *leadership) actAfterLoss(h History, grants []Grant, records map[holder]holdings, acts map[int][]Pos) {
	if h.Timing == nil {
		return
	}
	for _, g := range grants {
		lost, instant, regained := lossFor(h, g, grants, records)
		if lost == 0 {
			continue
		}
		for _, sent := range slices.Backward(acts[g.ID]) {
			if sent > lost && sent < regained {
				f.afterLoss = max(f.afterLoss, h.Timing.when(sent)-instant)
				break
			}
		}
	}
}

// lossFor is where a grant was lost, 0 if it was not; the instant of that; and where its client had the lock again by
// the record of the nodes: see [Facts.NoticedLateSeconds].
func lossFor(h History, g Grant, grants []Grant,
	records map[holder]holdings) (lost Pos, instant time.Duration, regained Pos) {
	if !h.ManyKeys && h.recorded(g.Resource) {
		all := records[holder{g.Client, g.Resource}]
		s, had := all.since(g.Granted, g.Granted)
		if !had || s.To == 0 {
			return 0, 0, never
		}
		regained = never
		if i := slices.IndexFunc(all, func(next Holding) bool { return next.From > s.From }); i >= 0 {
			regained = all[i].From
		}
		return s.To, cmp.Or(s.Ended, h.Timing.when(s.To)), regained
	}
	if lost = lossOf(g, grants); lost != 0 {
		instant = h.Timing.when(lost)
	}
	return lost, instant, never
}

// without finds the times in which no client led a resource although one campaigned.
func (f *leadership) without(h History, resource Resource) {
	w, led := newWatch(h, resource), ledTimes(h, resource)
	for _, g := range h.Grants {
		if g.Resource == resource && g.ReleaseReturned > 0 {
			w.depart(g.Client, w.when(g.ReleaseReturned), promise.CauseOther)
		}
	}
	w.sort()
	var all []Span
	for _, a := range w.acquires {
		campaigns := cutOut(Span{a.span.From, a.until}, absencesOf(w.Away[a.client]))
		for _, campaign := range campaigns {
			for _, s := range cutOut(campaign, led) {
				all = append(all, s)
				if last := w.leadsBy(a, s); w.Steady && w.Leaderless > 0 && s.To > last {
					f.overdue.add(func() Reason { return leaderlessReason(resource, a, s, w.Leaderless) })
				}
			}
		}
	}
	for _, s := range joined(all) {
		f.leaderless = max(f.leaderless, s.To-s.From)
	}
}

func leaderlessReason(resource Resource, a waiting, s Span, allowed time.Duration) Reason {
	return Reason{Text: fmt.Sprintf("%s campaigned for %s from step %d on, and from %v to %v no client led: the lock "+
		"says that it is free again within %v.",
		a.client, resource, a.invoked, s.From.Round(time.Microsecond), s.To.Round(time.Microsecond),
		allowed.Round(time.Microsecond)), At: []Pos{a.invoked}}
}

// ledTimes are when a client led a resource: it had a claim and ran.
func ledTimes(h History, resource Resource) (led []Span) {
	for _, g := range h.Grants {
		claim := g.Claim()
		if g.Resource != resource || claim.Empty() {
			continue
		}
		var stopped []Span
		for _, a := range h.Timing.Away[g.Client] {
			if !a.Running {
				stopped = append(stopped, a.Span)
			}
		}
		led = append(led, cutOut(Span{h.Timing.when(claim.Start), h.Timing.when(claim.end())}, stopped)...)
	}
	return led
}

// leadsBy is when a client must lead, in a time in which one campaigned and none did.
func (w *watch) leadsBy(a waiting, s Span) time.Duration {
	deadline := w.due(a, s.From+w.Leaderless)
	for _, d := range w.departures {
		if d.from > deadline {
			break
		}
		deadline = max(deadline, w.due(a, d.until+w.Leaderless))
	}
	return deadline
}

func absencesOf(all []Absence) (spans []Span) {
	for _, a := range all {
		spans = append(spans, a.Span)
	}
	return spans
}

// cutOut is what is left of a span without others, in order: no part of it is empty.
func cutOut(s Span, others []Span) (left []Span) {
	for _, o := range joined(others) {
		if o.To <= s.From || o.From == o.To {
			continue
		}
		if o.From >= s.To {
			break
		}
		if o.From > s.From {
			left = append(left, Span{s.From, o.From})
		}
		s.From = o.To
	}
	if s.From < s.To {
		left = append(left, s)
	}
	return left
}
