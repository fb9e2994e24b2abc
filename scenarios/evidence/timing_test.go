package evidence_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/lock/promise"
	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// A run is calm if it has no fault, and if a message and the work of a section take a quarter of a lease at most; a
// lock over several nodes has time for its requests too. No request ends before its answer but an Acquire.
func TestCalm(t *testing.T) {
	section := func(longest time.Duration) func(r *run) {
		return func(r *run) { r.terms.Section, r.rec.Clients[1].Longest = true, longest }
	}
	for name, c := range map[string]struct {
		text   string
		change func(r *run)
		want   bool
	}{
		"short work": {text: "workload: {hold: 1s}\n", want: true},
		"long work":  {text: "workload: {hold: 1000001us}\n"},
		"short work in parts": {text: "workload: {section: [read: a, work: 500ms, work: 500ms, write: a]}\n",
			want: true},
		"long work in parts":       {text: "workload: {section: [read: a, work: 500ms, work: 501ms, write: a]}\n"},
		"quick messages":           {text: "world: {latency: 1s}\nworkload: {hold: 1s}\n", want: true},
		"slow messages":            {text: "world: {latency: 1ms..1000001us}\nworkload: {hold: 1s}\n"},
		"a fault":                  {text: "workload: {hold: 1s}\nfaults: [{at: 100ms, clock_jump: {clock: c0, by: 1ms}}]\n"},
		"a section within another": {text: "workload: {hold: 100ms, nested: 1}\n"},
		"requests that end":        {text: "workload: {hold: 1s, request: 1h}\n"},
		"extensions that end":      {text: "workload: {hold: 1s, extend: 1, extend_within: 1h}\n"},
		"extensions":               {text: "workload: {hold: 1s, extend: 1}\n", want: true},
		"releases that end":        {text: "workload: {hold: 1s, release_within: 1h}\n"},
		"an Acquire that ends":     {text: "workload: {hold: 1s, acquire_within: 1h}\n", want: true},
		"nodes with time":          {text: "world: {redis: 3, latency: 2500us}\nworkload: {hold: 1s}\n", want: true},
		"nodes without time":       {text: "world: {redis: 3, latency: 2501us}\nworkload: {hold: 1s}\n"},
		"one node of a lock of many": {text: "world: {latency: 2501us}\nworkload: {hold: 1s}\n",
			change: func(r *run) { r.terms.Quorum = true }},
		"one node":                     {text: "world: {latency: 2501us}\nworkload: {hold: 1s}\n", want: true},
		"a short section in Go":        {text: "workload: {hold: 2s}\n", change: section(time.Second), want: true},
		"a section in Go that is long": {text: "workload: {hold: 100ms}\n", change: section(time.Second + 1)},
		"a short term of a leader":     {text: "workload: {kind: leader, hold: 1s}\n", want: true},
		"a long term of a leader": {text: "workload: {kind: leader, hold: 100ms}\n",
			change: func(r *run) { r.rec.Clients[0].Longest = 2 * time.Second }},
	} {
		if got := runOf(t, "lock: {ttl: 4s}\n"+c.text).with(c.change).history().Calm; got != c.want {
			t.Errorf("%s: calm is %v, want %v", name, got, c.want)
		}
	}
}

// Nothing went wrong until the first fault struck, or a client gave up what it had begun in the transaction of its
// lock. Clocks that disagree do so from the start.
func TestUndisturbed(t *testing.T) {
	const twoFaults = "faults: [{at: 3s, pause: {process: c0, for: 1s}}, {at: 2s, evict: {node: r0}}]\n"
	for name, c := range map[string]struct {
		text   string
		change func(r *run)
		want   time.Duration
	}{
		"no fault":   {want: math.MaxInt64},
		"two faults": {text: twoFaults, want: 2 * time.Second},
		"one that struck": {text: twoFaults, change: func(r *run) { r.rec.Faults[1].Fired = false },
			want: 3 * time.Second},
		"a client gave up": {text: twoFaults, change: func(r *run) { r.rec.Clients[1].GaveUp = time.Second },
			want: time.Second},
		"a client gave up later": {text: twoFaults, change: func(r *run) { r.rec.Clients[1].GaveUp = 4 * time.Second },
			want: 2 * time.Second},
		"clocks that disagree": {text: "world: {skew: 1ns}\n", want: 0},
	} {
		if got := runOf(t, c.text).with(c.change).history().Timing.Undisturbed; got != c.want {
			t.Errorf("%s: undisturbed for %v, want %v", name, got, c.want)
		}
	}
}

