package play

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/promise"
	"locksim/sim/trace"
)

// place is the place of a waiter in the queue of a lock, by the server's record.
type place struct {
	client       string
	joined, left checker.Pos // left is 0 for a place that its owner has not left
	since        time.Duration
}

// places follows the queue of a lock on its primary. A waiter keeps its place until its
// own request gives it up. If the request of another client takes it out, it has lost
// its place only if it was away, and may have been silent for too long, or if the
// server's clock has jumped. A waiter that was there all the time keeps the place that it had.
func (p *play) places(t *trace.Trace, away map[string][]checker.Absence) []place {
	if p.lock.Queue == nil || p.lock.Keys == nil || p.struckOf(promise.NodeClock) {
		return nil
	}
	queue, primary := p.lock.Queue(resource), "r0"
	var done []place
	open := map[string]*place{} // by the member
	var members []string
	moves := promotions(t)
	for _, c := range p.world.Ground().KeyChanges() {
		for len(moves) > 0 && moves[0].N <= c.Step {
			primary, moves = moves[0].Peer, moves[1:]
			clear(open) // the replica may not have the places
		}
		if c.Key != queue || c.Server != primary {
			continue
		}
		before := members
		members = c.Members
		if c.By == "" {
			clear(open)
			continue
		}
		for _, m := range before {
			was := open[m]
			switch {
			case was == nil || slices.Contains(members, m):
			case was.client == c.By:
				was.left = checker.Pos(c.Step)
				done = append(done, *was)
				delete(open, m)
			case isAway(away[was.client], was.since, c.At):
				delete(open, m)
			}
		}
		for _, m := range members {
			if !slices.Contains(before, m) && open[m] == nil {
				open[m] = &place{client: c.By, joined: checker.Pos(c.Step), since: c.At}
			}
		}
	}
	for _, still := range open {
		done = append(done, *still)
	}
	slices.SortFunc(done, func(a, b place) int { return int(a.joined - b.joined) })
	return done
}

// isAway reports whether one of the absences lies within a time.
func isAway(absences []checker.Absence, from, to time.Duration) bool {
	return slices.ContainsFunc(absences, func(a checker.Absence) bool { return a.From <= to && a.To >= from })
}

// struckOf reports whether a fault of a class struck.
func (p *play) struckOf(class promise.Fault) bool {
	for i, f := range p.sc.Faults {
		if p.schedule.fired[i] && faults.ClassIn(p.sc.Faults, f.Action) == class {
			return true
		}
	}
	return false
}

// addPlaces adds to each request the place that it joined.
func addPlaces(h *checker.History, places []place) {
	for i := range h.Grants {
		g := &h.Grants[i]
		for _, p := range places {
			if p.client == g.Client && g.Invoked < p.joined && p.joined <= g.Granted {
				g.Enqueued = p.joined
			}
		}
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		for _, p := range places {
			if p.client == a.Client && a.Invoked < p.joined && (a.Returned == 0 || p.joined <= a.Returned) {
				a.Enqueued, a.Left = p.joined, p.left
			}
		}
	}
}
