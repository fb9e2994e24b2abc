package evidence_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// holding is a span in which a client had the key of order, to a step or, with 0, to the end.
func holding(client string, from, to checker.Pos) checker.Holding {
	h := checker.Holding{Client: client, Resource: "order", From: from, To: to}
	if to > 0 {
		h.Ended = tenth(int(to))
	}
	return h
}

// deletion is a removal of the key of a client on r0 by another's request, or its own.
func deletion(at checker.Pos, owner, by string) checker.Deletion {
	return checker.Deletion{At: at, Node: "r0", Resource: "order", Owner: owner, By: by}
}

// A client holds the lock while a majority of the nodes has the key from it: from the step at which its request set it
// to that at which it is removed, or to the end. A replica counts once it has been promoted, and has the key from
// whoever set its value.
func TestHoldings(t *testing.T) {
	replicated := func(step int, server, value string) trace.KeyChange {
		c := sets(step, server, "", value)
		c.Change = trace.KeyReplicated
		return c
	}
	as := func(change trace.Change, c trace.KeyChange) trace.KeyChange { c.Change = change; return c }
	family := func(r *run) {
		r.rec.Servers = trace.Servers{{Name: "r0", Family: "r0", Role: trace.RolePrimary},
			{Name: "r0a", Family: "r0", Role: trace.RoleReplica}}
	}
	promoted := func(step int) func(r *run) {
		return func(r *run) {
			family(r)
			r.rec.Timeline.Promotions = []evidence.Promotion{{At: checker.Pos(step), To: "r0a"}}
		}
	}
	second := func(c trace.KeyChange) trace.KeyChange { c.Key = "lock:order:2"; return c }
	twoKeys := func(learnt bool) func(r *run) {
		return func(r *run) { r.rec.Learnt, r.rec.Keys["order"] = learnt, []string{"lock:order", "lock:order:2"} }
	}
	other := sets(5, "r0", "c1", "w")
	other.Key = "other"
	type changes = []trace.KeyChange
	for name, c := range map[string]struct {
		world     string
		changes   changes
		change    func(r *run)
		holdings  []checker.Holding
		deletions []checker.Deletion
	}{
		"set and removed": {changes: changes{sets(3, "r0", "c0", "v"), removes(8, "r0", "c0")},
			holdings: []checker.Holding{holding("c0", 3, 8)}, deletions: []checker.Deletion{deletion(8, "c0", "c0")}},
		"removed by another": {changes: changes{sets(3, "r0", "c0", "v"), removes(8, "r0", "c1")},
			holdings: []checker.Holding{holding("c0", 3, 8)}, deletions: []checker.Deletion{deletion(8, "c0", "c1")}},
		"its time was over": {changes: changes{sets(3, "r0", "c0", "v"), removes(8, "r0", "")},
			holdings: []checker.Holding{holding("c0", 3, 8)}},
		"flushed by a request": {changes: changes{sets(3, "r0", "c0", "v"), as(trace.KeyFlushed, removes(8, "r0", "c1"))},
			holdings: []checker.Holding{holding("c0", 3, 8)}},
		"to the end": {changes: changes{sets(3, "r0", "c0", "v")},
			holdings: []checker.Holding{holding("c0", 3, 0)}},
		"set over": {changes: changes{sets(3, "r0", "c0", "v"), sets(8, "r0", "c1", "w")},
			holdings: []checker.Holding{holding("c0", 3, 8), holding("c1", 8, 0)}},
		"removed and set in one step": {changes: changes{sets(3, "r0", "c0", "v"), removes(8, "r0", "c0"),
			sets(8, "r0", "c0", "w")},
			holdings:  []checker.Holding{holding("c0", 3, 8), holding("c0", 8, 0)},
			deletions: []checker.Deletion{{At: 8, Node: "r0", Resource: "order", Owner: "c0", By: "c0", Over: true}}},
		"set and removed in one step": {changes: changes{sets(3, "r0", "c0", "v"), removes(3, "r0", "c0")},
			deletions: []checker.Deletion{deletion(3, "c0", "c0")}},
		"prolonged": {changes: changes{sets(3, "r0", "c0", "v"),
			as(trace.KeyProlonged, sets(5, "r0", "c1", "v"))}, holdings: []checker.Holding{holding("c0", 3, 0)}},
		"another key": {changes: changes{sets(3, "r0", "c0", "v"), other},
			holdings: []checker.Holding{holding("c0", 3, 0)}},
		"after the work": {changes: changes{sets(3, "r0", "c0", "v"), sets(91, "r0", "c1", "w")},
			holdings: []checker.Holding{holding("c0", 3, 0)}},
		"at the end of the work": {changes: changes{sets(90, "r0", "c0", "v")},
			holdings: []checker.Holding{holding("c0", 90, 0)}},
		"from a disk, of unknown origin": {changes: changes{as(trace.KeyRestored, sets(3, "r0", "", "v"))}},
		"from a disk": {changes: changes{sets(3, "r0", "c0", "v"), removes(5, "r0", ""),
			as(trace.KeyRestored, sets(8, "r0", "", "v"))},
			holdings: []checker.Holding{holding("c0", 3, 5), holding("c0", 8, 0)}},
		"removed without an owner": {changes: changes{removes(8, "r0", "c1")}},
		"keys that are not known": {changes: changes{sets(3, "r0", "c0", "v")},
			change: func(r *run) { r.rec.Keys = nil }},
		"two of three nodes": {world: "redis: 3",
			changes:  changes{sets(3, "r0", "c0", "v"), sets(5, "r1", "c0", "v"), removes(8, "r1", "")},
			holdings: []checker.Holding{holding("c0", 5, 8)}},
		"one of three nodes": {world: "redis: 3", changes: changes{sets(3, "r0", "c0", "v"), sets(5, "r1", "c1", "w")}},
		"two of four nodes":  {world: "redis: 4", changes: changes{sets(3, "r0", "c0", "v"), sets(5, "r1", "c0", "v")}},
		"a replica": {changes: changes{sets(3, "r0", "c0", "v"), replicated(5, "r0a", "v"), removes(8, "r0", "")},
			change: family, holdings: []checker.Holding{holding("c0", 3, 8)}},
		"a replica, promoted": {changes: changes{sets(3, "r0", "c0", "v"), replicated(5, "r0a", "v")}, change: promoted(7),
			holdings: []checker.Holding{holding("c0", 3, 0)}},
		"promoted without it": {changes: changes{sets(3, "r0", "c0", "v"), replicated(8, "r0a", "v")}, change: promoted(7),
			holdings: []checker.Holding{holding("c0", 3, 7), holding("c0", 8, 0)}},
		"promoted at that step": {changes: changes{sets(3, "r0", "c0", "v"), replicated(7, "r0a", "v")}, change: promoted(7),
			holdings: []checker.Holding{holding("c0", 3, 7), holding("c0", 7, 0)}},
		"promoted at the end": {changes: changes{sets(3, "r0", "c0", "v")}, change: promoted(70),
			holdings: []checker.Holding{holding("c0", 3, 70)}},
		"the former primary": {changes: changes{sets(3, "r0", "c0", "v"), sets(8, "r0", "c1", "w")}, change: promoted(7),
			holdings: []checker.Holding{holding("c0", 3, 7)}},
		"of two keys, named the first": {changes: changes{sets(3, "r0", "c0", "v"), second(sets(5, "r0", "c1", "v"))},
			change:   twoKeys(false),
			holdings: []checker.Holding{holding("c0", 3, 0)}},
		"of two keys, learnt both": {changes: changes{sets(3, "r0", "c0", "v"), second(sets(5, "r0", "c0", "v")),
			second(sets(8, "r0", "c1", "w"))}, change: twoKeys(true),
			holdings: []checker.Holding{holding("c0", 5, 8)}},
	} {
		if c.world == "" {
			c.world = "redis: 1"
		}
		r := runOf(t, "world: {"+c.world+"}\n")
		r.rec.Changes = c.changes
		h := r.with(c.change).history()
		if diff := cmp.Diff(c.holdings, h.Holdings); diff != "" {
			t.Errorf("%s: holdings (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.deletions, h.Deletions); diff != "" {
			t.Errorf("%s: deletions (-want +got):\n%s", name, diff)
		}
	}
}

// Each resource has its own keys.
func TestHoldingsOfResources(t *testing.T) {
	r := runOf(t, "workload: {resources: [order, stock]}\n")
	stock := sets(5, "r0", "c1", "w")
	stock.Key = "lock:stock"
	r.rec.Changes = []trace.KeyChange{sets(3, "r0", "c0", "v"), stock}
	want := []checker.Holding{holding("c0", 3, 0), {Client: "c1", Resource: "stock", From: 5}}
	if diff := cmp.Diff(want, r.history().Holdings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Of several nodes it is known how many have the key from a client, and when that changes; what lasts for no time is
// left out.
func TestVotes(t *testing.T) {
	vote := func(client string, at checker.Pos, nodes int) checker.Vote {
		return checker.Vote{Client: client, Resource: "order", At: at, Nodes: nodes}
	}
	changes := []trace.KeyChange{
		sets(3, "r0", "c0", "v"), sets(3, "r1", "c0", "v"), sets(5, "r2", "c1", "w"), removes(8, "r0", ""),
		sets(8, "r0", "c1", "w"), removes(9, "r1", ""),
		removes(9, "r2", ""),
	}
	for world, want := range map[string][]checker.Vote{
		"redis: 3": {vote("c0", 3, 2), vote("c1", 5, 1), vote("c0", 8, 1), vote("c1", 8, 2), vote("c0", 9, 0),
			vote("c1", 9, 1)},
		"redis: 2": {vote("c0", 3, 2), vote("c1", 5, 1), vote("c0", 8, 1), vote("c1", 8, 2), vote("c0", 9, 0),
			vote("c1", 9, 1)},
		"redis: 1": nil,
	} {
		r := runOf(t, "world: {"+world+"}\n")
		r.rec.Changes = changes
		h := r.history()
		if diff := cmp.Diff(want, h.Votes); diff != "" || h.Voters != len(r.rec.Servers) {
			t.Errorf("%s: %d voters, (-want +got):\n%s", world, h.Voters, diff)
		}
	}
}

// In a holding it is known when its client asked again, of the requests that it made before the end of the work.
func TestHoldingsAskedAgain(t *testing.T) {
	r := runOf(t, "")
	r.rec.Changes = []trace.KeyChange{sets(3, "r0", "c0", "v")}
	ask := func(at checker.Pos) evidence.Request { return evidence.Request{At: at, Client: "c0", Kind: "set"} }
	for name, c := range map[string]struct {
		requests []evidence.Request
		want     checker.Pos
	}{
		"soon":            {[]evidence.Request{ask(3), ask(5)}, 5},
		"at the end":      {[]evidence.Request{ask(3), ask(90)}, 90},
		"after the end":   {[]evidence.Request{ask(3), ask(91)}, 0},
		"never":           {nil, 0},
		"not seen before": {[]evidence.Request{ask(5)}, 0},
	} {
		r.rec.Timeline.Requests = c.requests
		if got := r.history().Holdings[0].Again; got != c.want {
			t.Errorf("%s: asked again at step %d, want %d", name, got, c.want)
		}
	}
}

// A holding that a request ends, of another client or of its own process, was taken, with the time that its key had
// left: by the server's clock or, where no server ends it, since its holder last wrote it. Nothing is known after
// trouble of a server.
func TestTakings(t *testing.T) {
	asked := func(by string, left trace.TimeLeft, c trace.KeyChange) trace.KeyChange {
		c.Asked, c.Left = by, left
		return c
	}
	timed, session := trace.TimeLeft{End: trace.EndTimed, Time: 2 * time.Second}, trace.TimeLeft{End: trace.EndSession}
	for8s := func(r *run) { r.terms.LeaseTTL = 8 * time.Second }
	prolonged := func(by string) trace.KeyChange {
		c := asked(by, timed, sets(5, "r0", by, "v"))
		c.Change = trace.KeyProlonged
		return c
	}
	ofSession := func(c trace.KeyChange) trace.KeyChange { c.Session = true; return c }
	restored := sets(8, "r0", "c1", "w")
	restored.Change = trace.KeyRestored
	set := sets(8, "r0", "c1", "w")
	set.Members = []string{"c1"}
	taken := func(by string, until time.Duration) []checker.Taking {
		return []checker.Taking{{Client: "c0", Resource: "order", By: by, At: 8, Taken: tenth(8), Until: until}}
	}
	fault := func(at string) string {
		return "faults: [{at: 9s, evict: {node: r0}}, {at: " + at + ", evict: {node: r0}}]\n"
	}
	type changes = []trace.KeyChange // after c0 has set the key at step 3
	for name, c := range map[string]struct {
		text    string
		changes changes
		change  func(r *run)
		want    []checker.Taking
	}{
		"overwritten": {changes: changes{asked("c1", timed, sets(8, "r0", "c1", "w"))},
			want: taken("c1", tenth(28))},
		"deleted": {changes: changes{asked("c1", timed, removes(8, "r0", "c1"))},
			want: taken("c1", tenth(28))},
		"deleted by itself": {changes: changes{asked("c0", timed, removes(8, "r0", "c0"))},
			want: taken("c0", tenth(28))},
		"set anew by itself": {changes: changes{asked("c0", timed, sets(8, "r0", "c1", "w"))}},
		"with its session":   {changes: changes{ofSession(asked("c0", timed, removes(8, "r0", "c0")))}},
		"with another's session": {changes: changes{ofSession(asked("c1", timed, removes(8, "r0", "c1")))},
			want: taken("c1", tenth(28))},
		"expired":           {changes: changes{asked("c1", timed, removes(8, "r0", ""))}},
		"by no request":     {changes: changes{asked("", timed, removes(8, "r0", "c1"))}},
		"restored":          {changes: changes{asked("c1", timed, restored)}},
		"set by the server": {changes: changes{asked("c1", timed, sets(8, "r0", "", "w"))}},
		"a set of members":  {changes: changes{asked("c1", timed, set)}},
		"its time was over": {changes: changes{asked("c1", trace.TimeLeft{End: trace.EndTimed},
			removes(8, "r0", "c1"))}},
		"a session that lasts": {changes: changes{asked("c1", session, removes(8, "r0", "c1"))},
			want: taken("c1", 0)},
		"its own session":   {changes: changes{asked("c0", session, removes(8, "r0", "c0"))}},
		"of unknown length": {changes: changes{asked("c1", trace.TimeLeft{}, removes(8, "r0", "c1"))}},
		"since it was written": {changes: changes{asked("c1", trace.TimeLeft{}, removes(8, "r0", "c1"))},
			change: for8s, want: taken("c1", tenth(83))},
		"since it was prolonged": {changes: changes{prolonged("c0"),
			asked("c1", trace.TimeLeft{}, removes(8, "r0", "c1"))}, change: for8s, want: taken("c1", tenth(85))},
		"prolonged by the server": {changes: changes{prolonged(""),
			asked("c1", trace.TimeLeft{}, removes(8, "r0", "c1"))}, change: for8s, want: taken("c1", tenth(83))},
		"no key": {changes: changes{asked("c1", trace.TimeLeft{End: trace.EndNone},
			removes(8, "r0", "c1"))}, change: for8s},
		"a key without an end": {changes: changes{asked("c1", trace.TimeLeft{End: trace.EndNever},
			removes(8, "r0", "c1"))}},
		"without one, of known length": {changes: changes{asked("c1", trace.TimeLeft{End: trace.EndNever},
			removes(8, "r0", "c1"))}, change: for8s, want: taken("c1", tenth(83))},
		"timed, and a known length": {changes: changes{asked("c1", timed, removes(8, "r0", "c1"))}, change: for8s,
			want: taken("c1", tenth(28))},
		"after trouble of a server": {text: fault("700ms"), changes: changes{asked("c1", timed, removes(8, "r0", "c1"))}},
		"as a server has trouble":   {text: fault("800ms"), changes: changes{asked("c1", timed, removes(8, "r0", "c1"))}},
		"before trouble of a server": {text: fault("900ms"), changes: changes{asked("c1", timed, removes(8, "r0", "c1"))},
			want: taken("c1", tenth(28))},
		"trouble that did not come": {text: fault("700ms"), changes: changes{asked("c1", timed, removes(8, "r0", "c1"))},
			change: func(r *run) { r.rec.Faults[1].Fired = false },
			want:   taken("c1", tenth(28))},
		"trouble of a client": {text: "faults: [{at: 700ms, pause: {process: c0, for: 1s}}]\n",
			changes: changes{asked("c1", timed, removes(8, "r0", "c1"))},
			want:    taken("c1", tenth(28))},
		"after a promotion": {changes: changes{asked("c1", timed, removes(8, "r0", "c1"))},
			change: func(r *run) { r.rec.Timeline.Promotions = []evidence.Promotion{{At: 7, To: "r1"}} }},
		"before a promotion": {changes: changes{asked("c1", timed, removes(8, "r0", "c1"))},
			change: func(r *run) { r.rec.Timeline.Promotions = []evidence.Promotion{{At: 9, To: "r1"}} },
			want:   taken("c1", tenth(28))},
		"entered again": {text: "workload: {nested: 1}\n", changes: changes{asked("c1", timed, removes(8, "r0", "c1"))}},
		"on real servers": {changes: changes{asked("c1", timed, removes(8, "r0", "c1"))},
			change: func(r *run) { r.rec.Live = true }},
		"of two keys, learnt": {changes: changes{asked("c1", timed, removes(8, "r0", "c1"))}, change: func(r *run) {
			r.rec.Learnt, r.rec.Keys["order"] = true, []string{"lock:order", "lock:order:2"}
			other := sets(2, "r0", "c0", "v")
			other.Key = "lock:order:2"
			r.rec.Changes = append([]trace.KeyChange{other}, r.rec.Changes...)
		}},
		"in a release of an earlier grant": {changes: changes{asked("c0", timed, removes(8, "r0", "c0"))},
			change: func(r *run) {
				r.rec.Clients[0].Grants = append(r.rec.Clients[0].Grants,
					evidence.Grant{Grant: checker.Grant{Client: "c0", Resource: "order", Invoked: 1, Granted: 2},
						Calls: []checker.Call{{Client: "c0", What: "Release", Called: tenth(7), Returned: tenth(9)}}})
			}},
		"after a release of an earlier grant": {changes: changes{asked("c0", timed, removes(8, "r0", "c0"))},
			want: taken("c0", tenth(28)), change: func(r *run) {
				r.rec.Clients[0].Grants = append(r.rec.Clients[0].Grants,
					evidence.Grant{Grant: checker.Grant{Client: "c0", Resource: "order", Invoked: 1, Granted: 2},
						Calls: []checker.Call{{Client: "c0", What: "Release", Called: tenth(5), Returned: tenth(7)}}})
			}},
		"nobody's key": {changes: changes{removes(5, "r0", ""), asked("c1", timed, removes(8, "r0", "c1"))}},
	} {
		r := runOf(t, c.text)
		r.rec.Changes = append([]trace.KeyChange{asked("c0", trace.TimeLeft{}, sets(3, "r0", "c0", "v"))}, c.changes...)
		if diff := cmp.Diff(c.want, r.with(c.change).history().Takings); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// A waiter keeps its place until its own request gives it up. If the request of another client takes it out, it has
// lost its place only if it was away meanwhile, and may have been silent for too long; a server that ends a place ends
// it.
func TestPlacesInTheQueue(t *testing.T) {
	members := func(step int, by string, members ...string) trace.KeyChange {
		return trace.KeyChange{Step: step, At: tenth(step), Server: "r0", Key: "queue:order", By: by, Change: trace.KeySet,
			Members: members}
	}
	on := func(server string, c trace.KeyChange) trace.KeyChange { c.Server = server; return c }
	awayAt := func(step int) func(r *run) {
		return func(r *run) { r.rec.Clients[0].Lapsed = []time.Duration{tenth(step)} }
	}
	family := func(r *run) {
		r.rec.Servers = trace.Servers{{Name: "r0", Family: "r0", Role: trace.RolePrimary},
			{Name: "r0a", Family: "r0", Role: trace.RoleReplica}}
	}
	jump := "faults: [{at: 1s, clock_jump: {clock: r0, by: 1s}}]\n"
	type changes = []trace.KeyChange
	// c0 asks at step 10 and gives up at step 50.
	for name, c := range map[string]struct {
		text         string
		changes      changes
		change       func(r *run)
		joined, left checker.Pos
	}{
		"joined":         {changes: changes{members(15, "c0", "a")}, joined: 15},
		"left by itself": {changes: changes{members(15, "c0", "a"), members(20, "c0")}, joined: 15, left: 20},
		"another joined": {changes: changes{members(15, "c0", "a"), members(20, "c1", "a", "b")}, joined: 15},
		"another left": {changes: changes{members(15, "c0", "a"), members(20, "c1", "a", "b"),
			members(25, "c1", "a")}, joined: 15},
		"taken out by another": {changes: changes{members(15, "c0", "a"), members(20, "c1")}, joined: 15},
		"taken out, and away":  {changes: changes{members(15, "c0", "a"), members(20, "c1")}, change: awayAt(17)},
		"taken out, away before": {changes: changes{members(15, "c0", "a"), members(20, "c1")}, change: awayAt(14),
			joined: 15},
		"taken out, away later": {changes: changes{members(15, "c0", "a"), members(20, "c1")}, change: awayAt(21),
			joined: 15},
		"away from when it joined":  {changes: changes{members(15, "c0", "a"), members(20, "c1")}, change: awayAt(15)},
		"away when it is taken out": {changes: changes{members(15, "c0", "a"), members(20, "c1")}, change: awayAt(20)},
		"ended by the server":       {changes: changes{members(15, "c0", "a"), members(20, "")}},
		"joined again": {changes: changes{members(15, "c0", "a"), members(20, ""), members(25, "c0", "a")},
			joined: 25},
		"put back by another": {changes: changes{members(15, "c0", "a"), members(20, "c1"), members(25, "c1", "a")},
			joined: 15},
		"restored by the server": {changes: changes{members(15, "", "a")}},
		"prolonged": {changes: changes{members(15, "c0", "a"), func() trace.KeyChange {
			c := members(20, "c1")
			c.Change = trace.KeyProlonged
			return c
		}()}, joined: 15},
		"on another server": {text: "world: {redis: 2}\n", changes: changes{on("r1", members(15, "c0", "a"))},
			joined: 15},
		"on a replica": {changes: changes{on("r0a", members(15, "c0", "a"))}, change: family},
		"on a replica, promoted": {changes: changes{on("r0a", members(15, "c0", "a"))},
			change: func(r *run) { family(r); r.rec.Timeline.Promotions = []evidence.Promotion{{At: 12, To: "r0a"}} },
			joined: 15},
		"on the former primary": {changes: changes{members(15, "c0", "a")},
			change: func(r *run) { family(r); r.rec.Timeline.Promotions = []evidence.Promotion{{At: 12, To: "r0a"}} }},
		"lost by a promotion": {changes: changes{members(15, "c0", "a"), on("r0a", members(25, "c1", "b"))},
			change: func(r *run) { family(r); r.rec.Timeline.Promotions = []evidence.Promotion{{At: 20, To: "r0a"}} }},
		"a server's clock jumped": {text: jump, changes: changes{members(15, "c0", "a")}},
		"it did not jump": {text: jump, changes: changes{members(15, "c0", "a")},
			change: func(r *run) { r.rec.Faults[0].Fired = false }, joined: 15},
		"no queue": {changes: changes{members(15, "c0", "a")}, change: func(r *run) { r.rec.Queues = nil }},
		"no key": {changes: changes{members(15, "c0", "a")},
			change: func(r *run) { r.rec.Keys["order"] = nil }},
	} {
		r := runOf(t, c.text)
		r.rec.Queues = map[string]string{"order": "queue:order"}
		r.rec.Changes = c.changes
		r.rec.Clients[0].Attempts = []checker.Attempt{{Client: "c0", Resource: "order", Invoked: 10, Returned: 50,
			Outcome: checker.OutcomeFailed}}
		a := r.with(c.change).history().Attempts[0]
		if a.Enqueued != c.joined || a.Left != c.left {
			t.Errorf("%s: joined at %d and left at %d, want %d and %d", name, a.Enqueued, a.Left, c.joined, c.left)
		}
	}
}

// A grant has the place that its request gave up as it took the lock.
func TestPlaceOfAGrant(t *testing.T) {
	queue := func(step int, by string, members ...string) trace.KeyChange {
		return trace.KeyChange{Step: step, At: tenth(step), Server: "r0", Key: "queue:order", By: by, Change: trace.KeySet,
			Members: members}
	}
	for name, c := range map[string]struct {
		changes []trace.KeyChange
		want    checker.Pos
	}{
		"took the lock": {[]trace.KeyChange{queue(15, "c0", "a"), sets(20, "r0", "c0", "v"), queue(20, "c0")}, 15},
		"never took it": {[]trace.KeyChange{queue(15, "c0", "a"), queue(20, "c0")}, 0},
		"another did":   {[]trace.KeyChange{queue(15, "c0", "a"), sets(20, "r0", "c1", "v"), queue(20, "c0")}, 0},
	} {
		r := runOf(t, "")
		r.rec.Queues = map[string]string{"order": "queue:order"}
		r.rec.Changes = c.changes
		r.granted("c0", evidence.Grant{Grant: checker.Grant{Invoked: 10, Granted: 25}})
		if h := r.history(); h.Queue != checker.QueueFair || h.Grants[0].Enqueued != c.want {
			t.Errorf("%s: %s, joined at %d, want %d", name, h.Queue, h.Grants[0].Enqueued, c.want)
		}
	}
	if h := runOf(t, "").history(); h.Queue != checker.QueueNone {
		t.Errorf("a lock without an order is %s", h.Queue)
	}
}