// The servers are steady if the faults that struck concern only clients and the network, and no server that watches
// others has replaced one.
func TestSteady(t *testing.T) {
	const evicted = "faults: [{at: 1s, evict: {node: r0}}, {at: 1s, pause: {process: c0, for: 1s}}]\n"
	promoted := func(r *run) { r.rec.Timeline.Promotions = []evidence.Promotion{{At: 20, To: "r0a"}} }
	for name, c := range map[string]struct {
		text   string
		change func(r *run)
		want   bool
	}{
		"no fault": {want: true},
		"of the network": {text: "faults: [{at: 1s, partition: {between: [c0]}}, {at: 1s, crash: {process: c0}}]\n",
			want: true},
		"of a server":          {text: evicted},
		"it did not strike":    {text: evicted, change: func(r *run) { r.rec.Faults[0].Fired = false }, want: true},
		"a server crashed":     {text: "faults: [{at: 1s, crash: {process: r0}}]\n"},
		"a server's clock":     {text: "faults: [{at: 1s, clock_jump: {clock: r0, by: 1s}}]\n"},
		"a client's clock":     {text: "faults: [{at: 1s, clock_jump: {clock: c0, by: 1s}}]\n", want: true},
		"a promotion":          {change: promoted, want: true},
		"a promotion, watched": {change: func(r *run) { promoted(r); r.terms.Watched = true }},
		"a promotion, sharded": {change: func(r *run) { promoted(r); r.terms.Sharded = true }},
		"watched":              {change: func(r *run) { r.terms.Watched = true }, want: true},
	} {
		if got := runOf(t, c.text).with(c.change).history().Timing.Steady; got != c.want {
			t.Errorf("%s: steady is %v, want %v", name, got, c.want)
		}
	}
}

