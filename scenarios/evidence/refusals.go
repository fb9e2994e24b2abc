package evidence

import (
	"slices"

	"locksim/checker"
	"locksim/sim/trace"
)

// Refusal is a request of a client by which locks renew their leases, that found nothing to renew.
type Refusal struct {
	// At is when the server carried it out, Told when its client received the answer.
	At     checker.Pos `json:"n"`
	Told   checker.Pos `json:"told"`
	Client string      `json:"client"`
	Server string      `json:"server"`
}

// RefusalsOf reads from a trace the requests of clients that found nothing to renew. Those by which a lock renews its
// lease are of a kind that has prolonged a key of the client that asked, and has set none, by the changes of the keys.
func RefusalsOf(t *trace.Trace, clients []string, changes []trace.KeyChange) []Refusal {
	kinds := map[string]bool{}
	for _, c := range changes {
		if c.Change == trace.KeyProlonged && c.Request != "" && c.Asked == c.By {
			kinds[c.Request] = true
		}
	}
	for _, c := range changes {
		if c.Change == trace.KeySet {
			delete(kinds, c.Request)
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	var out []Refusal
	for i := range t.Events {
		e := &t.Events[i]
		x, ok := e.What.(trace.Exec)
		if !ok || !foundNothing(x.Answer) || !slices.Contains(clients, e.Peer) || !kinds[trace.KindOf(x.Request)] {
			continue
		}
		told := slices.IndexFunc(t.Events[i:], func(later trace.Event) bool {
			r, ok := later.What.(trace.Receive)
			return ok && later.Actor == e.Peer && later.Peer == e.Actor && r.Conn == x.Conn
		})
		if told > 0 {
			out = append(out, Refusal{At: checker.Pos(e.N), Told: checker.Pos(t.Events[i+told].N), Client: e.Peer,
				Server: e.Actor})
		}
	}
	return out
}

// foundNothing reports whether an answer says that a request has found nothing, and is no error.
func foundNothing(c trace.Content) bool {
	a, ok := c.(trace.Answer)
	f, fails := c.(trace.Failing)
	return ok && fails && a.Negative() && !f.Failed()
}

// known is when the lock received the first answer to a renewal that had found its key gone; 0 if that is not known. It
// is of a lock with one key on one server.
func (r reading) known(g checker.Grant) checker.Pos {
	if len(r.Timeline.Refusals) == 0 || len(r.Timeline.Promotions) > 0 || r.byQuorum() || r.learntMany() ||
		r.entry() == checker.EntryReentrant ||
		len(r.Keys[string(g.Resource)]) == 0 || len(r.sc.Workload.Resources) > 1 {
		return 0
	}
	key, had := r.Keys[string(g.Resource)][0], false
	for _, c := range r.Changes {
		step := checker.Pos(c.Step)
		if c.Key != key || c.Change == trace.KeyReplicated || c.Change == trace.KeyProlonged {
			continue
		}
		if step <= g.Granted {
			had = c.Change == trace.KeySet && c.By == g.Client && step > g.Invoked
			continue
		}
		if !had {
			return 0
		}
		for _, f := range r.Timeline.Refusals {
			if f.Client == g.Client && f.Server == c.Server && f.At > step {
				return f.Told
			}
		}
		return 0
	}
	return 0
}
