package scene

import (
	"cmp"
	"slices"

	"locksim/checker"
)

// Overlap is a span of time in which more than one client had a claim, or believed
// that it held the lock. It is on no lane.
type Overlap struct {
	Span
	Kind        PeriodKind // Claim or Belief
	Description string
}

// Overlaps are the spans in which beliefs overlap, and then those in which claims do.
// Spans that touch are joined.
func (s *Scene) Overlaps() []Overlap {
	h := s.Run.History
	var claims, beliefs []Span
	for _, o := range checker.SharedGrants(h) {
		beliefs = append(beliefs, s.common(o.Held.Belief(h.Care), o.Granted.Belief(h.Care)))
		if o.Claims {
			claims = append(claims, s.common(o.Held.Claim(), o.Granted.Claim()))
		}
	}
	claims, beliefs = joined(claims), joined(beliefs)
	var out []Overlap
	for _, b := range beliefs {
		out = append(out, Overlap{b, Belief, "more than one client believes that it holds the lock, " + b.during()})
	}
	for _, c := range claims {
		out = append(out, Overlap{c, Claim, "more than one client has a claim: the lock breaks its promise, " + c.during()})
	}
	return out
}

// byGranted are the grants in the order in which they were made.
func byGranted(h checker.History) []checker.Grant {
	return slices.SortedFunc(slices.Values(h.Grants),
		func(a, b checker.Grant) int { return cmp.Compare(a.Granted, b.Granted) })
}

// mustExclude reports whether two grants should exclude each other.
func mustExclude(h checker.History, a, b checker.Grant) bool {
	return a.Resource == b.Resource && h.Entry != checker.EntryShared &&
		(a.Client != b.Client || h.Entry != checker.EntryReentrant)
}

// common is the span in which both of two intervals hold.
func (s *Scene) common(x, y checker.Interval) Span {
	return s.span("", checker.Interval{Start: max(x.Start, y.Start), End: earlier(x.End, y.End)})
}

// earlier is the first of two ends; 0 is the end of the run.
func earlier(a, b checker.Pos) checker.Pos {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func joined(spans []Span) []Span {
	slices.SortStableFunc(spans,
		func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	var out []Span
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			if s.End > out[n-1].End {
				out[n-1].End, out[n-1].Until = s.End, s.Until
			}
			continue
		}
		out = append(out, s)
	}
	return out
}
