package reports

import (
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/sim/trace"
)

// mark is something that happens at one moment on one lane.
type mark struct {
	stretch
	Kind string
	Says string
	Y    int
}

// marks are what the store decided, what the nodes let expire, and what clients
// learned about their leases.
func (d *drawing) marks() []mark {
	stale := d.staleOps()
	var out []mark
	for _, e := range d.run.Trace.Events {
		l := d.lanes[e.Actor]
		if l == nil || d.hidden(e) {
			continue
		}
		kind, says := markOf(e, stale)
		if kind == "" {
			continue
		}
		m := mark{Kind: kind, Says: fmt.Sprintf("%s %s, at %s", e.Actor, says, prose.Seconds(e.At)), Y: l.middle()}
		m.stretch = d.scale.place(stretch{N: e.N, T0: e.At, T1: e.At, Lane: e.Actor})
		if l.Kind == laneClient {
			m.Y = l.middle() + 12
		}
		out = append(out, m)
	}
	return out
}

// markOf is how an event is marked; most are not.
func markOf(e trace.Event, stale map[checker.Pos]bool) (kind, says string) {
	switch m := e.What.(type) {
	case trace.Decision:
		return storeMark(m, stale[checker.Pos(e.N)])
	case trace.Expire:
		return "expire", "lets " + m.Key + " expire"
	case trace.Apply:
		return "apply", "hears from its primary: " + e.Text()
	case trace.Mark:
		switch m.Step {
		case trace.Until:
			return "until", "is past the end of its lease, by its own clock"
		case trace.LostSeen:
			return "lost", "learns that it has lost the lock"
		}
	}
	return "", ""
}

func storeMark(d trace.Decision, stale bool) (kind, says string) {
	what := strings.ToLower(d.Verb()) + " " + d.Op
	switch {
	case d.Refused != "":
		return "refused", "refuses the " + what
	case !d.Write:
		return "read", "answers the " + what
	case stale:
		return "stale", "takes the stale " + what
	}
	return "taken", "takes the " + what
}

// staleOps are the steps at which the store decided about an operation although
// a later grant existed by then.
func (d *drawing) staleOps() map[checker.Pos]bool {
	h := d.run.History
	next := successors(h)
	stale := map[checker.Pos]bool{}
	for _, op := range h.Ops {
		if later := next[op.Grant]; later > 0 && later < op.Applied {
			stale[op.Applied] = true
		}
	}
	return stale
}

// successors are, for each grant, where the next one came that makes it stale.
func successors(h checker.History) map[int]checker.Pos {
	grants := byGranted(h)
	next := map[int]checker.Pos{}
	for i, a := range grants {
		for _, b := range grants[i+1:] {
			if rivals(h, a, b) {
				next[a.ID] = b.Granted
				break
			}
		}
	}
	return next
}
