package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// selfExcluded finds the Acquires whose key kept their own client out: see [Facts.SelfExcluded].
func selfExcluded(h History) *tally {
	found := &tally{more: "Acquires whose key kept their own client out"}
	if h.Timing == nil || !h.Timing.Steady || h.Entry == EntryReentrant {
		return found
	}
	records := holdingsOf(h)
	meanwhile := func(a Attempt) bool {
		s, ok := h.keptOutMeanwhile(a, records[holder{a.Client, a.Resource}])
		if ok {
			found.add(func() Reason {
				return Reason{Text: fmt.Sprintf("%s asked for %s at step %d, a request of that call took the lock at step %d, "+
					"and its key kept %s itself out, which asked again at step %d, until step %d.",
					a.Client, a.Resource, a.Invoked, s.From, a.Client, s.Again, s.To), At: []Pos{a.Invoked, s.From, s.Again, s.To}}
			})
		}
		return ok
	}
	for _, a := range slices.SortedFunc(slices.Values(h.Attempts), byAsking) {
		if a.Returned == 0 || h.hasSentBefore(a) || meanwhile(a) {
			continue
		}
		if later, ok := h.keptOutLater(a, records[holder{a.Client, a.Resource}]); ok {
			found.add(func() Reason {
				return Reason{Text: fmt.Sprintf("%s asked for %s at step %d and was not granted it at step %d, and the key of "+
					"that request kept %s itself out when it asked again at step %d, although nothing had kept it from cleaning up.",
					a.Client, a.Resource, a.Invoked, a.Returned, a.Client, later.invoked),
					At: []Pos{a.Invoked, a.Returned, later.invoked}}
			})
		}
	}
	for _, g := range h.Grants {
		if a := (Attempt{Client: g.Client, Resource: g.Resource, Invoked: g.Invoked,
			Returned: g.Granted}); !h.hasSentBefore(a) {
			meanwhile(a)
		}
	}
	return found
}

// keptOutMeanwhile is a holding that began and ended while an Acquire was pending, and in which its client asked again.
func (h History) keptOutMeanwhile(a Attempt, record holdings) (Holding, bool) {
	t := h.Timing
	i := slices.IndexFunc(record, func(s Holding) bool {
		if !t.InOrder || s.Again == 0 || s.To == 0 || s.From <= a.Invoked || s.To >= a.Returned {
			return false
		}
		enough := t.when(s.Again) + 2*t.Trips
		return enough < t.when(s.To) &&
			!slices.ContainsFunc(h.Deletions, func(d Deletion) bool {
				return d.At == s.To && d.Resource == a.Resource && d.Owner == a.Client && d.By == a.Client
			}) &&
			!slices.ContainsFunc(t.Away[a.Client], func(away Absence) bool {
				return !away.Behind && away.From <= enough && away.To >= t.when(s.Again)-t.Trips
			})
	})
	if i < 0 {
		return Holding{}, false
	}
	return record[i], true
}

// keptOutLater is a later Acquire of the client of one that returned without a grant, while the client had the lock
// from it.
func (h History) keptOutLater(a Attempt, record holdings) (waiting, bool) {
	later := h.askedAfter(a)
	over := func(s Absence) bool { return s.To < h.Timing.when(a.Returned)-h.Timing.Trips || h.leftAsItWas(a, s) }
	linked, ok := h.Timing.linkedAgain(a.Client, over)
	if !ok {
		return waiting{}, false
	}
	for _, s := range h.keysOf(a, record) {
		if !h.Timing.InOrder && h.Timing.when(s.From) > h.Timing.when(a.Returned)-h.Timing.Trips {
			continue
		}
		cleaned := max(h.Timing.when(a.Returned), h.Timing.when(s.From), linked) + 2*h.Timing.Trips
		i := slices.IndexFunc(later, func(b waiting) bool {
			from, to := max(cleaned, b.span.From+h.Timing.Trips), min(b.span.To, h.Timing.when(s.Span().end()))
			return from < to && !slices.ContainsFunc(h.Timing.Away[a.Client], func(s Absence) bool {
				return !s.Behind && s.From <= from && !over(s)
			})
		})
		if i >= 0 {
			return later[i], true
		}
	}
	return waiting{}, false
}

