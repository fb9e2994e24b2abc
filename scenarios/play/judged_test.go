package play_test

import (
	"slices"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios/play"
)

// timingOf is the timing of a run without faults.
func timingOf(t *testing.T, l play.Lock, latency, workload string) *checker.Timing {
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
		lock.TermTTL: ttl, lock.TermDrift: drift, lock.TermTTLAndCluster: ttl + 3*time.Second, lock.TermSession: ttl + 4*time.Second,
		lock.TermTTLAndWaiter: ttl + 10*time.Second, lock.TermAnyTime: 1 << 62,
	}
	single, redlock, foreign := testruns.Kind(t, "single"), testruns.Kind(t, "redlock"), testruns.Kind(t, "single")
	foreign.FollowsSpec = false
	for _, general := range append(lock.Terms(), "") {
		if general == lock.TermReleaseTimeout || general == lock.TermNodeTimeouts { // those of calls
			continue
		}
		for _, special := range checker.Causes() {
			l := single
			l.Promise = lock.Promise{FreeWithin: general, FreeAfter: map[promise.Cause]lock.Term{promise.Cause(special): lock.TermTTLAndCluster}}
			for _, c := range checker.Causes() {
				want := terms[general]
				switch {
				case c == special:
					want = terms[lock.TermTTLAndCluster]
				case c == checker.CauseOther:
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
		lock     play.Lock
		workload string
		want     map[checker.Cause]time.Duration
	}{
		"on several nodes":        {redlock, "hold: 1s", map[checker.Cause]time.Duration{checker.CauseOther: ttl, checker.CauseExpiry: drift}},
		"with an unknown backoff": {foreign, "hold: 1s", map[checker.Cause]time.Duration{checker.CauseOther: ttl, checker.CauseExpiry: drift}},
		"on one node":             {single, "hold: 1s", map[checker.Cause]time.Duration{checker.CauseOther: 0, checker.CauseExpiry: drift}},
		// An extension without an answer may have renewed the key.
		"with extensions": {single, "hold: 1s, extend: 1", map[checker.Cause]time.Duration{checker.CauseOther: 0, checker.CauseExpiry: ttl}},
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
		lock.TermSession: 8*time.Second + drift, lock.TermTTLAndWaiter: time.Second + 1200*time.Millisecond + drift, lock.TermTTL: time.Second + drift,
	} {
		l := testruns.Kind(t, "single")
		l.Promise = lock.Promise{FreeWithin: term}
		got := historyOf(t, l, "name: short\nlock: {ttl: 1s, backoff: 100ms..300ms}\nworkload: {hold: 100ms}\n").Timing.Within[checker.CauseCrash]
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
		h := historyOf(t, testruns.Kind(t, "single"), "name: steady\nworld: {replicas: 1}\nlock: {ttl: 10s}\nworkload: {rounds: 3, hold: 1s}\n"+
			"faults: [{at: 1s, "+fault+"}]\n")
		if h.Timing.Steady != want {
			t.Errorf("%s: steady is %v, want %v", fault, h.Timing.Steady, want)
		}
	}
	h := historyOf(t, testruns.Kind(t, "single"), "name: late\nlock: {ttl: 10s}\nworkload: {hold: 1s}\nfaults: [{at: 1h, flush: {node: r0}}]\n")
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
	cluster.Servers = play.Redis(1)
	cluster.Servers[0].Kind.Settles = time.Second
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		lock         play.Lock
		latency      string
		slack, trips time.Duration
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
		if got.Slack != c.slack || got.Trips != c.trips || got.InOrder != c.inOrder || got.Lease != 10*time.Second {
			t.Errorf("%s: slack %v, trips %v, in order %v, lease %v, want %v, %v, %v and 10s",
				name, got.Slack, got.Trips, got.InOrder, got.Lease, c.slack, c.trips, c.inOrder)
		}
	}
}

// How often a client may ask is known of a lock that has the backoff of the scenario, if nothing makes its client send
// requests again.
func TestPace(t *testing.T) {
	single, redlock, foreign := testruns.Kind(t, "single"), testruns.Kind(t, "redlock"), testruns.Kind(t, "single")
	foreign.FollowsSpec = false
	const spec = "lock: {ttl: 12s, backoff: 50ms..200ms}\n"
	one := checker.Pace{Servers: 1, Pause: 50 * time.Millisecond, Renewal: time.Second}
	for _, c := range []struct {
		lock    play.Lock
		text    string
		want    checker.Pace
		unknown bool
	}{
		{lock: single, text: spec, want: one},
		{lock: redlock, text: spec, want: checker.Pace{Servers: 5, Pause: 50 * time.Millisecond, Renewal: time.Second}},
		{lock: single, text: spec + "workload: {extend: 3}\n", want: checker.Pace{Servers: 1, Pause: 50 * time.Millisecond, Renewal: time.Second, Extends: 3}},
		{lock: single, text: spec + "faults: [{at: 1s, flush: {node: r0}}]\n", want: one},
		{lock: foreign, text: "lock: {ttl: 12s}\n", unknown: true},
		{lock: single, text: "lock: {ttl: 12s, client: stock}\n", unknown: true},
		{lock: single, text: "lock: {ttl: 12s}\nfaults: [{at: 1s, flush: {node: r0, what: scripts}}]\n", unknown: true},
		{lock: single, text: spec + "faults: [{at: 1h, flush: {node: r0, what: scripts}}]\n", want: one},
	} {
		got := historyOf(t, c.lock, "name: pace\n"+c.text).Timing
		switch {
		case c.unknown && got.Pace != nil, !c.unknown && (got.Pace == nil || *got.Pace != c.want):
			t.Errorf("%s: %+v, want %+v", c.text, got.Pace, c.want)
		case c.unknown && len(got.Sends) > 0:
			t.Errorf("%s: requests are counted", c.text)
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
	if len(got) != 2 || !slices.Equal(got["c0"], want["c0"]) || !slices.Equal(got["c1"], want["c1"]) || len(want["c0"]) == 0 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A lock is judged on the duties that it promises, but not on those that say nothing in a run: a notice of the end of a
// lease that does not tell it, the return of calls whose requests outlast their contexts, and the waking of waiters
// that ask.
func TestDutiesOfARun(t *testing.T) {
	without := func(d ...checker.Duty) []checker.Duty {
		return slices.DeleteFunc(checker.Duties(), func(x checker.Duty) bool { return slices.Contains(d, x) })
	}
	for _, c := range []struct {
		form, text string
		want       []checker.Duty
	}{
		{"", "lock: {wait: notify}\n", checker.Duties()},
		{"until", "lock: {wait: notify}\n", checker.Duties()},
		{"counted", "lock: {wait: notify}\n", without(checker.DutyTells)},
		{"held", "lock: {wait: notify}\n", without(checker.DutyTells)},
		{"", "lock: {wait: notify, client: stock}\n", without(checker.DutyReturns)},
		{"", "lock: {wait: poll}\n", without(checker.DutyWakes)},
	} {
		l := testruns.Kind(t, "single")
		l.Lease, l.Promise.Duties = play.LeaseForm(c.form), promise.Duties()
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
