package play_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// timingOf is the timing of a run without faults.
func timingOf(t *testing.T, l subject.Lock, latency, workload string) *checker.Timing {
	t.Helper()
	const name = "name: judged\nlock: {ttl: 10s, backoff: 50ms..200ms}\n"
	return historyOf(t, l, name+"world: {latency: "+latency+"}\nworkload: {"+workload+"}\n").Timing
}

// How long a lock may stay taken after a cause is what it promises for that cause, or else in general, or else a TTL.
// After other causes than those that have a name it is free at once, unless it promises a time, or several nodes may
// split their votes, or its backoff is not known.
func TestFreeWithin(t *testing.T) {
	const drift = 2*10*time.Second*promise.DriftAllowance/1_000_000 + 10*time.Millisecond
	const ttl = 10*time.Second + drift
	terms := map[lock.Term]time.Duration{
		lock.TermTTL: ttl, lock.TermDrift: drift, lock.TermTTLAndCluster: ttl + 3*time.Second,
		lock.TermSession:      ttl + 4*time.Second,
		lock.TermTTLAndWaiter: ttl + 10*time.Second, lock.TermAnyTime: 1 << 62,
	}
	single, redlock, foreign := testruns.Kind(t, "single"), testruns.Kind(t, "redlock"), testruns.Kind(t, "single")
	foreign.FollowsSpec = false
	for _, general := range append(lock.Terms(), "") {
		if general == lock.TermReleaseTimeout || general == lock.TermNodeTimeouts { // those of calls
			continue
		}
		for _, special := range promise.Causes() {
			l := single
			l.Promise = lock.Promise{FreeWithin: general,
				FreeAfter: map[promise.Cause]lock.Term{special: lock.TermTTLAndCluster}}
			for _, c := range promise.Causes() {
				want := terms[general]
				switch {
				case c == special:
					want = terms[lock.TermTTLAndCluster]
				case c == promise.CauseOther:
					want = 0
				case general == "":
					want = ttl
				}
				if got := timingOf(t, l, "1ms..5ms", "hold: 1s").Within[c]; got != want {
					t.Errorf("free within %q, and after %s otherwise: after %s it is %v, want %v", general, special, c, got, want)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		lock     subject.Lock
		workload string
		want     map[promise.Cause]time.Duration
	}{
		"on several nodes": {redlock, "hold: 1s", map[promise.Cause]time.Duration{promise.CauseOther: ttl,
			promise.CauseExpiry: drift}},
		"with an unknown backoff": {foreign, "hold: 1s", map[promise.Cause]time.Duration{promise.CauseOther: ttl,
			promise.CauseExpiry: drift}},
		"on one node": {single, "hold: 1s", map[promise.Cause]time.Duration{promise.CauseOther: 0,
			promise.CauseExpiry: drift}},
		// An extension without an answer may have renewed the key.
		"with extensions": {single, "hold: 1s, extend: 1", map[promise.Cause]time.Duration{promise.CauseOther: 0,
			promise.CauseExpiry: ttl}},
	} {
		within := timingOf(t, c.lock, "1ms..5ms", c.workload).Within
		for cause, want := range c.want {
			if within[cause] != want {
				t.Errorf("%s: after %s it is %v, want %v", name, cause, within[cause], want)
			}
		}
	}
}

// A session of ZooKeeper lasts four seconds at least, and a waiter is skipped after four of the longest pauses at
// least.
func TestLongTerms(t *testing.T) {
	const drift = 2*time.Second*promise.DriftAllowance/1_000_000 + 10*time.Millisecond
	for term, want := range map[lock.Term]time.Duration{
		lock.TermSession: 8*time.Second + drift, lock.TermTTLAndWaiter: time.Second + 1200*time.Millisecond + drift,
		lock.TermTTL: time.Second + drift,
	} {
		l := testruns.Kind(t, "single")
		l.Promise = lock.Promise{FreeWithin: term}
		got := historyOf(t, l, "name: short\nlock: {ttl: 1s, backoff: 100ms..300ms}\nworkload: {hold: "+
			"100ms}\n").Timing.Within[promise.CauseCrash]
		if got != want {
			t.Errorf("%s: %v, want %v", term, got, want)
		}
	}
}

// The servers were steady unless a fault took keys from them, ended or replaced one, or moved the clock of one.
func TestSteady(t *testing.T) {
	for fault, want := range map[string]bool{
		"pause: {process: c0, for: 1s}":                          true,
		"crash: {process: c0}":                                   true,
		"crash: {process: c0}}, {at: 2s, restart: {process: c0}": true,
		"kill_worker: {process: c0}":                             true,
		"slow: {process: c0, by: 1ms, for: 1s}":                  true,
		"exhaust_pool: {process: c0, for: 1s}":                   true,
		"partition: {between: [c0], for: 1s}":                    true,
		"latency: {between: [c0], add: 1ms, for: 1s}":            true,
		"reset: {between: [c0], and: [r0]}":                      true,
		"stall: {node: r0, for: 1s}":                             true,
		"read_only: {node: r0, for: 1s}":                         true,
		"clock_jump: {clock: c0, by: 1s}":                        true,
		"clock_drift: {clock: c0, ppm: 1000, for: 1s}":           true,
		"flush: {node: r0, what: scripts}":                       true,
		"flush: {node: r0}":                                      false,
		"evict: {node: r0}":                                      false,
		"crash: {process: r0}":                                   false,
		"crash: {process: r0}}, {at: 2s, restart: {process: r0}": false,
		"clock_jump: {clock: r0, by: 1ms}":                       false,
		"failover: {to: r0a}":                                    false,
	} {
		h := historyOf(t, testruns.Kind(t, "single"), "name: steady\nworld: {replicas: 1}\nlock: {ttl: 10s}\nworkload: "+
			"{rounds: 3, hold: 1s}\n"+
			"faults: [{at: 1s, "+fault+"}]\n")
		if h.Timing.Steady != want {
			t.Errorf("%s: steady is %v, want %v", fault, h.Timing.Steady, want)
		}
	}
	h := historyOf(t, testruns.Kind(t, "single"), "name: late\nlock: {ttl: 10s}\nworkload: {hold: 1s}\nfaults: [{at: "+
		"1h, flush: {node: r0}}]\n")
	if !h.Timing.Steady {
		t.Error("a fault that did not strike made the servers unsteady")
	}
}

// Messages of one client are in order if each takes the same time. A free lock takes one backoff and its messages until
// a client has it, and the time that it needs to be sure.
func TestSlack(t *testing.T) {
	single := testruns.Kind(t, "single")
	foreign, sure, talks, cluster := single, single, single, single
	foreign.FollowsSpec = false
	sure.GrantTime = 3 * time.Second
	talks.Messages = 20
	cluster.Servers = subject.Redis(1)
	cluster.Servers[0].Kind.Settles = time.Second
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		lock         subject.Lock
		latency      string
		grace, trips time.Duration
		inOrder      bool
	}{
		"a lock":                     {single, "1ms..5ms", 240 * ms, 90 * ms, false},
		"equal latency":              {single, "2ms", 216 * ms, 42 * ms, true},
		"a lock of unknown backoff":  {foreign, "1ms..5ms", 2040 * ms, 90 * ms, false},
		"a lock that has to be sure": {sure, "1ms..5ms", 3240 * ms, 90 * ms, false},
		"a lock that needs to talk":  {talks, "1ms..5ms", 300 * ms, 210 * ms, false},
		"a lock of a cluster":        {cluster, "1ms..5ms", 900 * ms, 90 * ms, false},
	} {
		got := timingOf(t, c.lock, c.latency, "hold: 1s")
		if got.Grace != c.grace || got.Trips != c.trips || got.InOrder != c.inOrder || got.Lease != 10*time.Second {
			t.Errorf("%s: grace %v, trips %v, in order %v, lease %v, want %v, %v, %v and 10s",
				name, got.Grace, got.Trips, got.InOrder, got.Lease, c.grace, c.trips, c.inOrder)
		}
	}
}

// How often a client may ask is known of a lock that has the backoff of the scenario, if nothing makes its client send
// requests again.
func TestPace(t *testing.T) {
	single, redlock, foreign := testruns.Kind(t, "single"), testruns.Kind(t, "redlock"), testruns.Kind(t, "single")
	foreign.FollowsSpec = false
	paced := foreign
	paced.Pause = 70 * time.Millisecond
	const spec = "lock: {ttl: 12s, backoff: 50ms..200ms}\n"
	one := checker.Pace{Servers: 1, Pause: 50 * time.Millisecond, Renewal: time.Second}
	for _, c := range []struct {
		lock    subject.Lock
		text    string
		want    checker.Pace
		unknown bool
	}{
		{lock: single, text: spec, want: one},
		{lock: redlock, text: spec, want: checker.Pace{Servers: 5, Pause: 50 * time.Millisecond, Renewal: time.Second}},
		{lock: foreign, text: "lock: {ttl: 12s}\n", unknown: true},
		{lock: paced, text: "lock: {ttl: 12s}\n", want: checker.Pace{Servers: 1, Pause: 70 * time.Millisecond,
			Renewal: time.Second}},
		{lock: single, text: "lock: {ttl: 12s}\nfaults: [{at: 1s, flush: {node: r0, what: scripts}}]\n", unknown: true},
	} {
		got := historyOf(t, c.lock, "name: pace\n"+c.text).Timing
		switch {
		case c.unknown && got.Pace != nil, !c.unknown && (got.Pace == nil || *got.Pace != c.want):
			t.Errorf("%s: %+v, want %+v", c.text, got.Pace, c.want)
		case got.Growing == c.lock.FollowsSpec:
			t.Errorf("%s: the backoff grows %v", c.text, got.Growing)
		}
	}
}

// Only what a client sends to a server of the lock counts as a request: not what it sends to the store, nor what the
// probe sends.
func TestSends(t *testing.T) {
	sc := testruns.Parse(t, "name: sends\nlock: {ttl: 10s}\nworkload: {rounds: 2, hold: 1s}\n")
	m := testruns.Play(t, sc, testruns.Kind(t, "single"), play.RunOptions{Seed: 1, Alone: true}).Modes[0]
	want := map[string][]time.Duration{}
	for _, e := range m.Trace.Events {
		if e.Kind() == "send" && (e.Actor == "c0" || e.Actor == "c1") && e.Peer == "r0" {
			want[e.Actor] = append(want[e.Actor], e.At)
		}
	}
	got := m.History.Timing.Sends
	if len(got) != 2 || !slices.Equal(got["c0"], want["c0"]) || !slices.Equal(got["c1"], want["c1"]) ||
		len(want["c0"]) == 0 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A lock is judged on the duties that it promises, but not on those that say nothing in a run: a notice of the end of a
// lease that does not tell it, the return of calls whose requests outlast their contexts, and the waking of waiters
// that ask.
func TestDutiesOfARun(t *testing.T) {
	without := func(d ...promise.Duty) []promise.Duty {
		return slices.DeleteFunc(promise.Duties(), func(x promise.Duty) bool { return slices.Contains(d, x) })
	}
	for _, c := range []struct {
		form, text string
		want       []promise.Duty
	}{
		{"", "lock: {wait: notify}\n", promise.Duties()},
		{"until", "lock: {wait: notify}\n", promise.Duties()},
		{"counted", "lock: {wait: notify}\n", without(promise.DutyTells)},
		{"held", "lock: {wait: notify}\n", without(promise.DutyTells)},
		{"", "lock: {wait: notify, client: stock}\n", without(promise.DutyReturns)},
		{"", "lock: {wait: poll}\n", without(promise.DutyWakes)},
	} {
		l := testruns.Kind(t, "single")
		l.Lease, l.Promise.Duties = subject.LeaseForm(c.form), promise.Duties()
		got := historyOf(t, l, "name: duties\n"+c.text).Duties
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.want))
		if !slices.Equal(got, want) {
			t.Errorf("lease %q, %s: %v, want %v", c.form, c.text, got, want)
		}
		if l.Promise.Duties = nil; len(historyOf(t, l, "name: duties\n"+c.text).Duties) > 0 {
			t.Errorf("lease %q, %s: a lock that promises no duty is judged on one", c.form, c.text)
		}
	}
}

// A lock has several holders at a time if it is entered again, or if all clients are one owner. Its waiters have an
// order if its queue is known.
func TestAdmissionOfARun(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		entry      checker.Entry
		queue      checker.Queue
	}{
		{"single", "", checker.EntryExclusive, checker.QueueNone},
		{"fair", "", checker.EntryExclusive, checker.QueueFair},
		{"reentrant", "", checker.EntryExclusive, checker.QueueNone},
		{"reentrant", "workload: {nested: 1}\n", checker.EntryReentrant, checker.QueueNone},
		{"reentrant", "lock: {owner: shared}\n", checker.EntryReentrant, checker.QueueNone},
		{"reentrant", "lock: {owner: alike}\n", checker.EntryExclusive, checker.QueueNone},
	} {
		h := historyOf(t, testruns.Kind(t, c.kind), "name: admission\n"+c.text)
		if h.Entry != c.entry || h.Queue != c.queue {
			t.Errorf("%s, %q: entry %q, queue %q, want %q and %q", c.kind, c.text, h.Entry, h.Queue, c.entry, c.queue)
		}
	}
}

