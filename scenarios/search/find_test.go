package search_test

import (
	"strings"
	"testing"

	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// searched is a lock and the space in which its fault must be found: the space of a
// specimen, and pauses for single. Both are judged for everything.
func searched(t testing.TB, name string) (subject.Lock, spaces.Space) {
	t.Helper()
	l, err := redislocks.Kind(name)
	if err != nil {
		t.Fatal(err)
	}
	l.Promise = lock.Promise{}
	space := spaces.Space{Faults: []lock.Fault{lock.FaultPause}}
	if strings.HasPrefix(name, "broken/") {
		if space, err = search.SpecimenSpace(name); err != nil {
			t.Fatal(err)
		}
	}
	if space, err = search.Discover(l, space); err != nil {
		t.Fatal(err)
	}
	return l, space
}

// The fault of every specimen is found within 2,000 runs, from three first seeds at
// full size, and of some of them otherwise. The minimal schedule is small: two
// faults at most, and two clients, but for the mistakes that a crowd shows.
func TestSpecimensAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	names := append(kinds.Specimens(), "single")
	if testruns.Soak(t, 100, 0) < 50 { // less than half a soak takes only some of them
		names = []string{"broken/del-without-owner", "broken/get-then-del", "broken/token-before-lock",
			"broken/watchdog-stop-lost", "single"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			l, space := searched(t, name)
			for _, first := range []uint64{1, 1_000_001, 2_000_001}[:min(testruns.Soak(t, 6, 0)/2, 3)] {
				found(t, l, space, first)
			}
		})
	}
}

func found(t *testing.T, l subject.Lock, space spaces.Space, first uint64) {
	t.Helper()
	f := firstFound(t, l, space, outcome.Seeds{First: first, Last: first + 1999})
	if err := f.Examine(nil); err != nil {
		t.Fatal(err)
	}
	small, clients := f.Outcome.Scenario, 2
	if l.Name == "broken/queue-of-ten" || l.Name == "broken/owner-prefix" { // c1 and c10 of a crowd resemble each other
		clients = 12
	}
	if len(small.Faults) > 2 || small.World.Clients > clients || f.Same != f.Replays {
		t.Errorf("seed %d: %s with %d faults and %d clients, %d of %d replays the same; want at most 2 and %d, and all equal",
			f.Seed, f.Shape, len(small.Faults), small.World.Clients, f.Same, f.Replays, clients)
	}
	t.Logf("from seed %d in run %d: %s", first, f.Seed-first+1, f.Shape)
}

// firstFound is the first failure of a search.
func firstFound(t *testing.T, l subject.Lock, space spaces.Space, seeds outcome.Seeds) search.Found {
	t.Helper()
	for trial := range search.Trials(l, search.Drawn(l, space, seeds)) {
		if trial.Err != nil {
			t.Fatal(trial.Err)
		}
		if len(trial.Violations) > 0 {
			return search.NewFound(trial)
		}
	}
	t.Fatalf("nothing found with %s", seeds)
	return search.Found{}
}

// A quorum lock that waits for a dead node is stuck as long as its go-redis goes on
// dialling. One that does not wait is not stuck with any client profile.
func TestDeadNode(t *testing.T) {
	sc := testruns.Parse(t, `
name: dead-node
world: {redis: 5}
lock: {ttl: 2s, client: stock}
workload: {rounds: 2, hold: 500ms, stagger: 100ms}
faults:
  - at: 0s
    partition: {between: [c0, c1], and: [r1]}
`)
	for kind, want := range map[string]bool{"broken/redlock-one-by-one": true, "redlock": false, "redlock-watchdog": false,
		"redlock-fenced": false} {
		o := testruns.Play(t, sc, testruns.Kind(t, kind), play.RunOptions{Seed: 1})
		if stuck := o.Modes[0].Verdict.Facts.Liveness == "stuck"; stuck != want {
			t.Errorf("%s: stuck %v, want %v: %v", kind, stuck, want, o.Modes[0].Verdict.Reasons)
		}
	}
}

// A client that is cut off from a majority, or from the only node of its lock, may
// wait without limit.
func TestDeadMajorityIsNoFault(t *testing.T) {
	for _, c := range []struct{ kind, nodes string }{{"broken/redlock-one-by-one", "r0, r1, r2"}, {"single", "r0"},
		{"redlock", "r0, s0"}} {
		sc := testruns.Parse(t, `
name: dead-majority
world: {redis: 5}
lock: {ttl: 2s}
workload: {rounds: 2, hold: 500ms, stagger: 100ms}
faults:
  - at: 0s
    partition: {between: [c0, c1], and: [`+c.nodes+`]}
`)
		o := testruns.Play(t, sc, testruns.Kind(t, c.kind), play.RunOptions{Seed: 1})
		if f := o.Modes[0].Verdict.Facts; f.Liveness != "ok" {
			t.Errorf("%s without %s: %s", c.kind, c.nodes, f.Liveness)
		}
	}
}

// A grant that arrives after the end of its lease is no claim, although the client
// needs an instant to detect that.
func TestLateGrantIsNoClaim(t *testing.T) {
	sc := testruns.Parse(t, `
name: late-grant
lock: {ttl: 10s, backoff: 50ms}
workload: {hold: 6s, stagger: 1s}
faults:
  - when: {client: c0, event: locked}
    pause: {process: c0, for: 15s}
`)
	l := testruns.Kind(t, "broken/token-after-lock")
	for seed := range uint64(5) {
		m := testruns.Play(t, sc, l, play.RunOptions{Seed: seed}).Modes[0]
		g := m.History.Grants[0]
		if g.Client != "c0" || g.Granted == 0 || !g.Claim().Empty() || m.Verdict.Facts.ClaimOverlaps > 0 {
			t.Errorf("seed %d: the late grant %+v is a claim, and %d overlap", seed, g, m.Verdict.Facts.ClaimOverlaps)
		}
	}
}
