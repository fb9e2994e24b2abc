package checker

// Interval is a half-open interval of the trace: it includes Start and excludes
// End. It has no end if End is 0, and is empty if End is not after Start.
type Interval struct {
	Start, End Pos
	// Ended says what ended it: "it released".
	Ended string
}

// Contains reports whether p is in the interval.
func (i Interval) Contains(p Pos) bool { return i.Start <= p && p < i.end() }

// Empty reports whether no position is in the interval.
func (i Interval) Empty() bool { return i.end() <= i.Start }

// Overlaps reports whether some position is in both intervals. Intervals that
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

// ending is a position at which an interval may end, and the reason.
type ending struct {
	at   Pos
	what string
}

// until returns the interval from start to the first ending.
func until(start Pos, endings ...ending) Interval {
	i := Interval{Start: start, Ended: "nothing"}
	for _, e := range endings {
		if e.at > 0 && e.at < i.end() {
			i.End, i.Ended = e.at, e.what
		}
	}
	return i
}

// Claim returns the interval in which the lock promises that no other client
// has a claim: from Acquire's return to the first of the call of Release, Lost,
// Until and crash, or where its holder could not know better, or would not have had its key any more
// ([Grant.Doubted]).
func (g Grant) Claim() Interval {
	doubt := "another client had the lock and it could not know"
	if g.Taken {
		doubt = "the time was over that its key had left when a request took it"
	}
	return until(g.Granted,
		ending{g.Released, "it released"},
		ending{g.Lost, "the lock announced the loss"},
		ending{g.Until, "its validity ended"},
		ending{g.Doubted, doubt},
		ending{g.Crashed, "it crashed"})
}

// Belief returns the interval in which the client acts as a holder: from
// Acquire's return to the first of those endings that it has observed. Release
// and a crash always count, an observed loss with [CareLost] and [CareSteps],
// an observed end of the validity only with [CareSteps].
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
