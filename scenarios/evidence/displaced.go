package evidence

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/sim/trace"
)

// Displacement is the place of a client in a queue that a request of another one took out, while the first still
// waited.
type Displacement struct {
	trace.KeyChange
	// Of is the client that had the place.
	Of string
}

// Displaced are the displacements from the queues of the lock or, of a lock that names none, from all lists, sets and
// hashes that are not its own keys, in order, up to the end of the workload. h is the history of the run. The place has
// to be of the wait that goes on, and its client there all the time: one that was away may count as dead.
func (rec *Record) Displaced(h checker.History) (out []Displacement) {
	type member struct{ server, key, name string }
	type entry struct {
		client string
		at     checker.Pos
	}
	of := map[member]entry{}
	for _, c := range rec.Changes {
		if c.Step > rec.Over {
			break
		}
		if !rec.queues(c.Key) || c.Change == trace.KeyProlonged {
			continue
		}
		for _, name := range c.Members {
			if m := (member{c.Server, c.Key, name}); of[m].client == "" {
				of[m] = entry{c.Asked, checker.Pos(c.Step)}
			}
		}
		var gone []string // clients; several members may go at once
		for m, placed := range of {
			if m.server != c.Server || m.key != c.Key || slices.Contains(c.Members, m.name) {
				continue
			}
			delete(of, m)
			another := c.Asked != "" && placed.client != "" && placed.client != c.Asked
			if another && waits(h, placed.client, placed.at, checker.Pos(c.Step)) {
				gone = append(gone, placed.client)
			}
		}
		slices.Sort(gone)
		for _, client := range gone {
			out = append(out, Displacement{KeyChange: c, Of: client})
		}
	}
	return out
}

// queues reports whether a key may be one in which clients queue.
func (rec *Record) queues(key string) bool {
	if len(rec.Queues) > 0 {
		for _, queue := range rec.Queues {
			if queue == key {
				return true
			}
		}
		return false
	}
	for _, of := range rec.Keys {
		if slices.Contains(of, key) {
			return false
		}
	}
	return true
}

// waits reports whether a client asks for the lock from one step to another, and was never away meanwhile.
func waits(h checker.History, client string, from, to checker.Pos) bool {
	asks := slices.ContainsFunc(h.Grants, func(g checker.Grant) bool {
		return g.Client == client && g.Invoked < from && to < g.Granted
	}) || slices.ContainsFunc(h.Attempts, func(a checker.Attempt) bool {
		return a.Client == client && a.Invoked < from && (a.Returned == 0 || to < a.Returned)
	})
	t := h.Timing
	if !asks || t == nil || len(t.At) == 0 {
		return asks
	}
	when := func(p checker.Pos) time.Duration { return t.At[min(int(p), len(t.At))-1] }
	return !slices.ContainsFunc(t.Away[client], func(a checker.Absence) bool {
		return a.From <= when(to) && a.To >= when(from)
	})
}
