package play

import (
	"maps"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/sim/trace"
)

// watchedKeys are the keys of which the nodes keep a record.
func (p *play) watchedKeys() []string {
	if p.lock.Keys == nil {
		return nil
	}
	keys := slices.Clone(p.lock.Keys(resource))
	if p.lock.queue != nil {
		keys = append(keys, p.lock.queue(resource))
	}
	return keys
}

// record is what the nodes know of who had the lock: the ground truth that no
// client can see. A lock without Keys has none.
type record struct {
	key     string            // of the lock
	nodes   int               // how many nodes the lock asks
	writers map[string]string // who has set a value, by the value
	holders map[string]string // who has the lock by a node's record, by the node
	primary string            // the node that stands for the first of them
	held    map[string]checker.Pos

	deletions []checker.Deletion
	holdings  []checker.Holding
}

// record follows the lock's key on every node up to the end of the workload.
func (p *play) record(t *trace.Trace) *record {
	r := &record{nodes: p.lock.Nodes(), writers: map[string]string{}, holders: map[string]string{},
		primary: "r0", held: map[string]checker.Pos{}}
	keys := p.watchedKeys()
	if len(keys) == 0 {
		return r
	}
	r.key = keys[0]
	moves := promotions(t)
	for _, change := range p.world.Ground().KeyChanges() {
		if change.Step > p.overAt {
			break
		}
		for len(moves) > 0 && moves[0].N <= change.Step {
			r.move(moves[0])
			moves = moves[1:]
		}
		if change.Key == r.key {
			r.follow(change)
		}
	}
	for _, e := range moves {
		r.move(e)
	}
	return r
}

// promotions are the failovers of a run, in order.
func promotions(t *trace.Trace) []trace.Event {
	var out []trace.Event
	for _, e := range t.Events {
		if _, ok := e.What.(trace.Promote); ok {
			out = append(out, e)
		}
	}
	return out
}

// move puts another node in the place of the first.
func (r *record) move(e trace.Event) {
	r.primary = e.Peer
	r.count(checker.Pos(e.N))
}

func (r *record) follow(c trace.KeyChange) {
	owner := r.holders[c.Server]
	at := checker.Pos(c.Step)
	switch {
	case c.Change == trace.KeySet:
		r.writers[c.Value] = c.By
		r.holders[c.Server] = c.By
	case c.Value != "": // it came from another node, or from a disk
		r.holders[c.Server] = r.writers[c.Value]
	default:
		if c.Change == trace.KeyDeleted && owner != "" && c.By != "" {
			r.deletions = append(r.deletions, checker.Deletion{At: at, Node: c.Server, Resource: resource, Owner: owner, By: c.By})
		}
		delete(r.holders, c.Server)
	}
	r.count(at)
}

// count opens the span of a client that has a majority of the nodes now, and
// closes those of all others.
func (r *record) count(at checker.Pos) {
	votes := map[string]int{}
	for node, holder := range r.holders {
		if r.stands(node) && holder != "" {
			votes[holder]++
		}
	}
	for _, client := range slices.Sorted(maps.Keys(votes)) {
		if _, open := r.held[client]; !open && votes[client] > r.nodes/2 {
			r.held[client] = at
		}
	}
	for _, client := range slices.Sorted(maps.Keys(r.held)) {
		if votes[client] <= r.nodes/2 {
			r.close(client, at)
		}
	}
}

// stands reports whether a node's record counts: a replica's does once it has
// been promoted, and that of the primary before it no longer.
func (r *record) stands(node string) bool {
	return node == r.primary || !isFamily(node)
}

// isFamily reports whether a server is r0, or one of its replicas.
func isFamily(server string) bool { return strings.HasPrefix(server, "r0") }

func (r *record) close(client string, at checker.Pos) {
	if from := r.held[client]; from < at {
		r.holdings = append(r.holdings, checker.Holding{Client: client, Resource: resource, From: from, To: at})
	}
	delete(r.held, client)
}

// into adds the record to a history.
func (r *record) into(h *checker.History) {
	for _, client := range slices.Sorted(maps.Keys(r.held)) {
		h.Holdings = append(h.Holdings, checker.Holding{Client: client, Resource: resource, From: r.held[client]})
	}
	h.Holdings = append(r.holdings, h.Holdings...)
	h.Deletions = r.deletions
}
