package evidence

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

// queueing is the queue of a lock, by the server's record.
type queueing struct {
	resource checker.Resource
	places   []place
	takes    map[string][]checker.Pos // by the client: the steps at which it took the lock
}

// followQueue follows the queue of a resource on its primary. A waiter keeps its place until
// its own request gives it up. If the request of another client takes it out, it has lost
// its place only if it was away, and may have been silent for too long, or if the
// server's clock has jumped. A waiter that was there all the time keeps the place that it
// had.
func (r reading) followQueue(resource string, away map[string][]checker.Absence) queueing {
	q := queueing{resource: checker.Resource(resource), takes: map[string][]checker.Pos{}}
	queue, ordered := r.Queues[resource]
	if !ordered || len(r.Keys[resource]) == 0 || r.struckOf(promise.NodeClock) {
		return q
	}
	key, leads := r.Keys[resource][0], r.firstPrimaries()
	open := map[string]*place{} // by the member
	var members []string
	moves := r.Timeline.Promotions
	for _, c := range r.Changes {
		for len(moves) > 0 && moves[0].At <= checker.Pos(c.Step) {
			leads[r.family(moves[0].To)], moves = moves[0].To, moves[1:]
			clear(open) // the replica may not have the places
		}
		at := checker.Pos(c.Step)
		switch {
		case c.Change == trace.KeyProlonged:
			continue
		case r.family(c.Server) != "" && leads[r.family(c.Server)] != c.Server:
			continue
		case c.Key == key && c.Change == trace.KeySet:
			q.takes[c.By] = append(q.takes[c.By], at)
		}
		if c.Key != queue {
			continue
		}
		before := members
		members = c.Members
		for _, m := range before {
			was := open[m]
			switch {
			case was == nil || slices.Contains(members, m):
			case c.By == "": // the server has deleted it
				delete(open, m)
			case was.client == c.By:
				was.left = at
				q.places = append(q.places, *was)
				delete(open, m)
			case isAway(away[was.client], was.since, c.At):
				delete(open, m)
			}
		}
		for _, m := range members {
			if c.By != "" && !slices.Contains(before, m) && open[m] == nil {
				open[m] = &place{client: c.By, joined: at, since: c.At}
			}
		}
	}
	for _, still := range open {
		q.places = append(q.places, *still)
	}
	slices.SortFunc(q.places, func(a, b place) int { return int(a.joined - b.joined) })
	return q
}

// isAway reports whether one of the absences lies within a time.
func isAway(absences []checker.Absence, from, to time.Duration) bool {
	return slices.ContainsFunc(absences, func(a checker.Absence) bool { return a.From <= to && a.To >= from })
}

// struckOf reports whether a fault of a class struck.
func (r reading) struckOf(class promise.Fault) bool {
	for i, f := range r.sc.Faults {
		if r.Faults[i].Fired && faults.ClassIn(r.sc.Faults, f.Action) == class {
			return true
		}
	}
	return false
}

// into adds to each request the place that it joined. The request that is granted the lock gives up its place in the
// same step, or keeps it while it has the lock. A request may have several places, also that of a late request of an
// earlier one, which ends in the same step if its time is over: then its own is not known.
func (q queueing) into(h *checker.History) {
	for i := range h.Grants {
		g := &h.Grants[i]
		if g.Resource != q.resource {
			continue
		}
		var took checker.Pos
		for _, at := range q.takes[g.Client] {
			if g.Invoked < at && at <= g.Granted {
				took = at
			}
		}
		own := func(p place) bool {
			return took > 0 && p.client == g.Client && g.Invoked < p.joined && p.joined <= took
		}
		p, ok := q.only(func(p place) bool { return own(p) && p.left == took })
		if !ok {
			p, ok = q.only(func(p place) bool { return own(p) && (p.left == 0 || p.left > took) })
		}
		if ok {
			g.Enqueued = p.joined
		}
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		if a.Resource != q.resource {
			continue
		}
		if p, ok := q.only(func(p place) bool {
			return p.client == a.Client && a.Invoked < p.joined && (a.Returned == 0 || p.joined <= a.Returned)
		}); ok {
			a.Enqueued, a.Left = p.joined, p.left
		}
	}
}

// only returns the place for which its holds, if it holds for exactly one.
func (q queueing) only(its func(place) bool) (place, bool) {
	i := slices.IndexFunc(q.places, its)
	if i < 0 || slices.ContainsFunc(q.places[i+1:], its) {
		return place{}, false
	}
	return q.places[i], true
}
