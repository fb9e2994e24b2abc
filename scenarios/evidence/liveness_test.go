package evidence_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/lock/promise"
	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// ends is the state of a server that clients ask, and that lists its keys.
func ends(server string, keys ...trace.Key) evidence.ServerState {
	return evidence.ServerState{Server: trace.Server{Name: server}, Asked: true, Listed: true, Keys: keys}
}

// What became of the probe, of calls that had not returned and of clients that ended is in the ending as the driver
// has seen it.
func TestEnding(t *testing.T) {
	r := runOf(t, "world: {redis: 3, clients: 4}\n")
	r.terms.Nodes = 5
	r.rec.Loops, r.rec.Waiting = "c0 loops.",
		[]checker.Waiting{{Client: "c1", Call: "Release", Resource: "a b", For: time.Minute}}
	r.rec.Probe = evidence.Probe{Bound: time.Second, Acquired: true, Problem: "it is taken"}
	r.rec.Clients[1].Crashed, r.rec.Clients[3].Lapsed = true, []time.Duration{tenth(3)}
	want := checker.Ending{Loops: "c0 loops.",
		Waiting: []checker.Waiting{{Client: "c1", Call: "Release", Resource: "a b", For: time.Minute}},
		Nodes:   5, Asked: time.Second, Granted: true, Problem: "it is taken",
		Gone: []string{"c1", "c3"}}
	if diff := cmp.Diff(want, r.history().Ending); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.rec.Learnt = true
	if e := r.history().Ending; !e.Learnt {
		t.Errorf("the keys were learnt: %+v", e)
	}
	if r.rec.Waiting[0].Resource != "a b" {
		t.Error("the record has changed")
	}
}

// Servers are cut off until the world is healed by faults that cut them off and have no end, each once. Another fault
// that lasts as long may explain that clients do not end.
func TestCutOff(t *testing.T) {
	const cut = "{at: 1s, partition: {between: [c0], and: [r2, r1]}}"
	for name, c := range map[string]struct {
		faults string
		change func(r *run)
		cutOff []string
		kept   bool
	}{
		"no fault":          {},
		"two servers":       {faults: cut, cutOff: []string{"r1", "r2"}},
		"it did not strike": {faults: cut, change: func(r *run) { r.rec.Faults[0].Fired = false }},
		"for some time":     {faults: "{at: 1s, partition: {between: [c0], and: [r1], for: 5s}}"},
		"one way":           {faults: "{at: 1s, half_open: {between: [c0], and: [r1]}}", kept: true},
		"one server twice": {faults: cut + ", {at: 1s, partition: {between: [c1], and: [r1]}}",
			cutOff: []string{"r1", "r2"}},
		"a client":       {faults: "{at: 1s, partition: {between: [r1], and: [c0]}}", kept: true},
		"from everybody": {faults: "{at: 1s, partition: {between: [r1]}}", kept: true},
		"slow for ever": {faults: cut + ", {at: 1s, latency: {between: [c0], and: [r0], add: 1s}}",
			cutOff: []string{"r1", "r2"}, kept: true},
		"a server is down":    {faults: cut + ", {at: 1s, crash: {process: r0}}", cutOff: []string{"r1", "r2"}, kept: true},
		"a server is stalled": {faults: cut + ", {at: 1s, stall: {node: r0, for: 1s}}", cutOff: []string{"r1", "r2"}},
		"replies were lost": {faults: cut + ", {at: 1s, lose_reply: {between: [c0], and: [r0]}}",
			cutOff: []string{"r1", "r2"}},
	} {
		e := runOf(t, "world: {redis: 3}\nfaults: ["+c.faults+"]\n").with(c.change).history().Ending
		if !slices.Equal(e.CutOff, c.cutOff) || e.Kept != c.kept {
			t.Errorf("%s: cut off %v, another fault %v, want %v, %v", name, e.CutOff, e.Kept, c.cutOff, c.kept)
		}
	}
}

