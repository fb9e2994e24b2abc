package checker

import (
	"strings"
	"testing"
	"time"
)

// The lock is stuck by what a client or the probe met, and leaked by a key that nothing excuses. Each case differs from
// the one above in one thing.
func TestLiveness(t *testing.T) {
	const ttl = 8 * time.Second
	probed := func(leftovers ...Leftover) Ending {
		return Ending{Asked: time.Second, Granted: true, Nodes: 5, Leftovers: leftovers}
	}
	key := Leftover{Server: "r0", Key: "lock", Left: ttl, Owner: "c0"}
	with := func(e Ending, change func(e *Ending)) Ending {
		change(&e)
		return e
	}
	learnt := func(e Ending) Ending { e.Learnt = true; return e }
	grant := func(client string, change func(g *Grant)) History {
		g := Grant{ID: 1, Client: client, Resource: "a", Invoked: 1, Granted: 2, Released: 3, ReleaseReturned: 4,
			ReleaseSucceeded: true}
		change(&g)
		return History{Grants: []Grant{g}}
	}
	attempt := func(a Attempt) History { return History{Attempts: []Attempt{a}} }
	waits := func(call string, d time.Duration, ever bool) []Waiting {
		return []Waiting{{Client: "c1", Call: call, Resource: "a", Did: "passed work", Since: 7, For: d, Ever: ever}}
	}
	late := func(e *Ending) { e.Waiting, e.CutOff = waits("Acquire", time.Minute, false), []string{"r1", "r2"} }
	for name, c := range map[string]struct {
		h      History
		ending Ending
		voters int
		want   Liveness
		says   string
		hung   string
	}{
		"nothing known": {want: LivenessOK},
		"granted":       {ending: probed(), want: LivenessOK},
		"not granted": {ending: Ending{Asked: time.Second, Problem: "taken", Lasting: " The key."},
			want: LivenessStuck, says: "for 1s: taken. The key."},
		"a client loops": {ending: Ending{Loops: "c0 loops."}, want: LivenessStuck, says: "c0 loops."},
		"a client asks for ever": {ending: Ending{Waiting: waits("Acquire", time.Hour, true)}, want: LivenessStuck,
			says: "c1 asked for a at step 7 and waits for ever: 1h0m0s later"},
		"a client waits for ever": {ending: Ending{Waiting: waits("", time.Hour, true)}, want: LivenessStuck,
			says: "c1 passed work at step 7 and waits for ever"},
		"a release never returns": {ending: Ending{Waiting: waits("Release", time.Hour, true)}, want: LivenessOK,
			hung: "c1 called Release of a at step 7 and waits for ever: 1h0m0s later"},
		"a minority was cut off": {ending: with(probed(), late), want: LivenessStuck, says: "With r1, r2 out of reach, " +
			"and all other nodes of 5 reachable, c1 had not been granted a after 1m0s."},
		"and a release had not returned": {ending: with(probed(),
			func(e *Ending) { late(e); e.Waiting = waits("Release", time.Minute, false) }), want: LivenessOK,
			hung: "c1 called Release of a at step 7, and it had not returned after 1m0s, although 3 of 5 servers answer."},
		"for less than a lease": {ending: with(probed(),
			func(e *Ending) { late(e); e.Waiting = waits("Release", ttl, false) }), want: LivenessOK},
		"asked for less than a lease": {ending: with(probed(), func(e *Ending) { late(e); e.Waiting[0].For = ttl }),
			want: LivenessOK},
		"at work": {ending: with(probed(),
			func(e *Ending) { late(e); e.Waiting = waits("", time.Minute, false) }), want: LivenessOK},
		"in time": {ending: with(probed(), func(e *Ending) { late(e); e.Waiting = nil }),
			want: LivenessOK},
		"another fault lasted": {ending: with(probed(), func(e *Ending) { late(e); e.Kept = true }),
			want: LivenessOK},
		"a majority was cut off": {ending: with(probed(), func(e *Ending) { late(e); e.Nodes = 4 }),
			want: LivenessOK},
		"no server was cut off": {ending: with(probed(), func(e *Ending) { late(e); e.CutOff = nil }),
			want: LivenessOK},
		"no probe": {ending: with(probed(), func(e *Ending) { late(e); e.Asked = 0 }),
			want: LivenessOK},
		"a key": {ending: probed(key), want: LivenessLeaked, says: "The key lock on r0 is " +
			"still there, with 8s to live"},
		"an excused key": {ending: probed(Leftover{Server: "r0", Left: ttl, Struck: true}),
			want: LivenessOK},
		"an excused key, and another": {ending: probed(Leftover{Server: "r0", Left: ttl, Struck: true}, key),
			want: LivenessLeaked},
		"without an end": {ending: probed(Leftover{Server: "r0", Key: "lock", Struck: true}),
			want: LivenessLeaked, says: "has no TTL"},
		"without an end, learnt": {ending: learnt(probed(Leftover{Server: "r0", Key: "lock"})),
			want: LivenessOK},
		"its owner is gone": {ending: with(probed(key), func(e *Ending) { e.Gone = []string{"c0"} }),
			want: LivenessOK},
		"another client is gone": {ending: with(probed(key), func(e *Ending) { e.Gone = []string{"c1"} }),
			want: LivenessLeaked},
		"another one, and the owner unknown": {ending: with(probed(Leftover{Server: "r0", Left: ttl}),
			func(e *Ending) { e.Gone = []string{"c1"} }), want: LivenessOK},
		"released": {h: grant("c0", func(*Grant) {}), ending: probed(key), want: LivenessLeaked},
		"a release failed": {h: grant("c0", func(g *Grant) { g.ReleaseFailed = true }),
			ending: probed(key), want: LivenessOK},
		"a release of another client failed": {h: grant("c1", func(g *Grant) { g.ReleaseFailed = true }),
			ending: probed(key), want: LivenessLeaked},
		"not held": {h: grant("c0", func(g *Grant) { g.ReleaseSucceeded = false }),
			ending: probed(key), want: LivenessLeaked},
		"not held, learnt": {h: grant("c0", func(g *Grant) { g.ReleaseSucceeded = false }),
			ending: learnt(probed(key)), voters: 1, want: LivenessOK},
		"under an ended context": {h: grant("c0", func(g *Grant) { g.ReleaseContextEnded = true }),
			ending: learnt(probed(key)), voters: 1, want: LivenessLeaked},
		"under an ended context, of several": {h: grant("c0", func(g *Grant) { g.ReleaseContextEnded = true }),
			ending: learnt(probed(key)), voters: 3, want: LivenessOK},
		"an attempt of unknown outcome": {h: attempt(Attempt{Client: "c0", Outcome: OutcomeUnknown}),
			ending: probed(key), want: LivenessOK},
		"an attempt that failed": {h: attempt(Attempt{Client: "c0", Outcome: OutcomeFailed, ContextEnded: 1}),
			ending: probed(key), want: LivenessLeaked},
		"an attempt that failed, learnt": {h: attempt(Attempt{Client: "c0", Outcome: OutcomeFailed, ContextEnded: 1}),
			ending: learnt(probed(key)), voters: 1, want: LivenessOK},
		"an attempt before its context ended": {h: attempt(Attempt{Client: "c0", Outcome: OutcomeFailed}),
			ending: learnt(probed(key)), voters: 1, want: LivenessLeaked},
		"learnt keys on one of three": {ending: learnt(probed(key)), voters: 3, want: LivenessOK},
		"named keys on one of three":  {ending: probed(key), voters: 3, want: LivenessLeaked},
		"learnt keys on two of four": {ending: learnt(probed(key, Leftover{Server: "r1", Left: ttl, Owner: "c0"})),
			voters: 4, want: LivenessLeaked},
		"learnt keys on two of three": {ending: learnt(probed(key, Leftover{Server: "r1", Left: ttl, Owner: "c0"})),
			voters: 3, want: LivenessLeaked},
	} {
		c.h.Ending, c.h.Voters, c.h.Timing = c.ending, c.voters, &Timing{Lease: ttl}
		if got, why := c.h.Liveness(); got != c.want || !strings.Contains(why, c.says) || (why == "") != (got == LivenessOK) {
			t.Errorf("%s: %s, %q, want %s, %q", name, got, why, c.want, c.says)
		}
		hung := hungCalls(c.h).sentences()
		if len(hung) != min(len(c.hung), 1) || len(hung) == 1 && !strings.HasPrefix(hung[0].Text, c.hung) {
			t.Errorf("%s: calls that had not returned: %v, want %q", name, hung, c.hung)
		}
	}
}
