package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// queueSpan is a request's time in the queue of a fair lock.
type queueSpan struct {
	client   string
	from, to Pos
	granted  bool // it was granted at to; otherwise it left then
}

// overtaken finds the grants of a fair lock that preceded a request which had
// joined the queue earlier and was still waiting.
//
// A grant without a record joined at its invocation at the earliest, so it
// overtakes every request that was waiting by then: a lock that lets newcomers
// pass looks like that. But a request counts as overtaken only if its own time
// in the queue is known, and if it was certainly still waiting when the grant
// returned. A grant without a claim, whose answer was late, does not count: it
// is not known when the node made it.
func overtaken(h History) *tally {
	found := &tally{more: "grants that overtook another request"}
	if h.Queue != QueueFair {
		return found
	}
	attempts := attemptsByResource(h)
	for _, grants := range grantsByResource(h) {
		checkQueue(grants, attempts[grants[0].Resource], found)
	}
	return found
}

func attemptsByResource(h History) map[Resource][]Attempt {
	all := make(map[Resource][]Attempt)
	for _, a := range h.Attempts {
		all[a.Resource] = append(all[a.Resource], a)
	}
	return all
}

// checkQueue gets the grants of one resource in the order of granting, and
// checks them from the last to the first, since requests that wait longer come
// first in the list.
func checkQueue(grants []Grant, attempts []Attempt, found *tally) {
	waiting := queueSpans(grants, attempts)
	first := queueSpan{from: math.MaxInt} // the first to join of those still waiting
	var late []func() Reason
	for _, g := range slices.Backward(grants) {
		if g.Claim().Empty() {
			continue
		}
		for len(waiting) > 0 && waiting[0].to > g.Granted {
			if waiting[0].from < first.from {
				first = waiting[0]
			}
			waiting = waiting[1:]
		}
		if by := first; by.from < g.joined() {
			late = append(late, func() Reason { return overtakenReason(g, by) })
		}
	}
	for _, explain := range slices.Backward(late) {
		found.add(explain)
	}
}

// joined is the earliest position at which a grant's request can have joined
// the queue.
func (g Grant) joined() Pos { return max(g.Invoked, g.Enqueued) }

// queueSpan returns the attempt's time in the queue while its client was
// waiting. It is empty if that is not known.
func (a Attempt) queueSpan() queueSpan {
	return queueSpan{client: a.Client, from: a.Enqueued, to: min(a.Left, a.Returned)}
}

// queueSpans returns the known spans, those that ended last first.
func queueSpans(grants []Grant, attempts []Attempt) []queueSpan {
	var all []queueSpan
	for _, g := range grants {
		if g.Enqueued > 0 && !g.Claim().Empty() {
			all = append(all, queueSpan{client: g.Client, from: g.Enqueued, to: g.Granted, granted: true})
		}
	}
	for _, a := range attempts {
		if p := a.queueSpan(); p.to > p.from {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b queueSpan) int {
		return cmp.Or(cmp.Compare(b.to, a.to), cmp.Compare(a.from, b.from), cmp.Compare(a.client, b.client))
	})
	return all
}

func overtakenReason(g Grant, by queueSpan) Reason {
	end := "left it"
	if by.granted {
		end = "was granted " + g.Resource.String()
	}
	return Reason{
		Text: fmt.Sprintf("%s was granted %s at step %d and overtook %s, which had been in the queue since step %d and %s "+
			"at step %d.",
			g.Client, g.Resource, g.Granted, by.client, by.from, end, by.to),
		At: []Pos{g.Granted, by.from, by.to},
	}
}
