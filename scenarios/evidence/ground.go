package evidence

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/sim/trace"
)

// keyOn is a key on a node.
type keyOn struct{ key, node string }

// groundTruth is who held the lock by the nodes' keys, which no client can see. It
// is empty for a lock whose keys are not known. Of keys that a lock names the first is
// followed; of keys that were learnt none says more than another, and a client
// holds the lock on a node that has all of them from it.
type groundTruth struct {
	resource checker.Resource
	changes  []trace.KeyChange // of all keys
	keys     []string          // of the lock
	nodes    int               // the number of nodes of the lock
	writers  map[string]string // the client that set a value, by the key and the value
	holders  map[keyOn]string  // the client from which a node has a key
	leads    map[string]string // the current primary of each family
	family   func(node string) string
	held     map[string]checker.Pos

	deletions []checker.Deletion
	holdings  []checker.Holding
	votes     []checker.Vote
	takings   []checker.Taking
	written   map[keyOn]time.Duration // when a request last wrote a key or prolonged it
	lasts     time.Duration           // how long a lease lasts that its server does not end; 0 if that is not known
	trusted   time.Duration           // the takings are known up to this instant
	last      map[string]int          // how many nodes have the keys of a client
	counted   map[string]int          // the same, while it is counted anew
}

// groundTruth follows the key of a resource on every node up to the end of the workload.
func (r reading) groundTruth(resource string) *groundTruth {
	g := &groundTruth{written: map[keyOn]time.Duration{}, lasts: r.terms.LeaseTTL, trusted: r.trusted(),
		resource: checker.Resource(resource),
		changes:  r.Changes, nodes: r.terms.Voters, writers: map[string]string{}, holders: map[keyOn]string{},
		leads: r.firstPrimaries(), family: r.family, held: map[string]checker.Pos{}, last: map[string]int{},
		counted: map[string]int{}}
	if r.Keys == nil {
		return g
	}
	if g.keys = r.Keys[resource]; !r.Learnt && len(g.keys) > 1 {
		g.keys = g.keys[:1]
	}
	moves := r.Timeline.Promotions
	for _, change := range r.Changes {
		if change.Step > r.Over {
			break
		}
		for len(moves) > 0 && moves[0].At <= checker.Pos(change.Step) {
			g.move(moves[0], r.Timeline.when(moves[0].At))
			moves = moves[1:]
		}
		if slices.Contains(g.keys, change.Key) {
			g.follow(change)
		}
	}
	for _, p := range moves {
		g.move(p, r.Timeline.when(p.At))
	}
	for _, client := range slices.Sorted(maps.Keys(g.held)) { // to the end
		g.holdings = append(g.holdings, checker.Holding{Client: client, Resource: g.resource, From: g.held[client]})
	}
	r.askedAgain(g.holdings)
	g.takings = slices.DeleteFunc(g.takings, r.releases)
	return g
}

// releases reports whether a taking is that of a Release that was under way then: the client had called it, perhaps
// for an earlier grant.
func (r reading) releases(t checker.Taking) bool {
	return t.By == t.Client && slices.ContainsFunc(r.Clients, func(c Client) bool {
		return c.Name == t.Client && slices.ContainsFunc(c.Grants, func(g Grant) bool {
			return g.Resource == t.Resource && slices.ContainsFunc(g.Calls, func(call checker.Call) bool {
				return call.What == "Release" && call.Called <= t.Taken && t.Taken <= call.Returned
			})
		})
	})
}

// trusted is how long the record says by which request a holder lost the lock: until a server has lost keys, or
// another one has taken its place. It says nothing of a lock that a client enters again, or of which several keys
// were learnt.
func (r reading) trusted() time.Duration {
	if r.entry() == checker.EntryReentrant || r.learntMany() || r.Live {
		return 0
	}
	first := time.Duration(math.MaxInt64)
	for i, f := range r.sc.Faults {
		if r.Faults[i].Fired && !faults.ClassIn(r.sc.Faults, f.Action).Steady() {
			first = min(first, r.Faults[i].Struck)
		}
	}
	for _, p := range r.Timeline.Promotions {
		first = min(first, r.Timeline.when(p.At))
	}
	return first
}

