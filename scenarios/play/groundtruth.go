package play

import (
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"locksim/checker"
	"locksim/sim/trace"
)

// watch lets the world record the changes of the lock's keys. That its keys were learnt changes nothing in a trace.
func (p *play) watch() {
	if p.lock.Keys == nil {
		return
	}
	var keys []string
	for _, resource := range p.resources() {
		keys = append(keys, p.lock.Keys(resource)...)
		if p.lock.Queue != nil {
			keys = append(keys, p.lock.Queue(resource))
		}
	}
	switch ground := p.world.Ground(); {
	case len(keys) == 0:
	case p.lock.learns():
		ground.WatchUnseen(keys...)
	default:
		ground.WatchKeys(keys...)
	}
}

// keyChanges are the changes of the lock's keys, without those of a queue.
func (p *play) keyChanges() []trace.KeyChange {
	if p.lock.Keys == nil {
		return nil
	}
	keys := map[string]bool{}
	for _, resource := range p.resources() {
		for _, key := range p.lock.Keys(resource) {
			keys[key] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(p.world.Ground().KeyChanges()), func(c trace.KeyChange) bool { return !keys[c.Key] })
}

// keyOn is a key on a node.
type keyOn struct{ key, node string }

// groundTruth is who held the lock by the nodes' keys, which no client can see. It
// is empty for a lock whose keys are not known. Of keys that a lock names the first is
// followed; of keys that were learnt none says more than another, and a client
// holds the lock on a node that has all of them from it.
type groundTruth struct {
	resource string
	keys     []string          // of the lock
	nodes    int               // the number of nodes of the lock
	writers  map[string]string // the client that set a value, by the key and the value
	holders  map[keyOn]string  // the client from which a node has a key
	primary  string            // the current primary of the first node
	held     map[string]checker.Pos

	deletions []checker.Deletion
	holdings  []checker.Holding
	votes     []checker.Vote
	last      map[string]int // how many nodes have the keys of a client
}

// groundTruth follows the key of a resource on every node up to the end of the workload.
func (p *play) groundTruth(t *trace.Trace, resource string) *groundTruth {
	g := &groundTruth{resource: resource, nodes: p.lock.voters(), writers: map[string]string{}, holders: map[keyOn]string{},
		primary: "r0", held: map[string]checker.Pos{}, last: map[string]int{}}
	if p.lock.Keys == nil {
		return g
	}
	if g.keys = p.lock.Keys(resource); !p.lock.learns() && len(g.keys) > 1 {
		g.keys = g.keys[:1]
	}
	moves := promotions(t)
	for _, change := range p.world.Ground().KeyChanges() {
		if change.Step > p.overAt {
			break
		}
		for len(moves) > 0 && moves[0].N <= change.Step {
			g.move(moves[0])
			moves = moves[1:]
		}
		if slices.Contains(g.keys, change.Key) {
			g.follow(change)
		}
	}
	for _, e := range moves {
		g.move(e)
	}
	for _, client := range slices.Sorted(maps.Keys(g.held)) { // to the end
		g.holdings = append(g.holdings, checker.Holding{Client: client, Resource: g.resource, From: g.held[client]})
	}
	g.askedAgain(t, p.overAt)
	return g
}

// sent is a request that a node carried out.
type sent struct {
	at   checker.Pos
	kind string // see [trace.Kinded]
}

// askedAgain finds in each holding the first step at which a node carried out a request of its client that is of the kind
// of the one that took the lock.
func (g *groundTruth) askedAgain(t *trace.Trace, over int) {
	type request struct{ conn, kind string }
	all, waits := map[string][]sent{}, map[request]bool{}
	for _, e := range t.Events {
		x, ok := e.What.(trace.Exec)
		if !ok || e.N > over {
			continue
		}
		r := request{x.Conn, trace.KindOf(x.Request)}
		answered := waits[r]
		if waits[r] = x.Answer == nil; !answered {
			all[e.Peer] = append(all[e.Peer], sent{checker.Pos(e.N), r.kind})
		}
	}
	for i := range g.holdings {
		s := &g.holdings[i]
		of := all[s.Client]
		next := sort.Search(len(of), func(k int) bool { return of[k].at > s.From })
		if next == 0 || of[next-1].kind == "" {
			continue
		}
		again := slices.IndexFunc(of[next:], func(r sent) bool { return r.kind == of[next-1].kind })
		if again >= 0 && (s.To == 0 || of[next+again].at < s.To) {
			s.Again = of[next+again].at
		}
	}
}

// learntMany reports whether several keys of a resource were learnt: the lock may not need all of them.
func (p *play) learntMany() bool {
	return p.lock.learns() && slices.ContainsFunc(p.resources(), func(resource string) bool { return len(p.lock.Keys(resource)) > 1 })
}

// learntSessions reports whether the keys that were learnt end with sessions, on a server that lists nothing else.
func (p *play) learntSessions() bool {
	return p.lock.learns() && slices.ContainsFunc(p.world.Ground().Servers(), func(s ServerState) bool { return !s.Listed })
}

// promotion is a replica that is made the primary.
type promotion struct {
	N  int // the number of the event
	At time.Duration
	to string
}

// promotions are the failovers of a run, in order: those of the scenario, and those of Sentinels.
func promotions(t *trace.Trace) []promotion {
	var out []promotion
	for _, e := range t.Events {
		switch what := e.What.(type) {
		case trace.Promote:
			out = append(out, promotion{e.N, e.At, e.Peer})
		case trace.ReplicaOf:
			if what.Primary == "" {
				out = append(out, promotion{e.N, e.At, e.Actor})
			}
		}
	}
	return out
}

// move makes a promoted node the primary.
func (g *groundTruth) move(e promotion) {
	g.primary = e.to
	g.recount(checker.Pos(e.N), e.At)
}

func (g *groundTruth) follow(c trace.KeyChange) {
	on, value := keyOn{c.Key, c.Server}, c.Key+"="+c.Value
	owner := g.holders[on]
	at := checker.Pos(c.Step)
	switch {
	case c.Change == trace.KeySet:
		g.writers[value] = c.By
		g.holders[on] = c.By
	case c.Value != "": // it came from another node, or from a disk
		g.holders[on] = g.writers[value]
	default:
		if c.Change == trace.KeyDeleted && owner != "" && c.By != "" {
			g.deletions = append(g.deletions, checker.Deletion{At: at, Node: c.Server, Resource: g.resource, Owner: owner, By: c.By})
		}
		delete(g.holders, on)
	}
	g.recount(at, c.At)
}

// recount opens a holding of a client that has a majority of the nodes now, and
// closes those of all others.
func (g *groundTruth) recount(at checker.Pos, instant time.Duration) {
	votes := map[string]int{}
	for on, holder := range g.holders {
		if on.key == g.keys[0] && g.hasVote(on.node) && holder != "" && g.hasAll(on.node, holder) {
			votes[holder]++
		}
	}
	g.vote(votes, at)
	for _, client := range slices.Sorted(maps.Keys(votes)) {
		if _, open := g.held[client]; !open && votes[client] > g.nodes/2 {
			g.held[client] = at
		}
	}
	for _, client := range slices.Sorted(maps.Keys(g.held)) {
		if votes[client] <= g.nodes/2 {
			g.close(client, at, instant)
		}
	}
}

// vote notes the numbers of nodes that have changed, where there are several.
func (g *groundTruth) vote(votes map[string]int, at checker.Pos) {
	if g.nodes < 2 {
		return
	}
	for client := range votes {
		if _, known := g.last[client]; !known {
			g.last[client] = 0
		}
	}
	for _, client := range slices.Sorted(maps.Keys(g.last)) {
		if g.last[client] == votes[client] {
			continue
		}
		g.last[client] = votes[client]
		g.votes = slices.DeleteFunc(g.votes, func(v checker.Vote) bool { return v.At == at && v.Client == client }) // it lasted for no time
		g.votes = append(g.votes, checker.Vote{Client: client, Resource: g.resource, At: at, Nodes: votes[client]})
	}
}

// hasAll reports whether a node has all keys from a client.
func (g *groundTruth) hasAll(node, client string) bool {
	return !slices.ContainsFunc(g.keys, func(key string) bool { return g.holders[keyOn{key, node}] != client })
}

// hasVote reports whether a node counts: a replica does once it has been promoted,
// and the former primary no longer does.
func (g *groundTruth) hasVote(node string) bool {
	return node == g.primary || !isFamily(node)
}

// isFamily reports whether a server is r0, or one of its replicas.
func isFamily(server string) bool { return strings.HasPrefix(server, "r0") }

func (g *groundTruth) close(client string, at checker.Pos, instant time.Duration) {
	if from := g.held[client]; from < at {
		g.holdings = append(g.holdings, checker.Holding{Client: client, Resource: g.resource, From: from, To: at, Ended: instant})
	}
	delete(g.held, client)
}

// into adds the holdings and deletions to a history.
func (g *groundTruth) into(h *checker.History) {
	h.Holdings = append(h.Holdings, g.holdings...)
	h.Deletions = append(h.Deletions, g.deletions...)
	h.Votes = append(h.Votes, g.votes...)
}
