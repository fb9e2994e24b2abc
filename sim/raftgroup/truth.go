package raftgroup

import (
	"slices"

	"locksim/sim"
	"locksim/sim/trace"
)

// Head is the value of a watched key, who has created it, and its lease or session.
type Head struct {
	Value, By string
	Lease     int64
}

// Truth is what the world knows of the watched keys of a cluster, on which all members agree. The zero value has none.
type Truth struct {
	watched []string
	heads   map[string]Head
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

// Tell adds to the ground truth of a node what has changed of the keys in an event, by the request of a client, or without
// one. head is the present value of a key.
func (t *Truth) Tell(node *sim.Node, step int, by string, head func(name string) Head) {
	for _, name := range t.watched {
		now, before := head(name), t.heads[name]
		if now == before {
			continue
		}
		if t.heads == nil {
			t.heads = map[string]Head{}
		}
		t.heads[name] = now
		if before.Value != "" && (now.Value == "" || now.By != by) { // it went, and the next one came to the head
			change := trace.KeyDeleted
			if by == "" {
				change = trace.KeyExpired
			}
			node.KeyChanged(trace.KeyChange{Step: step, Key: name, By: by, Change: change})
		}
		if now.Value != "" {
			node.KeyChanged(trace.KeyChange{Step: step, Key: name, Value: now.Value, By: now.By, Change: trace.KeySet})
		}
	}
}
