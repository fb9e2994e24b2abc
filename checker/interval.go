package checker

// Interval is a half-open stretch of the trace: Start belongs to it, End does
// not. It is open-ended when End is 0, and empty when End does not lie after
// Start.
type Interval struct {
	Start, End Pos
	// Ended says in words what ended it: "it released".
	Ended string
}

// Contains says that p lies within the interval.
func (i Interval) Contains(p Pos) bool { return i.Start <= p && p < i.end() }

// Empty says that no position lies within the interval.
func (i Interval) Empty() bool { return i.end() <= i.Start }

// Overlaps says that some position lies within both intervals. Intervals that
// only touch do not overlap.
func (i Interval) Overlaps(j Interval) bool {
	return max(i.Start, j.Start) < min(i.end(), j.end())
}

// end returns the end as a number to compare with.
func (i Interval) end() Pos {
	if i.End == 0 {
		return never
	}
	return i.End
}

// ending is a position at which an interval may end, and why.
type ending struct {
	at   Pos
	what string
}

// until returns the interval from start to the first ending that happened.
func until(start Pos, endings ...ending) Interval {
	i := Interval{Start: start, Ended: "nothing"}
	for _, e := range endings {
		if e.at > 0 && e.at < i.end() {
			i.End, i.Ended = e.at, e.what
		}
	}
	return i
}

// Claim returns the interval in which the lock promises that nobody else has a
// claim: from Acquire's return to the first of Release invoked, Lost, Until and
// crash.
func (g Grant) Claim() Interval {
	return until(g.Granted,
		ending{g.Released, "it released"},
		ending{g.Lost, "the lock announced the loss"},
		ending{g.Until, "its validity ended"},
		ending{g.Crashed, "it crashed"})
}

// Belief returns the interval in which the client acts as a holder: from
// Acquire's return to the first of those endings that it has observed. Release
// and a crash always count, a seen loss with [CareLost] and [CareSteps], a seen
// end of the validity with [CareSteps] only.
func (g Grant) Belief(c Care) Interval {
	endings := []ending{{g.Released, "it released"}, {g.Crashed, "it crashed"}}
	if c == CareLost || c == CareSteps {
		endings = append(endings, ending{g.LostSeen, "it saw the notice of the loss"})
	}
	if c == CareSteps {
		endings = append(endings, ending{g.UntilSeen, "it saw that its validity had ended"})
	}
	return until(g.Granted, endings...)
}
