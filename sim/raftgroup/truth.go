package raftgroup

import (
	"slices"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
)

// Head is the value of a watched key, who has created it, and what it ends with.
type Head struct {
	Value, By string
	Lease     int64  // its lease or session, by its number
	Session   string // its session, by its name
	Made      int64  // tells it from a key of the same name that was there before it
}

// Truth is what the world knows of the watched keys of a cluster, on which all members agree. The zero value has none.
type Truth struct {
	watched []string
	heads   map[string]Head
}

// Cause is what has changed keys, or the time that they have left.
type Cause struct {
	// Step is the event: see [trace.KeyChange].
	Step int
	// By is the client whose request it was, empty for none, and Request the kind of the request.
	By, Request string
	// operator says that it was an operator who asked, and no client.
	operator bool
	// EndsSession says that the request ends a session or a lease, and its keys with it.
	EndsSession bool
	// Left is the time that a key had left just before. Nil says that no clock ends the keys: one with a session stays as
	// long as that.
	Left func(Head) trace.TimeLeft
}

// CauseBy is a request of a client, "" for none, or of [faults.Operator], who is no client.
func CauseBy(asker string) Cause {
	if asker == faults.Operator {
		return Cause{operator: true}
	}
	return Cause{By: asker}
}

func (c Cause) left(h Head) trace.TimeLeft {
	switch {
	case h.Value == "":
		return trace.TimeLeft{End: trace.EndNone}
	case c.Left == nil && (h.Lease != 0 || h.Session != ""):
		return trace.TimeLeft{End: trace.EndSession}
	case c.Left == nil:
		return trace.TimeLeft{End: trace.EndNever}
	}
	return c.Left(h)
}

// Watch adds keys.
func (t *Truth) Watch(names []string) {
	for _, name := range names {
		if !slices.Contains(t.watched, name) {
			t.watched = append(t.watched, name)
		}
	}
}

// Watched are the names of the keys.
func (t *Truth) Watched() []string { return t.watched }

// Tell adds to the ground truth of a node what has changed of the keys in an event. head is the present value of a key.
func (t *Truth) Tell(node *sim.Node, c Cause, head func(name string) Head) {
	for _, name := range t.watched {
		now, before := head(name), t.heads[name]
		if now.Value == before.Value && now.By == before.By && now.Lease == before.Lease {
			continue
		}
		if t.heads == nil {
			t.heads = map[string]Head{}
		}
		t.heads[name] = now
		change := trace.KeyChange{Step: c.Step, Key: name, Asked: c.By, Request: c.Request, Session: c.EndsSession,
			Left: c.left(before)}
		change.Was, change.WasOf = before.Value, before.By
		change.Over = before.Value != "" && now.Value != "" && now.Value != before.Value && now.Made == before.Made
		if c.operator && (change.Over || now.Value == before.Value) { // the key stays, with what the operator wrote
			change.Value, change.Change = now.Value, trace.KeyOperated
			if now.Value == before.Value {
				change.Change = trace.KeyProlonged
			}
			node.KeyChanged(change)
			continue
		}
		if before.Value != "" && (now.Value == "" || now.By != c.By) { // it went, and the next one came to the head
			gone := change
			gone.By, gone.Change = c.By, trace.KeyDeleted
			switch {
			case c.operator:
				gone.Change = trace.KeyOperated
			case c.By == "":
				gone.Change = trace.KeyExpired
			}
			node.KeyChanged(gone)
		}
		if now.Value != "" {
			change.Value, change.By, change.Change = now.Value, now.By, trace.KeySet
			node.KeyChanged(change)
		}
	}
}

// Prolonged adds to the ground truth of a node that keys which end with a lease or a session have got more time, or
// less.
func (t *Truth) Prolonged(node *sim.Node, c Cause, ends func(Head) bool) {
	for _, name := range t.watched {
		if h := t.heads[name]; h.Value != "" && ends(h) {
			node.KeyChanged(trace.KeyChange{
				Step: c.Step, Key: name, Value: h.Value, By: c.By, Change: trace.KeyProlonged, Asked: c.By, Request: c.Request,
				Left: c.left(h),
			})
		}
	}
}