// How often a client asks is known of a lock that pauses as the scenario says, or as it says itself, unless something
// else makes the client send requests.
func TestPace(t *testing.T) {
	own := func(pause time.Duration) func(r *run) {
		return func(r *run) { r.terms.FollowsSpec, r.terms.Pause = false, pause }
	}
	const ttl = "lock: {ttl: 12s, backoff: 30ms..40ms}\n"
	scripts := ttl + "faults: [{at: 1s, flush: {node: r0, what: scripts}}]\n"
	pace := func(servers int, pause time.Duration, extends int) *checker.Pace {
		return &checker.Pace{Servers: servers, Pause: pause, Renewal: time.Second, Extends: extends}
	}
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		text   string
		change func(r *run)
		want   *checker.Pace
	}{
		"as the scenario says":     {text: ttl, want: pace(1, 30*ms, 0)},
		"of three":                 {text: ttl + "world: {redis: 3}\n", want: pace(3, 30*ms, 0)},
		"that extends":             {text: ttl + "workload: {extend: 2}\n", want: pace(1, 30*ms, 2)},
		"its own pause":            {text: ttl, change: own(70 * ms), want: pace(1, 70*ms, 0)},
		"none that it says":        {text: ttl, change: own(0)},
		"a pause for the scenario": {text: ttl, change: func(r *run) { r.terms.Pause = 70 * ms }, want: pace(1, 30*ms, 0)},
		"a stock client":           {text: "lock: {ttl: 12s, client: stock}\n"},
		"later releases":           {text: ttl + "workload: {release: later}\n"},
		"retried releases":         {text: ttl + "workload: {release: retried}\n", want: pace(1, 30*ms, 0)},
		"forgotten scripts":        {text: scripts},
		"that were not": {text: scripts, change: func(r *run) { r.rec.Faults[0].Fired = false },
			want: pace(1, 30*ms, 0)},
		"forgotten keys":    {text: ttl + "faults: [{at: 1s, flush: {node: r0}}]\n", want: pace(1, 30*ms, 0)},
		"taken connections": {text: ttl + "faults: [{at: 1s, exhaust_pool: {process: c0, for: 1s}}]\n"},
		"a pause of a client": {text: ttl + "faults: [{at: 1s, pause: {process: c0, for: 1s}}]\n",
			want: pace(1, 30*ms, 0)},
	} {
		if diff := cmp.Diff(c.want, runOf(t, c.text).with(c.change).history().Timing.Pace); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// A call takes a round trip for each two of its messages, twice that and 10 ms; a lock says how many they are, or it
// is eight, and a stock client sends two more. They are prompt if they end within the time limit of a renewal, and of
// a node where several are asked: within 100 ms and 50 ms here.
func TestTripsAndPrompt(t *testing.T) {
	const ms = time.Millisecond
	quorum := func(r *run) { r.terms.Quorum = true }
	for name, c := range map[string]struct {
		latency string
		client  string
		change  func(r *run)
		trips   time.Duration
		prompt  bool
	}{
		"eight messages": {latency: "1ms..2ms", trips: 42 * ms, prompt: true},
		"a stock client": {latency: "2ms", client: ", client: stock", trips: 50 * ms, prompt: true},
		"three messages": {latency: "2ms", change: func(r *run) { r.terms.Messages = 3 }, trips: 22 * ms, prompt: true},
		"just in time":   {latency: "5625us", trips: 100 * ms, prompt: true},
		"late":           {latency: "5626us", trips: 100*ms + 16*time.Microsecond},
		"of a quorum":    {latency: "2500us", change: quorum, trips: 50 * ms, prompt: true},
		"late of one":    {latency: "2501us", change: quorum, trips: 50*ms + 16*time.Microsecond},
	} {
		r := runOf(t, "lock: {ttl: 1200ms"+c.client+"}\nworld: {latency: "+c.latency+"}\n").with(c.change)
		if got := r.history().Timing; got.Trips != c.trips || got.Prompt != c.prompt {
			t.Errorf("%s: trips %v, prompt %v, want %v, %v", name, got.Trips, got.Prompt, c.trips, c.prompt)
		}
	}
}

// A lock that is free may take until a client has it as long as the longest pause between two tries, the messages of a
// grant, the lag of the replicas and what a grant takes besides.
func TestGrace(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		change func(r *run)
		want   time.Duration
	}{
		"eight messages": {want: 200*ms + 8*5*ms + 30*ms},
		"three messages": {change: func(r *run) { r.terms.Messages = 3 }, want: 200*ms + 3*5*ms + 30*ms},
		"learnt keys":    {change: func(r *run) { r.rec.Learnt = true }, want: 200*ms + 16*5*ms + 30*ms},
		"learnt, three messages": {change: func(r *run) { r.rec.Learnt, r.terms.Messages = true, 3 },
			want: 200*ms + 3*5*ms + 30*ms},
		"a grant that takes long": {change: func(r *run) { r.terms.GrantTime = time.Second }, want: 1200*ms + 8*5*ms + 30*ms},
		"an unknown backoff": {change: func(r *run) { r.terms.FollowsSpec = false },
			want: 2*time.Second + 8*5*ms + 30*ms},
		"a cluster": {change: func(r *run) { r.terms.Settles, r.terms.GrantTime = ms, time.Second },
			want: 1200*ms + 40*5*ms + 500*ms},
	} {
		r := runOf(t, "world: {replicas: 1, lag: 10ms..30ms, latency: 1ms..5ms}\nlock: {backoff: "+
			"50ms..200ms}\n").with(c.change)
		if got := r.history().Timing.Grace; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The lock is free after each cause as soon as it promises, or else as soon as after any. It takes no time after a
// release, unless votes may split or its backoff is not known. A client that is alone has it within a quarter of a TTL
// besides, or twice the time of a call, if it is promised at all.
func TestFreeWithin(t *testing.T) {
	const ttl = 10 * time.Second
	drift := promise.TermDrift.Length(ttl, 0)
	short := ttl + drift
	session := promise.TermSession.Length(ttl, 0)
	freeWithin := func(term promise.Term) func(r *run) {
		return func(r *run) { r.terms.Promise.FreeWithin = term }
	}
	after := func(c promise.Cause, term promise.Term) func(r *run) {
		return func(r *run) { r.terms.Promise.FreeAfter = map[promise.Cause]promise.Term{c: term} }
	}
	all := func(crash, expiry, other time.Duration) map[promise.Cause]time.Duration {
		return map[promise.Cause]time.Duration{promise.CauseCrash: crash, promise.CauseLostReply: crash,
			promise.CauseCancelled:     crash,
			promise.CauseFailedRelease: crash, promise.CauseExpiry: expiry, promise.CauseOther: other}
	}
	const never = 1 << 62
	for name, c := range map[string]struct {
		text              string
		change            func(r *run)
		want              map[promise.Cause]time.Duration
		alone, leaderless time.Duration
	}{
		"within a TTL": {want: all(short, short, 0), alone: ttl / 4, leaderless: short},
		"within a session": {change: freeWithin(promise.TermSession), want: all(session, session, 0), alone: ttl / 4,
			leaderless: session},
		"no promise":  {change: freeWithin(""), want: all(short, short, 0), alone: ttl / 4, leaderless: short},
		"at any time": {change: freeWithin(promise.TermAnyTime), want: all(never, never, 0)},
		"soon after a lease": {change: after(promise.CauseExpiry, promise.TermDrift), want: all(short, drift, 0),
			alone: ttl / 4, leaderless: short},
		"soon, and extended": {text: "workload: {extend: 1}\n", change: after(promise.CauseExpiry, promise.TermDrift),
			want: all(short, short, 0), alone: ttl / 4, leaderless: short},
		"late after a release": {change: after(promise.CauseOther, promise.TermDrift), want: all(short, short, drift),
			alone: ttl/4 + drift, leaderless: short},
		"any time after one": {change: after(promise.CauseOther, promise.TermAnyTime), want: all(short, short, never),
			leaderless: short},
		"several voters": {text: "world: {redis: 3}\n", want: all(short, short, short), leaderless: short},
		"an unknown backoff": {change: func(r *run) { r.terms.FollowsSpec = false }, want: all(short, short, short),
			alone: ttl / 4, leaderless: short},
		"a grant that takes long": {change: func(r *run) { r.terms.GrantTime = time.Second }, want: all(short, short, 0),
			alone: ttl/4 + time.Second, leaderless: short},
		"slow messages": {text: "world: {latency: 100ms}\n", want: all(short, short, 0),
			alone: 2 * (1600 + 10) * time.Millisecond, leaderless: short},
		"a cluster": {change: func(r *run) { r.terms.Settles = time.Second }, want: all(short, short, 0),
			alone: ttl/4 + 40*5*time.Millisecond + 500*time.Millisecond, leaderless: short},
	} {
		got := runOf(t, "lock: {ttl: 10s}\n"+c.text).with(c.change).history().Timing
		if diff := cmp.Diff(c.want, got.Within); diff != "" || got.Alone != c.alone || got.Leaderless != c.leaderless {
			t.Errorf("%s: alone %v, leaderless %v, want %v, %v; within (-want +got):\n%s", name, got.Alone, got.Leaderless,
				c.alone, c.leaderless, diff)
		}
	}
}

// What is known of the clients and of the messages: a stock client sends again by itself, messages of one latency
// arrive in order, and a backoff that is not known may grow.
func TestTimingOfMessages(t *testing.T) {
	r := runOf(t, "world: {redis: 2, latency: 1ms}\nlock: {ttl: 7s}\n")
	r.rec.Servers[1].Role = trace.RoleWatcher
	r.rec.Timeline.Messages = []evidence.Message{
		{At: 1, Client: "c0", Peer: "r0"}, {At: 2, Client: "c1", Peer: "r0"},
		{At: 3, Client: "c0", Peer: "r0", Received: true},
		{At: 4, Client: "c0", Peer: "s0"}, {At: 5, Client: "c0", Peer: "r1"}, {At: 6, Client: "c0", Peer: "r0"},
	}
	got := r.history().Timing
	if want := map[string][]time.Duration{"c0": {tenth(1), tenth(6)}, "c1": {tenth(2)}}; cmp.Diff(want, got.Sends) != "" {
		t.Errorf("sends %v, want %v", got.Sends, want)
	}
	if want := map[string][]time.Duration{"c0": {tenth(3)}}; cmp.Diff(want, got.Heard) != "" {
		t.Errorf("heard %v, want %v", got.Heard, want)
	}
	if got.Resends || !got.InOrder || got.Growing || got.Lease != 7*time.Second ||
		!slices.Equal(got.At, r.rec.Timeline.At) {
		t.Errorf("a quiet client on an even network: %+v", got)
	}
	r = runOf(t, "world: {latency: 1ms..2ms}\nlock: {client: stock}\n")
	r.terms.FollowsSpec = false
	if got := r.history().Timing; !got.Resends || got.InOrder || !got.Growing {
		t.Errorf("a stock client on an uneven network: %+v", got)
	}
}

// A connection may have broken in an absence if something was under way on it, or if the absence lasted a third of a
// TTL; until its client hears from that server again.
func TestUnlinked(t *testing.T) {
	message := func(step int, client, peer string, received bool) evidence.Message {
		return evidence.Message{At: checker.Pos(step), Client: client, Peer: peer, Received: received}
	}
	const never = checker.Pos(0)
	span := func(from time.Duration, to checker.Pos) []checker.Span {
		if to == never {
			return []checker.Span{{From: from, To: math.MaxInt64}}
		}
		return []checker.Span{{From: from, To: tenth(int(to))}}
	}
	pause := func(length string) string {
		return "lock: {ttl: 3s}\nworld: {redis: 2, latency: 1ms}\nfaults: [{at: 2s, pause: {process: c0, for: " + length +
			"}}]\n"
	}
	short, long := 2*time.Second+time.Millisecond, 3*time.Second
	for name, c := range map[string]struct {
		text     string
		messages []evidence.Message
		want     []checker.Span
	}{
		"it had sent before": {pause("1ms"), []evidence.Message{message(20, "c0", "r0", false),
			message(40, "c0", "r0", true)}, span(short, 40)},
		"it had heard before": {pause("1ms"), []evidence.Message{message(20, "c0", "r0", true),
			message(40, "c0", "r0", true)}, span(short, 40)},
		"it hears nothing more": {pause("1ms"), []evidence.Message{message(20, "c0", "r0", false),
			message(40, "c0", "r0", false)}, span(short, never)},
		"another server answers": {pause("1ms"), []evidence.Message{message(20, "c0", "r0", false),
			message(25, "c0", "r1", true)}, span(short, never)},
		"nothing was under way": {pause("1ms"), []evidence.Message{message(10, "c0", "r0", false),
			message(11, "c0", "r0", true), message(40, "c0", "r0", true)}, nil},
		"another client": {pause("1ms"), []evidence.Message{message(20, "c1", "r0", false),
			message(40, "c1", "r0", true)}, nil},
		"it was away for long": {pause("1s"), []evidence.Message{message(10, "c0", "r0", true),
			message(40, "c0", "r0", true)}, span(long, 40)},
		"it had no connection": {pause("1s"), []evidence.Message{message(31, "c0", "r0", false),
			message(40, "c0", "r0", true)}, nil},
		"a crash, which ends connections": {"lock: {ttl: 3s}\nfaults: [{at: 2s, crash: {process: c0}}, {at: 3s, restart: " +
			"{process: c0}}]\n",
			[]evidence.Message{message(20, "c0", "r0", false), message(40, "c0", "r0", true)}, nil},
	} {
		r := runOf(t, c.text)
		r.rec.Timeline.Messages = c.messages
		if diff := cmp.Diff(c.want, r.history().Timing.Unlinked["c0"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The faults that have struck concern a minority of the nodes, or the links to them, until one strikes another part, or
// half of the nodes. Each node is struck once.
func TestMajority(t *testing.T) {
	const cut = "{at: 2s, partition: {between: [c0], and: [r1]}}"
	struck := func(node string, step int) checker.Struck { return checker.Struck{Node: node, At: tenth(step)} }
	r1 := []checker.Struck{struck("r1", 20)}
	for name, c := range map[string]struct {
		world, faults string
		change        func(r *run)
		until         time.Duration
		struck        []checker.Struck
	}{
		"no fault":          {until: math.MaxInt64},
		"one node of three": {faults: cut, until: math.MaxInt64, struck: r1},
		"cut off from all":  {faults: "{at: 2s, partition: {between: [r1]}}", until: math.MaxInt64, struck: r1},
		"crashed":           {faults: "{at: 2s, crash: {process: r1}}", until: math.MaxInt64, struck: r1},
		"stalled":           {faults: "{at: 2s, stall: {node: r1, for: 1s}}", until: math.MaxInt64, struck: r1},
		"refusing":          {faults: "{at: 2s, refuse: {node: r1, for: 1s}}", until: math.MaxInt64, struck: r1},
		"slow": {faults: "{at: 2s, latency: {between: [c0], and: [r1], add: 1s, for: 1s}}",
			until: math.MaxInt64, struck: r1},
		"struck twice": {faults: cut + ", {at: 3s, reset: {between: [c0], and: [r1]}}", until: math.MaxInt64,
			struck: r1},
		"read-only": {faults: "{at: 2s, read_only: {node: r1, for: 1s}}", until: 2 * time.Second},
		"emptied":   {faults: "{at: 2s, flush: {node: r1}}", until: 2 * time.Second},
		"two nodes, one after another": {faults: cut + ", {at: 3s, crash: {process: r2}}", until: 3 * time.Second,
			struck: append(r1, struck("r2", 30))},
		"two nodes of five": {world: "redis: 5", faults: cut + ", {at: 3s, crash: {process: r2}}",
			until: math.MaxInt64, struck: append(r1, struck("r2", 30))},
		"two nodes of four": {world: "redis: 4", faults: cut + ", {at: 3s, crash: {process: r2}}",
			until: 3 * time.Second, struck: append(r1, struck("r2", 30))},
		"in the order of the instants": {world: "redis: 5", faults: "{at: 3s, crash: {process: r2}}, " + cut,
			until: math.MaxInt64, struck: append(r1, struck("r2", 30))},
		"two nodes at once": {faults: "{at: 2s, partition: {between: [c0], and: [r1, r2]}}",
			until: 2 * time.Second, struck: append(r1, struck("r2", 20))},
		"a client": {faults: "{at: 1s, pause: {process: c0, for: 1ms}}, " + cut, until: time.Second},
		"a client, later": {faults: cut + ", {at: 3s, pause: {process: c0, for: 1ms}}", until: 3 * time.Second,
			struck: r1},
		"a client from all": {faults: "{at: 2s, partition: {between: [c0]}}", until: 2 * time.Second},
		"the store":         {faults: "{at: 1s, stall: {node: s0, for: 1s}}, " + cut, until: time.Second},
		"what did not strike": {faults: "{at: 1s, pause: {process: c0, for: 1ms}}, " + cut,
			change: func(r *run) { r.rec.Faults[0].Fired = false },
			until:  math.MaxInt64, struck: r1},
		"clocks that disagree": {world: "redis: 3, skew: 1ns", faults: cut},
		"two nodes":            {world: "redis: 2", faults: cut},
	} {
		if c.world == "" {
			c.world = "redis: 3"
		}
		got := runOf(t, "world: {"+c.world+"}\nfaults: ["+c.faults+"]\n").with(c.change).history().Timing
		if got.Majority != c.until || !slices.Equal(got.Struck, c.struck) {
			t.Errorf("%s: until %v, struck %v, want %v, %v", name, got.Majority, got.Struck, c.until, c.struck)
		}
	}
}
