package outcome

import (
	"slices"

	"locksim/checker"
	"locksim/sim/trace"
)

// Part is one line of a shortened story, or the number of lines that are left out in its place.
type Part struct {
	Line *Line
	Left int
}

// Shorten is a story without the lines that are not shown. A line that is part of what decides the run is shown in any
// case: see [Line.Decides].
func Shorten(story []Line, shown func(i int) bool) []Part {
	var out []Part
	left := 0
	for i := range story {
		if !shown(i) && !story[i].Decides {
			left++
			continue
		}
		if left > 0 {
			out, left = append(out, Part{Left: left}), 0
		}
		out = append(out, Part{Line: &story[i]})
	}
	if left > 0 {
		out = append(out, Part{Left: left})
	}
	return out
}

// deciders tell which lines decide a run: from the first event that matters, the grant of the earliest of those that
// have the lock, or believe so, at the decisive step.
type deciders struct {
	first, fatal int
	asked        int      // when that client called Acquire
	parties      []string // that have the lock, or believe so, at the decisive step
}

// decidersOf are those of a run with a decisive step; 0 is none.
func decidersOf(run *ModeRun, fatal int) deciders {
	d := deciders{fatal: fatal}
	for _, g := range run.History.Grants {
		if fatal == 0 || g.Granted > checker.Pos(fatal) || !g.Belief(run.History.Care).Contains(checker.Pos(fatal)) {
			continue
		}
		d.parties = append(d.parties, g.Client)
		if d.first == 0 || int(g.Granted) < d.first {
			d.first, d.asked = int(g.Granted), int(g.Invoked)
		}
	}
	return d
}

// between reports whether a step is from the first event that matters to the decisive one.
func (d deciders) between(step int) bool { return d.first <= step && step <= d.fatal }

// ofKey reports whether a line about a key decides the run: also one about what a client did in its Acquire that has
// the lock.
func (d deciders) ofKey(l Line) bool {
	return d.between(l.N) || slices.Contains(d.parties, l.Actor) && d.asked <= l.N && l.N <= d.fatal
}

// tells reports whether an event decides the run: a fault, or what a client that has the lock at the decisive step, or
// believes so, was granted, gave up, or was told.
func (d deciders) tells(e trace.Event) bool {
	if !d.between(e.N) {
		return false
	}
	if e.N == d.fatal || e.Actor == trace.World {
		return true
	}
	m, ok := e.What.(trace.Mark)
	return ok && slices.Contains(d.parties, e.Actor) &&
		slices.Contains([]trace.Step{trace.Granted, trace.Release, trace.Released,
			trace.Until, trace.UntilSeen, trace.Lost, trace.LostSeen, trace.Revived}, m.Step)
}