// The places in a queue are known unless the clock of a server jumped, by which it tells how long a waiter was silent.
func TestPlacesInTheQueue(t *testing.T) {
	for fault, want := range map[string]bool{
		"{at: 1h, clock_jump: {clock: r0, by: 1s}}":                                            true, // it does not strike
		"{at: 100ms, clock_jump: {clock: c0, by: 1s}}":                                         true,
		"{at: 100ms, pause: {process: c0, for: 1ms}}":                                          true,
		"{at: 100ms, clock_jump: {clock: r0, by: 1s}}":                                         false,
		"{at: 1h, clock_jump: {clock: r0, by: 1s}}, {at: 1ms, pause: {process: c0, for: 1ms}}": true,
	} {
		h := historyOf(t, testruns.Kind(t, "fair"), "name: queue\nworld: {clients: 3}\nlock: {ttl: 10s}\n"+
			"workload: {rounds: 2, hold: 1s, think: 10ms}\nfaults: ["+fault+"]\n")
		known := slices.ContainsFunc(h.Grants, func(g checker.Grant) bool { return g.Enqueued > 0 })
		if known != want {
			t.Errorf("%s: the places are known: %v, want %v", fault, known, want)
		}
	}
}

// A section within another reads and writes its own register, once for each entry, on the value that it has read.
func TestOperationsOfANestedSection(t *testing.T) {
	h := historyOf(t, testruns.Kind(t, "reentrant"), "name: nested\nworld: {clients: 1}\nlock: {ttl: 10s}\nworkload: "+
		"{rounds: 2, hold: 1s, nested: 2}\n")
	var got, want []string
	last := ""
	for _, o := range h.Ops {
		if o.Register == "audit" {
			got = append(got, string(o.Kind)+" over "+o.Saw)
			if o.Kind == checker.Read {
				want = append(want, "read over "+last)
				continue
			}
			want, last = append(want, "write over "+last), o.ID
		}
	}
	if len(got) != 8 || !slices.Equal(got, want) {
		t.Errorf("%q, want %q, and eight", got, want)
	}
}

