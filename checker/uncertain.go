package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Span is an interval of instants on one clock, both ends included.
type Span struct{ From, To time.Duration }

func (s Span) before(t Span) bool { return s.To < t.From }

// MaxOrders bounds the orders of a history's positions that are judged. With
// more of them, the order within the uncertainty counts as undecided.
const MaxOrders = 2_000

// judgeOrders judges a history whose positions are known only as intervals. The
// verdict is that of their given order, if every order that the intervals allow
// has the same label, and otherwise [Unknown], with the reason.
func judgeOrders(h History, none *Facts, budget int) Verdict {
	v := judge(h, none, budget)
	o := newOrdering(h)
	tried := 0
	for order := range o.all() {
		if tried++; tried > MaxOrders {
			return undecided(v, fmt.Sprintf("more than %d orders of what happened are possible", MaxOrders), nil)
		}
		again := h.reordered(order)
		if again.Validate() != nil {
			continue // no client that performs one operation after another has this history
		}
		other := judge(again, none, budget)
		if other.Label == v.Label {
			continue
		}
		first, second := o.swapped(order)
		return undecided(v, fmt.Sprintf("step %d may have come before step %d, and then the run is %s, where otherwise "+
			"it is %s",
			second, first, other.Label, v.Label), []Pos{second, first})
	}
	return v
}

// undecided is a verdict whose label depends on the unknown order.
func undecided(v Verdict, why string, at []Pos) Verdict {
	v.Label = Unknown
	v.Reasons = append([]Reason{{Text: "Order within the uncertainty: " + why + ".", At: at}}, v.Reasons...)
	return v
}

// ordering has the positions that a history names, with what is known of their
// order.
type ordering struct {
	pos   []Pos // ascending
	spans []Span
	// next has, for each position, the earliest instant of any position after
	// it.
	next []time.Duration
}

func newOrdering(h History) *ordering {
	o := &ordering{}
	h.positions(func(p *Pos) {
		if *p > 0 {
			o.pos = append(o.pos, *p)
		}
	})
	slices.Sort(o.pos)
	o.pos = slices.Compact(o.pos)
	for _, p := range o.pos {
		o.spans = append(o.spans, h.Within[p-1])
	}
	o.next = make([]time.Duration, len(o.pos))
	first := time.Duration(math.MaxInt64)
	for i := len(o.pos) - 1; i >= 0; i-- {
		o.next[i] = first
		first = min(first, o.spans[i].From)
	}
	return o
}

// all are the orders that the spans allow, other than the given one. Each maps
// the positions to their new positions.
func (o *ordering) all() func(yield func(map[Pos]Pos) bool) {
	return func(yield func(map[Pos]Pos) bool) {
		left := make([]int, len(o.pos))
		for i := range left {
			left[i] = i
		}
		o.extend(left, nil, yield)
	}
}

// extend continues an order with each position that may come next. It returns
// false if yield does.
func (o *ordering) extend(left, done []int, yield func(map[Pos]Pos) bool) bool {
	for len(left) > 0 && left[0] == len(done) && o.spans[left[0]].To < o.next[left[0]] { // it certainly comes next
		left, done = left[1:], append(done[:len(done):len(done)], left[0])
	}
	if len(left) == 0 {
		if slices.IsSorted(done) {
			return true // the given order
		}
		order := make(map[Pos]Pos, len(done))
		for place, i := range done {
			order[o.pos[i]] = o.pos[place]
		}
		return yield(order)
	}
	earliest := o.spans[left[0]].To
	for _, i := range left {
		earliest = min(earliest, o.spans[i].To)
	}
	for n, i := range left {
		if o.spans[i].From > earliest {
			continue // another one certainly precedes it
		}
		rest := slices.Delete(slices.Clone(left), n, n+1)
		if !o.extend(rest, append(done[:len(done):len(done)], i), yield) {
			return false
		}
	}
	return true
}

// swapped are the first two positions that an order reverses.
func (o *ordering) swapped(order map[Pos]Pos) (first, second Pos) {
	for i, p := range o.pos {
		for _, q := range o.pos[i+1:] {
			if order[q] < order[p] {
				return p, q
			}
		}
	}
	return 0, 0
}

// reordered is the history with its positions in another order.
func (h History) reordered(order map[Pos]Pos) History {
	h.Grants, h.Attempts, h.Ops = slices.Clone(h.Grants), slices.Clone(h.Attempts), slices.Clone(h.Ops)
	h.Deletions, h.Holdings, h.Votes = slices.Clone(h.Deletions), slices.Clone(h.Holdings), slices.Clone(h.Votes)
	h.Within = nil
	h.positions(func(p *Pos) { *p = cmp.Or(order[*p], *p) })
	return h
}

// positions calls visit for every position in the history, also for those that
// are 0.
func (h History) positions(visit func(*Pos)) {
	for i := range h.Grants {
		g := &h.Grants[i]
		for _, p := range []*Pos{
			&g.Invoked, &g.Granted, &g.Released, &g.ReleaseReturned, &g.Until, &g.Lost, &g.LostSeen, &g.UntilSeen, &g.Revived,
			&g.Doubted, &g.Crashed, &g.Enqueued, &g.Known,
		} {
			visit(p)
		}
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		for _, p := range []*Pos{&a.Invoked, &a.Returned, &a.Enqueued, &a.Left} {
			visit(p)
		}
	}
	for i := range h.Ops {
		for _, p := range []*Pos{&h.Ops[i].Invoked, &h.Ops[i].Returned, &h.Ops[i].Applied} {
			visit(p)
		}
	}
	for i := range h.Deletions {
		visit(&h.Deletions[i].At)
	}
	for i := range h.Holdings {
		visit(&h.Holdings[i].From)
		visit(&h.Holdings[i].To)
		visit(&h.Holdings[i].Again)
	}
	for i := range h.Votes {
		visit(&h.Votes[i].At)
	}
}

// validateSpans returns an error for spans that do not fit the positions.
func (h History) validateSpans() error {
	if len(h.Within) == 0 {
		return nil
	}
	var err error
	h.positions(func(p *Pos) {
		if int(*p) > len(h.Within) && err == nil {
			err = malformed("position %d has no span: there are %d", *p, len(h.Within))
		}
	})
	latest := 0 // the position so far that begins last
	for i, s := range h.Within {
		switch {
		case err != nil:
		case s.To < s.From:
			err = malformed("the span of position %d ends before it begins", i+1)
		case s.before(h.Within[latest]):
			err = malformed("position %d lies before position %d by their spans", i+1, latest+1)
		}
		if s.From > h.Within[latest].From {
			latest = i
		}
	}
	return err
}