// firstPrimaries are the primaries when the run begins, by their families.
func (r reading) firstPrimaries() map[string]string {
	all := map[string]string{}
	for _, s := range r.Servers {
		if s.Role == trace.RolePrimary {
			all[s.Family] = s.Name
		}
	}
	return all
}

// family is that of a server; "" for one without replicas.
func (r reading) family(server string) string {
	s, _ := r.Servers.Find(server)
	return s.Family
}

// askedAgain finds in each holding the first step at which a node carried out a request of its client that is of the
// kind of the one that took the lock.
func (r reading) askedAgain(holdings []checker.Holding) {
	if len(holdings) == 0 {
		return
	}
	type asking struct{ conn, kind string }
	all, waits := map[string][]Request{}, map[asking]bool{}
	for _, q := range r.Timeline.Requests {
		if q.At > checker.Pos(r.Over) {
			break
		}
		a := asking{q.Conn, q.Kind}
		answered := waits[a]
		if waits[a] = q.Waits; !answered {
			all[q.Client] = append(all[q.Client], q)
		}
	}
	for i := range holdings {
		s := &holdings[i]
		of := all[s.Client]
		next := sort.Search(len(of), func(k int) bool { return of[k].At > s.From })
		if next == 0 || of[next-1].Kind == "" {
			continue
		}
		again := slices.IndexFunc(of[next:], func(q Request) bool { return q.Kind == of[next-1].Kind })
		if again >= 0 && (s.To == 0 || of[next+again].At < s.To) {
			s.Again = of[next+again].At
		}
	}
}

// learntMany reports whether several keys of a resource were learnt: the lock may not need all of them.
func (r reading) learntMany() bool {
	return r.Learnt &&
		slices.ContainsFunc(r.sc.Workload.Resources, func(resource string) bool { return len(r.Keys[resource]) > 1 })
}

// learntSessions reports whether the keys that were learnt end with sessions, on a server that lists nothing else.
func (r reading) learntSessions() bool {
	return r.Learnt && slices.ContainsFunc(r.Ended, func(s ServerState) bool { return !s.Listed })
}

// move makes a promoted node the primary of its family.
func (g *groundTruth) move(p Promotion, at time.Duration) {
	g.leads[g.family(p.To)] = p.To
	g.recount(p.At, at)
}

func (g *groundTruth) follow(c trace.KeyChange) {
	on, value := keyOn{c.Key, c.Server}, c.Key+"="+c.Value
	owner := g.holders[on]
	at := checker.Pos(c.Step)
	written := g.written[on]
	if c.Change == trace.KeySet || c.Change == trace.KeyProlonged && c.Asked != "" {
		g.written[on] = c.At
	}
	switch {
	case c.Change == trace.KeyProlonged:
		return
	case c.Change == trace.KeySet:
		g.writers[value] = c.By
		g.holders[on] = c.By
	case c.Value != "": // it came from another node, or from a disk
		g.holders[on] = g.writers[value]
	default:
		if c.Change == trace.KeyDeleted && owner != "" && c.By != "" {
			g.deletions = append(g.deletions, checker.Deletion{At: at, Node: c.Server, Resource: g.resource, Owner: owner,
				By:   c.By,
				Over: Overwrites(g.changes, c)})
		}
		delete(g.holders, on)
	}
	before := len(g.holdings)
	g.recount(at, c.At)
	if len(g.holdings) > before {
		g.take(c, owner, written)
	}
}

// Overwrites reports whether the request that ended a value of a key, by one of these changes, put another in its
// place: some kinds of server tell that as a deletion and a setting of one step.
func Overwrites(changes []trace.KeyChange, c trace.KeyChange) bool {
	first, _ := slices.BinarySearchFunc(changes, c.Step,
		func(d trace.KeyChange, step int) int { return cmp.Compare(d.Step, step) })
	ended := false
	for _, d := range changes[first:] {
		if d.Step != c.Step {
			break
		}
		ended = ended || d.Change == c.Change && d.Server == c.Server && d.Key == c.Key
		if ended && d.Change == trace.KeySet && d.Server == c.Server && d.Key == c.Key && d.Asked == c.Asked {
			return true
		}
	}
	return c.Over
}