// leftAsItWas reports whether an absence that was over when an Acquire returned kept its client from nothing: it was as
// short as a call, such as the loss of a reply, the client ran, and it sent nothing from then to its next call of
// Acquire. So it did not try to clean up.
func (h History) leftAsItWas(a Attempt, s Absence) bool {
	t := h.Timing
	if !s.Running || s.To-s.From > t.Trips || s.To > t.when(a.Returned) {
		return false
	}
	sends := t.Sends[a.Client]
	i, _ := slices.BinarySearch(sends, s.From+1)
	return i < len(sends) && sends[i] >= t.when(h.nextCall(a))
}

// linkedAgain is when a client that was away had a link again, if its absences are over: when it first heard from a
// server after its last one. A client whose connection has ended may wait before it makes another, and cannot clean up
// meanwhile. It is 0 if it was never away; ok is false if it heard nothing more.
func (t *Timing) linkedAgain(client string, over func(Absence) bool) (at time.Duration, ok bool) {
	back, away := time.Duration(0), false
	for _, s := range t.Away[client] {
		if !s.Behind && over(s) {
			back, away = max(back, s.To), true
		}
	}
	if !away {
		return 0, true
	}
	heard := t.Heard[client]
	i, _ := slices.BinarySearch(heard, back+1)
	if i == len(heard) {
		return 0, false
	}
	return heard[i], true
}

// hasSentBefore reports whether an earlier request of the client for the same lock may have been under way when it
// asked.
func (h History) hasSentBefore(a Attempt) bool {
	asked := h.Timing.when(a.Invoked)
	crashed := slices.ContainsFunc(h.Timing.Away[a.Client], func(s Absence) bool { return s.Crash && s.From <= asked })
	before := slices.ContainsFunc(h.Grants, func(g Grant) bool {
		return g.Client == a.Client && g.Resource == a.Resource && g.Invoked < a.Invoked
	}) || slices.ContainsFunc(h.Attempts, func(b Attempt) bool {
		return b.Client == a.Client && b.Resource == a.Resource && b.Invoked < a.Invoked
	})
	return crashed || before && slices.ContainsFunc(h.Timing.Away[a.Client], func(s Absence) bool {
		return s.From <= asked && s.To >= asked-h.Timing.Trips
	})
}

// keysOf are the holdings that began with the request of an attempt: before the client asked again.
func (h History) keysOf(a Attempt, record holdings) (all []Holding) {
	next := h.nextCall(a)
	for _, s := range record {
		if a.Invoked < s.From && s.From < next {
			all = append(all, s)
		}
	}
	return all
}

// nextCall is the next call of Acquire by the client of an attempt.
func (h History) nextCall(a Attempt) Pos {
	next := never
	for _, g := range h.Grants {
		if g.Client == a.Client && g.Invoked > a.Invoked {
			next = min(next, g.Invoked)
		}
	}
	for _, b := range h.Attempts {
		if b.Client == a.Client && b.Invoked > a.Invoked {
			next = min(next, b.Invoked)
		}
	}
	return next
}

// askedAfter are the later Acquires of the client of an attempt for the same resource, up to the first grant.
func (h History) askedAfter(a Attempt) (all []waiting) {
	granted := never
	for _, g := range h.Grants {
		if g.Client == a.Client && g.Resource == a.Resource && g.Granted > a.Invoked {
			granted = min(granted, g.Granted)
		}
	}
	add := func(client string, resource Resource, invoked, returned Pos) {
		if client == a.Client && resource == a.Resource && invoked > a.Invoked && invoked < granted {
			span := h.Timing.pending(client, invoked, returned)
			if granted != never {
				span.To = min(span.To, h.Timing.when(granted))
			}
			all = append(all, waiting{client: client, invoked: invoked, span: span})
		}
	}
	for _, g := range h.Grants {
		add(g.Client, g.Resource, g.Invoked, g.Granted)
	}
	for _, b := range h.Attempts {
		add(b.Client, b.Resource, b.Invoked, b.Returned)
	}
	slices.SortFunc(all, func(x, y waiting) int { return int(x.invoked - y.invoked) })
	return all
}

// pending is the time of an Acquire. One that never returned is pending until its client
// crashed, or to the end.
func (t *Timing) pending(client string, invoked, returned Pos) Span {
	s := Span{t.when(invoked), t.when(cmp.Or(returned, never))}
	for _, a := range t.Away[client] {
		if returned == 0 && a.Crash && a.From >= s.From {
			s.To = min(s.To, a.From)
		}
	}
	return s
}
