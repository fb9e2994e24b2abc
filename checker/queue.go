package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// place is a request's time in the queue of a fair lock.
type place struct {
	client   string
	from, to Pos
	granted  bool // to is where it was granted; else where it left
}

// overtaken finds the grants of a fair lock that came before a request which had
// joined the queue earlier and waited on.
//
// A grant without a known place joined when it was asked for at the earliest, so
// it overtakes whoever was waiting by then: that is how a lock looks that lets
// newcomers pass. But nobody is overtaken whose own place is not known, or of whom
// it is not certain that it was still waiting at the position at which the grant
// returned. A grant without a claim, whose answer came too late, has no part in
// this: nobody can tell when the node made it.
func overtaken(h History) *tally {
	found := &tally{more: "grants that overtook somebody"}
	if h.Queue != QueueFair {
		return found
	}
	attempts := attemptsByResource(h)
	for _, grants := range grantsByResource(h) {
		checkQueue(grants, attempts[grants[0].Resource], found)
	}
	return found
}

func attemptsByResource(h History) map[string][]Attempt {
	all := make(map[string][]Attempt)
	for _, a := range h.Attempts {
		all[a.Resource] = append(all[a.Resource], a)
	}
	return all
}

// checkQueue takes the grants of one resource in the order of granting, and looks
// at them from the last to the first: those who wait longer come before.
func checkQueue(grants []Grant, attempts []Attempt, found *tally) {
	waiting := places(grants, attempts)
	first := place{from: math.MaxInt} // of those still waiting, the one that joined first
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

// joined is where a grant's request joined the queue, at the earliest.
func (g Grant) joined() Pos { return max(g.Invoked, g.Enqueued) }

// place returns the attempt's time in the queue while its client was waiting. It
// is empty when nobody knows how long that was.
func (a Attempt) place() place {
	return place{client: a.Client, from: a.Enqueued, to: min(a.Left, a.Returned)}
}

// places returns the known places, those that lasted longest first.
func places(grants []Grant, attempts []Attempt) []place {
	var all []place
	for _, g := range grants {
		if g.Enqueued > 0 && !g.Claim().Empty() {
			all = append(all, place{client: g.Client, from: g.Enqueued, to: g.Granted, granted: true})
		}
	}
	for _, a := range attempts {
		if p := a.place(); p.to > p.from {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.to, a.to), cmp.Compare(a.from, b.from), cmp.Compare(a.client, b.client))
	})
	return all
}

func overtakenReason(g Grant, by place) Reason {
	end := "left it"
	if by.granted {
		end = "was granted " + g.Resource
	}
	return Reason{
		Text: fmt.Sprintf("%s was granted %s at step %d and overtook %s, which had been in the queue since step %d and %s at step %d.",
			g.Client, g.Resource, g.Granted, by.client, by.from, end, by.to),
		At: []Pos{g.Granted, by.from, by.to},
	}
}
