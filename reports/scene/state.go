package scene

import (
	"maps"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

// StateAfter is the state of the world after a step. The history of the run has the
// claims, the beliefs and the content of the store. inspect adds the keys of the
// servers, the bytes under way and the time left of each lease, unless it is nil or
// fails.
func (s *Scene) StateAfter(step int, inspect func(fence.Mode, int) (*outcome.State, error)) *outcome.State {
	state := s.stateFromHistory(step)
	if inspect == nil {
		return state
	}
	seen, err := inspect(s.Run.Mode, step)
	if err != nil || seen == nil {
		return state
	}
	state.Nodes, state.Flights, state.Highest = seen.Nodes, seen.Flights, seen.Highest
	for i := range state.Clients {
		c := &state.Clients[i]
		at := slices.IndexFunc(seen.Clients, func(o outcome.ClientState) bool {
			return o.Name == c.Name &&
				o.Token == c.Token
		})
		if at >= 0 {
			c.Left = seen.Clients[at].Left
		}
	}
	return state
}

// stateFromHistory is the state after a step by the history alone.
func (s *Scene) stateFromHistory(step int) *outcome.State {
	p := checker.Pos(step)
	state := &outcome.State{Step: step, At: s.At(p), Store: s.stored(p)}
	for _, c := range s.Clients {
		if c != trace.Probe {
			state.Clients = append(state.Clients, s.client(c, p))
		}
	}
	return state
}

func (s *Scene) client(name string, p checker.Pos) outcome.ClientState {
	c := outcome.ClientState{Name: name, Condition: s.condition(name, p)}
	for _, g := range byGranted(s.Run.History) {
		if g.Client != name || g.Granted > p {
			continue
		}
		c.Token = g.Token
		c.Holds = g.Claim().Contains(p)
		c.Believes = g.Belief(s.Run.History.Care).Contains(p)
	}
	return c
}

// condition is the condition of a client after a step: running, paused or crashed.
func (s *Scene) condition(name string, p checker.Pos) string {
	condition := "running"
	for _, e := range s.Run.Trace.Events[:min(int(p), len(s.Run.Trace.Events))] {
		if e.Actor != trace.World || e.Peer != name {
			continue
		}
		switch e.What.(type) {
		case trace.Pause, trace.Suspend:
			condition = "paused"
		case trace.Crash:
			condition = "crashed"
		case trace.Resume, trace.Wake, trace.Restart:
			condition = "running"
		}
	}
	return condition
}

// stored are the registers after a step, as "resource/register=operation".
func (s *Scene) stored(p checker.Pos) []string {
	last := map[string]checker.Op{}
	for _, op := range s.Run.History.Ops {
		cell := checker.Cell{Resource: op.Resource, Register: op.Register}.String()
		if op.Kind == checker.Write && op.Accepted && op.Applied > 0 && op.Applied <= p && op.Applied > last[cell].Applied {
			last[cell] = op
		}
	}
	var out []string
	for _, cell := range slices.Sorted(maps.Keys(last)) {
		out = append(out, cell+"="+last[cell].ID)
	}
	return out
}

// ValueText is the value of a key for a reader. The value of a lock is the random id of
// its owner: the beginning is enough, and the name of the client that sent it is added.
func (s *Scene) ValueText(value string) string {
	const long = 16
	if len(value) < long {
		return prose.Visible(value)
	}
	owner, known := s.owners[value]
	if !known {
		owner = s.sender(value)
		s.owners[value] = owner
	}
	short := prose.Visible(string([]rune(value)[:8])) + "…"
	if owner == "" {
		return short
	}
	return owner + "’s " + short
}

// sender is the client that first sent a value to a node.
func (s *Scene) sender(value string) string {
	for _, e := range s.Run.Trace.Events {
		if m, ok := e.What.(trace.Exec); ok &&
			slices.ContainsFunc(trace.WordsOf(m.Request), func(w string) bool { return strings.Contains(w, value) }) {
			return e.Peer
		}
	}
	return ""
}

// Holder is the client that has the lock after a step by the nodes' own record, or "".
func (s *Scene) Holder(p checker.Pos) string {
	var names []string
	for _, h := range s.Run.History.Holdings {
		if h.Span().Contains(p) {
			names = append(names, h.Client)
		}
	}
	return strings.Join(names, ", ")
}

// TTLText is the time that a key has left, in words.
func TTLText(ttl time.Duration) string {
	if ttl == 0 {
		return "for ever"
	}
	return prose.Seconds(ttl)
}