// An extension has to return by the end of the lease, as its client knew it at the call, and a tenth of a TTL: the
// inner lease of a watchdog ends by so much later.
func TestExtensionsAreDue(t *testing.T) {
	l := testruns.Kind(t, "single")
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		locker, err := inner(e)
		return extending{told{Locker: locker, clock: e.Clock().Now,
			until: map[time.Duration]time.Duration{0: 9 * time.Second}, lostAfter: -1}}, err
	}
	h := historyOf(t, l, "name: due\nworld: {clients: 1, latency: 1ms}\nlock: {ttl: 10s}\nworkload: {rounds: 1, hold: "+
		"4s, extend: 1}\n")
	n := 0
	for _, c := range h.Calls {
		if c.What == "Extend" {
			n++
			if due := (c.Due - c.Called).Round(10 * time.Millisecond); due != 8*time.Second {
				t.Errorf("an extension two seconds after the grant has to return within %v, want 8s", due)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d extensions, want one", n)
	}
}

// extending is a lock whose leases can be extended, which does nothing.
type extending struct{ told }

func (l extending) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := l.told.Acquire(ctx, resource)
	return extensible{lease}, err
}

type extensible struct{ lock.Lease }

func (extensible) Extend(context.Context) error { return nil }

// A history has the names of resources as the clients use them, wherever it has a resource, and its texts show them in
// quotes.
func TestNamesOfAHistory(t *testing.T) {
	const odd = "a\tb`c"
	h := historyOf(t, testruns.Kind(t, "single"), "name: odd\nworld: {clients: 2}\nlock: {ttl: 5s}\n"+
		"workload: {rounds: 3, hold: 1s, think: 10ms, tries: true, resources: [\"a\\tb`c\"]}\n")
	const want = checker.Resource(odd)
	var got []checker.Resource
	for _, g := range h.Grants {
		got = append(got, g.Resource)
	}
	for _, a := range h.Attempts {
		got = append(got, a.Resource)
	}
	for _, x := range h.Tries {
		got = append(got, x.Resource)
	}
	for _, c := range h.Calls {
		got = append(got, c.Resource)
	}
	for _, o := range h.Ops {
		got = append(got, o.Resource)
	}
	for _, s := range h.Holdings {
		got = append(got, s.Resource)
	}
	for _, d := range h.Deletions {
		got = append(got, d.Resource)
	}
	for cell := range h.Final {
		got = append(got, cell.Resource)
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, []checker.Resource{want}) || len(h.Tries) == 0 || len(h.Calls) == 0 ||
		len(h.Holdings) == 0 {
		t.Errorf("%q, want %q alone", got, want)
	}
	if text := want.String(); text != trace.Name(odd) || text == odd {
		t.Errorf("texts show %s, want %s", text, trace.Name(odd))
	}
}