// take notes a request that has just ended the holding of an owner, if it took the lock. Of a list, a set or a hash
// it is not known which part of it is the lock.
func (g *groundTruth) take(c trace.KeyChange, owner string, written time.Duration) {
	taken := c.Change == trace.KeySet && c.By != "" || c.Change == trace.KeyDeleted
	own := c.Asked == owner
	if owner == "" || c.Asked == "" || !taken || c.Members != nil || c.At >= g.trusted || own &&
		(c.Session || c.Change == trace.KeySet) {
		return
	}
	t := checker.Taking{Client: owner, Resource: g.resource, By: c.Asked, At: checker.Pos(c.Step), Taken: c.At}
	switch left := c.Left; {
	case left.End == trace.EndTimed:
		t.Until = c.At + left.Time
	case left.End == trace.EndSession && !own:
	case g.lasts > 0 && left.End != trace.EndNone:
		t.Until = written + g.lasts
	default:
		return
	}
	if t.Until == 0 || t.Until > c.At {
		g.takings = append(g.takings, t)
	}
}

// recount opens a holding of a client that has a majority of the nodes now, and
// closes those of all others.
func (g *groundTruth) recount(at checker.Pos, instant time.Duration) {
	votes := g.counted
	clear(votes)
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
		now, _ := slices.BinarySearchFunc(g.votes, at,
			func(v checker.Vote, at checker.Pos) int { return cmp.Compare(v.At, at) })
		lasted := slices.DeleteFunc(g.votes[now:], func(v checker.Vote) bool { return v.Client == client }) // for no time
		g.votes = append(g.votes[:now+len(lasted)], checker.Vote{Client: client, Resource: g.resource, At: at,
			Nodes: votes[client]})
	}
}

// hasAll reports whether a node has all keys from a client.
func (g *groundTruth) hasAll(node, client string) bool {
	return !slices.ContainsFunc(g.keys, func(key string) bool { return g.holders[keyOn{key, node}] != client })
}

// hasVote reports whether a node counts: a replica does once it has been promoted,
// and the former primary no longer does.
func (g *groundTruth) hasVote(node string) bool {
	family := g.family(node)
	return family == "" || g.leads[family] == node
}

func (g *groundTruth) close(client string, at checker.Pos, instant time.Duration) {
	if from := g.held[client]; from < at {
		g.holdings = append(g.holdings, checker.Holding{Client: client, Resource: g.resource, From: from, To: at,
			Ended: instant})
	}
	delete(g.held, client)
}

// into adds the holdings and deletions to a history.
func (g *groundTruth) into(h *checker.History) {
	h.Holdings = append(h.Holdings, g.holdings...)
	h.Deletions = append(h.Deletions, g.deletions...)
	h.Votes = append(h.Votes, g.votes...)
	h.Takings = append(h.Takings, g.takings...)
}

// KeyChanges are the changes of the lock's keys, without those of a queue. It is nil for a lock whose keys are not
// known.
func (rec *Record) KeyChanges() []trace.KeyChange {
	if rec.Keys == nil {
		return nil
	}
	keys := map[string]bool{}
	for _, of := range rec.Keys {
		for _, key := range of {
			keys[key] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(rec.Changes), func(c trace.KeyChange) bool { return !keys[c.Key] })
}

// OfLock are the changes of the lock's keys, as [Record.KeyChanges] or, where those are not known, of all keys that the
// servers watch and that are no queue, such as the rows of a table of leases.
func (rec *Record) OfLock() []trace.KeyChange {
	if named := rec.KeyChanges(); len(named) > 0 {
		return named
	}
	queues := map[string]bool{}
	for _, key := range rec.Queues {
		queues[key] = true
	}
	return slices.DeleteFunc(slices.Clone(rec.Changes), func(c trace.KeyChange) bool { return queues[c.Key] })
}