// The keys of the lock on the servers that clients ask are left, with what set them, also where that came from another
// server.
func TestLeftovers(t *testing.T) {
	order := trace.Key{Name: "lock:order", TTL: time.Second, Value: "v"}
	from := func(value string, c trace.KeyChange) trace.KeyChange {
		c.Value, c.Change = value, trace.KeyReplicated
		return c
	}
	prolonged := func(c trace.KeyChange) trace.KeyChange { c.Change = trace.KeyProlonged; return c }
	stock := sets(9, "r0", "c1", "v")
	stock.Key = "lock:stock"
	left := func(owner string) []checker.Leftover {
		return []checker.Leftover{{Server: "r0", Key: "lock:order", Left: time.Second, Owner: owner}}
	}
	for name, c := range map[string]struct {
		left    []evidence.ServerState
		changes []trace.KeyChange
		probe   []trace.KeyChange // after it began
		want    []checker.Leftover
	}{
		"none":                    {left: []evidence.ServerState{ends("r0")}},
		"another key":             {left: []evidence.ServerState{ends("r0", trace.Key{Name: "other"})}},
		"a key of unknown origin": {left: []evidence.ServerState{ends("r0", order)}, want: left("")},
		"that c1 has set": {left: []evidence.ServerState{ends("r0", order)},
			changes: []trace.KeyChange{sets(9, "r0", "c1", "v")}, want: left("c1")},
		"the last to set it": {left: []evidence.ServerState{ends("r0", order)},
			changes: []trace.KeyChange{sets(8, "r0", "c0", "w"), sets(9, "r0", "c1", "v")}, want: left("c1")},
		"another key of c1": {left: []evidence.ServerState{ends("r0", order)},
			changes: []trace.KeyChange{sets(8, "r0", "c0", "v"), stock}, want: left("c0")},
		"set on another server": {left: []evidence.ServerState{ends("r0", order)},
			changes: []trace.KeyChange{sets(9, "r1", "c1", "v")}, want: left("")},
		"that came from another": {left: []evidence.ServerState{ends("r0", order)},
			changes: []trace.KeyChange{sets(8, "r1", "c1", "v"), from("v", sets(9, "r0", "", ""))}, want: left("c1")},
		"that came, of another one": {left: []evidence.ServerState{ends("r0", order)},
			changes: []trace.KeyChange{sets(7, "r1", "c1", "v"), sets(8, "r1", "c0", "w"), from("v", sets(9, "r0", "", ""))},
			want:    left("c1")},
		"prolonged by another": {left: []evidence.ServerState{ends("r0", order)},
			changes: []trace.KeyChange{sets(8, "r0", "c1", "v"), prolonged(sets(9, "r0", "c0", "v"))}, want: left("c1")},
		"set again by the probe": {left: []evidence.ServerState{ends("r0", order)},
			changes: []trace.KeyChange{sets(8, "r0", "c1", "v")}, probe: []trace.KeyChange{sets(95, "r0", "probe", "v")},
			want: left("c1")},
		"on a server that is a replica": {left: []evidence.ServerState{{Server: trace.Server{Name: "r0"},
			Keys: []trace.Key{order}}}},
		"on two servers": {left: []evidence.ServerState{ends("r0", order), ends("r1", trace.Key{Name: "lock:order"})},
			want: append(left(""), checker.Leftover{Server: "r1", Key: "lock:order"})},
	} {
		r := runOf(t, "world: {redis: 2}\n")
		r.rec.Left, r.rec.Changes, r.rec.ChangesBefore = c.left, append(c.changes, c.probe...), len(c.changes)
		if diff := cmp.Diff(c.want, r.history().Ending.Leftovers); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// A fault which can leave a key behind excuses it where it struck its owner, the server or the link between them, or,
// if the owner is not known, any link.
func TestStruckKey(t *testing.T) {
	const c0r0 = "partition: {between: [c0], and: [r0], for: 1s}"
	for _, c := range []struct {
		fault, owner string
		want         bool
	}{
		{c0r0, "c0", true},
		{c0r0, "c1", false},
		{c0r0, "", true},
		{"partition: {between: [c0], and: [r1], for: 1s}", "c0", false},
		{"partition: {between: [c0], for: 1s}", "c0", true},
		{"partition: {between: [r0], for: 1s}", "c1", true},
		{"partition: {between: [c0, r0], for: 1s}", "c0", false},
		{"reset: {between: [c0], and: [r0]}", "c0", true},
		{"crash: {process: c0}", "c0", true},
		{"crash: {process: c0}", "c1", false},
		{"crash: {process: r1}", "c1", true},
		{"stall: {node: r0, for: 1s}", "c0", true},
		{"stall: {node: s0, for: 1s}", "c0", false},
		{"pause: {process: c0, for: 1s}", "c0", false},
		{"clock_jump: {clock: r0, by: 1s}", "c0", false},
		{"evict: {node: r0}", "c0", false},
	} {
		r := runOf(t, "world: {redis: 2}\nfaults: [{at: 1s, "+c.fault+"}]\n")
		r.rec.Left = []evidence.ServerState{ends("r0", trace.Key{Name: "lock:order", TTL: time.Second})}
		if c.owner != "" {
			r.rec.Changes, r.rec.ChangesBefore = []trace.KeyChange{sets(9, "r0", c.owner, "v")}, 1
		}
		if got := r.history().Ending.Leftovers[0].Struck; got != c.want {
			t.Errorf("%s, owner %q: struck %v, want %v", c.fault, c.owner, got, c.want)
		}
		r.rec.Faults[0].Fired = false
		if r.history().Ending.Leftovers[0].Struck {
			t.Errorf("%s, owner %q: struck by a fault that did not strike", c.fault, c.owner)
		}
	}
}

// The probe asks for as long as the longest key lives, twice as long if the lock may pause for as long as it has
// waited, and for a pause, eight messages and the time to settle. It does not wait for a key that outlives every
// lease.
func TestProbeBound(t *testing.T) {
	const ttl, more = 10 * time.Second, 2*time.Second + 40*time.Millisecond
	drift := promise.TermDrift.Length(ttl, 0)
	key := func(ttl time.Duration) trace.Key { return trace.Key{Name: "other", TTL: ttl} }
	unlisted := func(asked bool) func(r *run) {
		return func(r *run) {
			r.rec.Left[0].Listed, r.rec.Left[0].Asked = false, asked
		}
	}
	for name, c := range map[string]struct {
		keys    []trace.Key
		change  func(r *run)
		want    time.Duration
		lasting string
	}{
		"no key": {want: more},
		"two keys": {keys: []trace.Key{key(time.Second), key(3 * time.Second), key(2 * time.Second)},
			want: 3*time.Second + more},
		"a key without an end": {keys: []trace.Key{key(0)}, want: more},
		"its backoff is unknown": {keys: []trace.Key{key(time.Second)},
			change: func(r *run) { r.terms.FollowsSpec = false }, want: 2*time.Second + more},
		"it pauses for long": {change: func(r *run) { r.terms.Pause = 5 * time.Second }, want: 3*time.Second + more},
		"it backs off for long": {change: func(r *run) { r.sc.Lock.Backoff.Max = 4 * time.Second },
			want: 2*time.Second + more},
		"a cluster":                {change: func(r *run) { r.terms.Settles = time.Second }, want: time.Second + more},
		"keys that are not listed": {change: unlisted(true), want: ttl + drift + more},
		"on a replica":             {change: unlisted(false), want: more},
		"of a long session": {change: func(r *run) { unlisted(true)(r); r.terms.Promise.FreeWithin = promise.TermSession },
			want: promise.TermSession.Length(ttl, 0) + more},
		"free at any time": {change: func(r *run) { unlisted(true)(r); r.terms.Promise.FreeWithin = promise.TermAnyTime },
			want: ttl + more},
		"without a promise": {change: func(r *run) { unlisted(true)(r); r.terms.Promise.FreeWithin = "" },
			want: ttl + more},
		"held for longer than the promise": {
			change: func(r *run) { unlisted(true)(r); r.terms.Lease, r.terms.LeaseTTL = evidence.LeaseHeld, 3*ttl },
			want:   3*ttl + more},
		"learnt, without an end": {keys: []trace.Key{key(0)}, change: func(r *run) { r.rec.Learnt = true },
			want: ttl + drift + more},
		"learnt, with an end": {keys: []trace.Key{key(time.Second)}, change: func(r *run) { r.rec.Learnt = true },
			want: time.Second + more},
		"the longest to wait for": {keys: []trace.Key{key(time.Hour + time.Minute)}, want: time.Hour + time.Minute + more},
		"longer than that": {keys: []trace.Key{key(time.Hour + time.Minute + 1)}, want: time.Minute + more,
			lasting: " The key other on r0 has 1h1m0s to live: is its TTL in the right unit, and a length of time?"},
	} {
		r := runOf(t, "")
		r.rec.Left = []evidence.ServerState{ends("r0", c.keys...)}
		r = r.with(c.change)
		if got := evidence.ProbeBound(r.sc, r.terms, r.rec); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if got := r.history().Ending.Lasting; got != c.lasting {
			t.Errorf("%s: lasting %q, want %q", name, got, c.lasting)
		}
	}
}

// A lock that denies itself to the probe while no server has any key is kept outside the servers, unless something
// else may keep the probe out: an error of another kind, a key that is or was there, a server that is down, or that
// one client alone can have the lock, and has released it.
func TestKeptOutside(t *testing.T) {
	released := evidence.Grant{Grant: checker.Grant{Granted: 5, Released: 8}}
	one := func(r *run) { r.granted("c0", released) }
	two := func(r *run) { one(r); r.granted("c1", released) }
	held := func(r *run) { r.granted("c0", evidence.Grant{Grant: checker.Grant{Granted: 5}}) }
	key := trace.Key{Name: "anything"}
	for name, c := range map[string]struct {
		before, change func(r *run)
		want           bool
	}{
		"of two clients":         {before: two, want: true},
		"of one that has it":     {before: held, want: true},
		"granted after a crash":  {before: func(r *run) { r.rec.Clients[1].Lapsed = []time.Duration{1} }, want: true},
		"of one client alone":    {before: one},
		"never granted":          {before: func(*run) {}},
		"no probe":               {before: two, change: func(r *run) { r.rec.Probe.Bound = 0 }},
		"the probe had it":       {before: two, change: func(r *run) { r.rec.Probe.Acquired = true }},
		"another error":          {before: two, change: func(r *run) { r.rec.Probe.Denied = false }},
		"a key before the probe": {before: two, change: func(r *run) { r.rec.Left[0].Keys = []trace.Key{key} }},
		"a key after the probe":  {before: two, change: func(r *run) { r.rec.Ended[0].Keys = []trace.Key{key} }},
		"a key on a replica": {before: two,
			change: func(r *run) { r.rec.Ended[0].Keys, r.rec.Ended[0].Asked = []trace.Key{key}, false }, want: true},
		"a key that came and went": {before: two,
			change: func(r *run) { r.rec.Changes = []trace.KeyChange{sets(95, "r0", "probe", "v"), removes(96, "r0", "")} }},
		"a key that went before": {before: two, change: func(r *run) {
			r.rec.Changes, r.rec.ChangesBefore = []trace.KeyChange{sets(5, "r0", "c0", "v"), removes(6, "r0", "c0")}, 2
		}, want: true},
		"a server is down":      {before: two, change: func(r *run) { r.rec.Left[0].Down = true }},
		"a server lists no key": {before: two, change: func(r *run) { r.rec.Ended[0].Listed = false }},
	} {
		r := runOf(t, "")
		r.rec.Probe = evidence.Probe{Bound: time.Second, Denied: true}
		r.rec.Left, r.rec.Ended = []evidence.ServerState{ends("r0")}, []evidence.ServerState{ends("r0")}
		if got := evidence.KeptOutside(r.with(c.before).with(c.change).rec); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Several keys that were learnt say less of who has a lock than those that it names.
func TestLearntKeys(t *testing.T) {
	many := func(r *run) { r.rec.Keys["order"] = []string{"lock:order", "lock:order:2"} }
	learnt := func(r *run) { r.rec.Learnt = true }
	ended := func(listed bool) func(r *run) {
		return func(r *run) {
			r.rec.Ended = []evidence.ServerState{{Listed: true}, {Listed: listed}}
		}
	}
	for name, c := range map[string]struct {
		changes        []func(r *run)
		many, sessions bool
	}{
		"one key":                    {},
		"several that it names":      {changes: []func(*run){many, ended(false)}},
		"one that was learnt":        {changes: []func(*run){learnt, ended(true)}},
		"several that were learnt":   {changes: []func(*run){learnt, many}, many: true},
		"learnt, and not all listed": {changes: []func(*run){learnt, ended(false)}, sessions: true},
	} {
		r := runOf(t, "")
		for _, change := range c.changes {
			change(&r)
		}
		if h := r.history(); h.ManyKeys != c.many || h.SessionKeys != c.sessions {
			t.Errorf("%s: many %v, of sessions %v, want %v, %v", name, h.ManyKeys, h.SessionKeys, c.many, c.sessions)
		}
	}
}

// The changes of the lock's keys are those that are known.
func TestKeyChanges(t *testing.T) {
	r := runOf(t, "workload: {resources: [order, stock]}\n")
	other, stock := sets(2, "r0", "c0", "v"), sets(3, "r0", "c0", "v")
	other.Key, stock.Key = "queue:order", "lock:stock"
	r.rec.Changes = []trace.KeyChange{sets(1, "r0", "c0", "v"), other, stock}
	var got []string
	for _, c := range r.rec.KeyChanges() {
		got = append(got, c.Key)
	}
	if text := strings.Join(got, " "); text != "lock:order lock:stock" || len(r.rec.Changes) != 3 ||
		r.rec.Changes[1].Key != "queue:order" {
		t.Errorf("changes of %q, and of the record %v", text, r.rec.Changes)
	}
	if r.rec.Keys = nil; r.rec.KeyChanges() != nil {
		t.Error("there are changes of keys that are not known")
	}
}