// A release that goes on after the end of its context is told apart.
func TestReleaseContextEnded(t *testing.T) {
	for within, want := range map[string]bool{"": false, ", release_within: 5ms": true, ", release_within: 1s": false} {
		h := historyOf(t, testruns.Kind(t, "single"), "name: ended\nworld: {clients: 1, latency: 20ms}\nlock: {ttl: "+
			"5s}\nworkload: {hold: 100ms"+within+"}\n")
		if got := h.Grants[0].ReleaseContextEnded; got != want {
			t.Errorf("%q: the context of the release had ended: %v, want %v", within, got, want)
		}
		if h.Grants[0].ReleaseContextOver {
			t.Errorf("%q: the context of the release had ended before its call", within)
		}
	}
	h := historyOf(t, testruns.Kind(t, "single"), "name: over\nworld: {clients: 1, latency: 1ms}\nlock: {ttl: "+
		"5s}\nworkload: {hold: 100ms, request: 50ms}\n")
	if g := h.Grants[0]; !g.ReleaseContextOver || !g.ReleaseContextEnded {
		t.Errorf("the context of a request that had ended is not over at the release: %+v", g)
	}
}

// A client releases its lock after the last write of its section or, if the scenario says so, before the first.
func TestEarlyRelease(t *testing.T) {
	for _, release := range []string{"last", "early"} {
		h := historyOf(t, testruns.Kind(t, "single"), "name: early\nworld: {clients: 1}\nlock: {ttl: 5s}\nworkload: {hold: "+
			"1s, kind: transfer, release: "+release+"}\n")
		writes := 0
		for _, o := range h.Ops {
			if o.Kind == checker.Write {
				writes++
				if after := o.Invoked > h.Grants[0].ReleaseReturned; after != (release == "early") {
					t.Errorf("release %s: write %d was sent after the release: %v", release, writes, after)
				}
			}
		}
		if writes != 2 {
			t.Errorf("release %s: %d writes", release, writes)
		}
	}
}
