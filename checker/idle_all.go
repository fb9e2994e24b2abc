package checker

import (
	"fmt"
	"math"
	"slices"
	"time"

	"locksim/lock/promise"
)

// overdueForAll finds the idle times of a resource, over all Acquires, that lasted too long, where none of a single
// Acquire did: clients that ask again and again, or that are away for an instant, do not begin another idle time. See
// [Facts.Overdue].
func (w *watch) overdueForAll(h History, resource Resource, found *overdueTimes) {
	var causes []departure
	for _, s := range w.idleForAll(h, resource) {
		late := slices.DeleteFunc(s.asked, func(asked Span) bool { return asked.To <= w.dueForAll(asked.From) })
		if len(late) == 0 {
			continue
		}
		if causes == nil {
			causes = w.causesForAll(h, resource)
		}
		cause, deadline := w.deadlineForAll(causes, s.Span)
		if slices.ContainsFunc(late, func(asked Span) bool { return asked.To > deadline }) {
			*found = append(*found, overdueTime{s.To - s.From, func() Reason {
				r := Reason{Text: fmt.Sprintf("%s was free and wanted from %v to %v, and nobody got it, although clients asked "+
					"for it again and again",
					resource, s.From.Round(time.Microsecond), s.To.Round(time.Microsecond))}
				if cause == promise.CauseOther {
					r.Text += "."
				} else {
					r.Text += fmt.Sprintf(": longer than the promise allows after: %s.", cause)
				}
				i := slices.IndexFunc(w.acquires, func(a waiting) bool { return a.span.From <= s.From && s.From < a.until })
				if i >= 0 {
					r.At = []Pos{w.acquires[i].invoked}
				}
				return r
			}})
		}
	}
}

// idleOfAll is a time in which none had a resource, and clients wanted it.
type idleOfAll struct {
	Span
	asked []Span // when one wanted it
}

// idleForAll are the times in which a client that ran and reached the servers wanted the resource, and none had it. A
// gap of at most a Grace or a quarter of a lease, in which none wanted it, does not end such a time; a grant does.
func (w *watch) idleForAll(h History, resource Resource) []idleOfAll {
	var wanted []Span
	for _, a := range w.acquires {
		wanted = append(wanted, without(Span{a.span.From, a.until}, absencesOf(w.Away[a.client]))...)
	}
	taken := w.held
	for _, g := range h.Grants {
		if g.Resource == resource {
			taken = append(taken, Span{w.when(g.Granted), w.when(g.Granted)})
		}
	}
	taken = joined(taken)
	var out []idleOfAll
	for _, s := range joined(wanted) {
		for _, asked := range without(s, taken) {
			n := len(out)
			gap := n > 0 && asked.From-out[n-1].To <= max(w.Grace, w.Lease/4)
			if gap && !cut(taken, out[n-1].To, asked.From) {
				out[n-1].To, out[n-1].asked = asked.To, append(out[n-1].asked, asked)
			} else {
				out = append(out, idleOfAll{asked, []Span{asked}})
			}
		}
	}
	return out
}

// cut reports whether one of the spans lies between two instants, or at one of them.
func cut(spans []Span, from, to time.Duration) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return s.From <= to && s.To >= from })
}

// without are the parts of a span that lie in none of others, which are in order. One of others that is an instant
// cuts it in two.
func without(s Span, others []Span) (out []Span) {
	for _, other := range joined(others) {
		if other.To < s.From || other.From > s.To {
			continue
		}
		if other.From > s.From {
			out = append(out, Span{s.From, other.From})
		}
		s.From = max(s.From, other.To)
	}
	if s.From < s.To {
		out = append(out, s)
	}
	return out
}

// deadlineForAll is when an idle time over all Acquires must be over, with the last cause that allows it to last
// until then. Of the Acquires that a client gave up or that were not answered, and of its absences, only the first
// counts in an idle time; by the record of the nodes each that took the lock does, from then on.
func (w *watch) deadlineForAll(causes []departure, s Span) (promise.Cause, time.Duration) {
	cause, deadline := promise.CauseOther, w.dueForAll(s.From+w.Within[promise.CauseOther])
	counted := map[string]bool{}
	for _, d := range causes {
		if d.from > deadline {
			break
		}
		if !d.concerns(s) {
			continue
		}
		if d.recurs() && d.from > s.From {
			if counted[d.client] {
				continue
			}
			counted[d.client] = true
		}
		if end := w.dueForAll(d.until + w.Within[d.cause]); end > deadline {
			cause, deadline = d.cause, end
		}
	}
	return cause, deadline
}

// causesForAll are the departures of clients and their holdings that became no grant, in order.
func (w *watch) causesForAll(h History, resource Resource) []departure {
	causes := slices.Concat(w.departures, w.orphans(h, resource))
	slices.SortStableFunc(causes, func(a, b departure) int { return int(a.from - b.from) })
	return causes
}

// dueForAll is when the first of the clients that wait at an instant must have a lock that is free from then on.
func (w *watch) dueForAll(free time.Duration) time.Duration {
	end := time.Duration(math.MaxInt64)
	for _, a := range w.acquires {
		if a.span.From <= free && free < a.until {
			end = min(end, w.due(a, free))
		}
	}
	if end == math.MaxInt64 {
		return free + w.Grace
	}
	return end
}

// recurs reports whether a cause is one of those that count once for each client in an idle time.
func (d departure) recurs() bool {
	return !d.took && (d.cause == promise.CauseCancelled || d.cause == promise.CauseLostReply)
}

// orphans are the holdings of clients, by the record of the nodes, that became no grant: requests that took the lock,
// and of which their clients do not know.
func (w *watch) orphans(h History, resource Resource) (all []departure) {
	for _, s := range h.Holdings {
		if s.Resource == resource && !h.granted(s) {
			cause := promise.CauseLostReply
			if w.Within[promise.CauseCancelled] > w.Within[cause] {
				cause = promise.CauseCancelled
			}
			at := w.when(s.From)
			all = append(all, departure{client: s.Client, from: at, until: w.back(s.Client, at), cause: cause, took: true})
		}
	}
	return all
}

// granted reports whether a holding became a grant: an Acquire that was pending when it began.
func (h History) granted(s Holding) bool {
	return slices.ContainsFunc(h.Grants, func(g Grant) bool {
		return g.Client == s.Client && g.Resource == s.Resource && g.Invoked < s.From && s.From <= g.Granted
	})
}
