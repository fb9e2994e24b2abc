package search_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/shrink"
	"locksim/scenarios/subject"
)

// failing is a failing scenario, and its expected minimal form.
type failing struct {
	name    string
	source  string
	promise lock.Promise // by which the lock is judged; zero for everything
	want    string       // the shape
	faults  int
	clients int
	left    string // the minimal scenario
}

var failures = []failing{{
	name: "a pause among four faults",
	source: `
name: tangle
world: {redis: 3, clients: 4, latency: 1ms..5ms, replicas: 1, lag: 10ms..30ms, persistence: everysec}
lock: {kind: single, ttl: 3.7s, backoff: 77ms..371ms, wait: notify}
workload: {rounds: 3, hold: 873ms, think: 391ms, stagger: 137ms, checks_until: lost}
faults:
  - at: 611ms
    clock_drift: {clock: c3, ppm: -4900, for: 13.3s}
  - when: {client: c2, event: read, nth: 2}
    after: 41ms
    pause: {process: c2, for: 5.371s}
  - when: {client: c1, event: write, nth: 1}
    latency: {between: [c0, c1], add: 3ms, jitter: 7ms, for: 4.2s}
  - at: 2.113s
    slow: {process: c0, by: 13ms, for: 2.6s}
`,
	want: "corrupted in mode none: pause", faults: 1, clients: 2,
	left: `name: tangle
world: {redis: 1, clients: 2, latency: 1ms}
lock: {kind: single, ttl: 10s, backoff: 100ms}
workload: {rounds: 1, hold: 0s, think: 0s, stagger: 0s, checks_until: never}
faults:
  - when: {client: c0, event: write, nth: 1}
    pause: {process: c0, for: 15s}
`,
}, {
	name: "a failover before the replica has received the lock",
	source: `
name: takeover
world: {redis: 1, replicas: 2, lag: 1100ms..2300ms, clients: 3, latency: 2ms..9ms}
lock: {kind: fenced, ttl: 6.1s}
workload: {rounds: 2, hold: 3.3s, think: 700ms, stagger: 900ms, timeout: 8s}
faults:
  - when: {client: c1, event: granted, nth: 1}
    after: 311ms
    failover: {to: r0b, old: demoted, clients: [c0, c1, c2]}
  - at: 900ms
    bandwidth: {between: [c1], rate: 100, for: 5.1s}
`,
	want: "corrupted in mode seal: failover", faults: 1, clients: 2,
}, {
	name: "a node that restarts without its keys",
	source: `
name: amnesia
world: {redis: 1, clients: 3, latency: 1ms..5ms}
lock: {kind: single, ttl: 4.4s}
workload: {rounds: 2, hold: 2.7s, think: 300ms}
faults:
  - at: 1.312s
    crash: {process: r0, mode: power}
  - at: 1.777s
    restart: {process: r0}
  - when: {client: c1, event: acquire, nth: 1}
    clock_jump: {clock: c1, by: -19s}
`,
	want: "corrupted in mode none: crash, restart", faults: 2, clients: 2,
}, {
	name: "a release in two commands",
	source: `
name: two-commands
world: {redis: 1, clients: 4, latency: 1ms..5ms}
lock: {kind: broken/get-then-del, ttl: 1.3s, backoff: 61ms..240ms}
workload: {rounds: 2, hold: 1.1s, think: 130ms}
faults:
  - when: {client: c3, event: compared, nth: 1}
    pause: {process: c3, for: 987ms}
  - when: {client: c0, event: granted, nth: 2}
    reset: {between: [c0], and: [r0]}
`,
	promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultReset}},
	want:    "overlap in mode none: pause", faults: 1, clients: 2,
}, {
	name: "a crash between two commands",
	source: `
name: no-expiry
world: {redis: 1, clients: 3, latency: 1ms..5ms}
lock: {kind: broken/setnx-then-expire, ttl: 2.9s}
workload: {rounds: 2, hold: 700ms, think: 300ms}
faults:
  - at: 433ms
    pause: {process: c0, for: 200ms}
  - when: {client: c1, event: locked, nth: 2}
    crash: {process: c1}
`,
	want: "stuck in mode none: crash", faults: 1, clients: 1,
}, {
	name: "a release that checks no owner",
	source: `
name: anybody
world: {redis: 1, clients: 4, latency: 1ms..5ms}
lock: {kind: broken/del-without-owner, ttl: 2s, backoff: 40ms..160ms}
workload: {rounds: 3, hold: 3s, think: 200ms}
faults:
  - at: 7.5s
    stall: {node: r0, for: 300ms}
`,
	want: "corrupted in mode none: no faults", faults: 0, clients: 2,
}}

// Real failures of real locks are reduced to their known causes.
func TestMinimizeRealFailures(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	for _, c := range failures {
		t.Run(c.name, func(t *testing.T) {
			l, sc := c.load(t)
			seed, broken := firstFailure(t, l, sc)
			fails := search.FailsLike(l, sc, broken, seed)
			trials := 0
			small := shrink.Minimize(sc, func(s *file.Scenario) bool { trials++; return fails(s) })
			text := formatted(t, small)
			t.Logf("seed %d, %d trials:\n%s", seed, trials, text)
			_, still, err := play.Try(l, small, seed)
			if err != nil {
				t.Fatal(err)
			}
			if got := failure.Shape(small, still); got != c.want || len(small.Faults) != c.faults ||
				small.World.Clients != c.clients {
				t.Errorf("%s with %d faults and %d clients, want %s, %d and %d", got, len(small.Faults), small.World.Clients,
					c.want, c.faults, c.clients)
			}
			if c.left != "" {
				if diff := cmp.Diff(c.left, text); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			mustReplay(t, l, small, seed)
		})
	}
}

func (f failing) load(t *testing.T) (subject.Lock, *file.Scenario) {
	t.Helper()
	sc, err := file.Parse("failure.yaml", []byte(f.source))
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Kind(sc.Lock.Kind)
	if err != nil {
		t.Fatal(err)
	}
	l.Promise = f.promise
	return l, sc
}

// firstFailure is the first seed with which a lock breaks its promise and every
// fault strikes.
func firstFailure(t *testing.T, l subject.Lock, sc *file.Scenario) (seed uint64, broken []outcome.Violation) {
	t.Helper()
	for seed := range uint64(200) {
		o, broken, err := play.Try(l, sc, seed)
		if err != nil {
			t.Fatal(err)
		}
		if len(broken) > 0 && len(o.NeverFired()) == 0 {
			return seed, broken
		}
	}
	t.Fatal("no failure in 200 runs")
	return 0, nil
}

// mustReplay checks that a scenario plays in the same way after it was written to a
// file and read back.
func mustReplay(t *testing.T, l subject.Lock, sc *file.Scenario, seed uint64) {
	t.Helper()
	again, err := file.Parse("small.yaml", []byte(formatted(t, sc)))
	if err != nil {
		t.Fatal(err)
	}
	var hashes []string
	for _, s := range []*file.Scenario{sc, again} {
		o, _, err := play.Try(l, s, seed)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, o.Modes[0].Trace.Hash())
	}
	if hashes[0] != hashes[1] {
		t.Errorf("the run differs after the scenario was read from a file: %v", hashes)
	}
}

func formatted(t testing.TB, sc *file.Scenario) string {
	t.Helper()
	text, err := file.Format(sc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A scenario that fails in another way, with a fault that never strikes, or not at
// all does not fail like the first.
func TestFailsLike(t *testing.T) {
	l, sc := failures[0].load(t)
	seed, broken := firstFailure(t, l, sc)
	fails := search.FailsLike(l, sc, broken, seed)
	if !fails(sc) {
		t.Error("the failure does not fail like itself")
	}
	for name, change := range map[string]func(*file.Scenario){
		"no faults":                    func(s *file.Scenario) { s.Faults = nil },
		"a fault that does not strike": func(s *file.Scenario) { s.Faults[3].At = 24 * time.Hour },
		"an impossible run":            func(s *file.Scenario) { s.Workload.Nested = 1 },
	} {
		other := sc.Clone()
		if change(other); fails(other) {
			t.Errorf("%s: fails", name)
		}
	}
	if search.FailsLike(l, sc, []outcome.Violation{{Mode: fence.None, Label: "stuck"}}, seed)(sc) {
		t.Error("corrupted fails like stuck")
	}
	if search.FailsLike(l, sc, nil, seed)(sc) {
		t.Error("a failure fails like a run without a violation")
	}
}

// A lock that does not follow the spec keeps its TTL: no smaller scenario has
// another.
func TestFailsLikeKeepsTheLock(t *testing.T) {
	kind, sc := failures[0].load(t)
	l := testlocks.WithSpec(kind, sc.Lock)
	seed, broken := firstFailure(t, l, sc)
	small := shrink.Minimize(sc, search.FailsLike(l, sc, broken, seed))
	if !reflect.DeepEqual(small.Lock, sc.Lock) {
		t.Errorf("the lock was %+v and is %+v", sc.Lock, small.Lock)
	}
	if len(small.Faults) != 1 || small.World.Clients != 2 {
		t.Errorf("not minimal:\n%s", formatted(t, small))
	}
	unable := subject.Lock{Name: "unable", New: func(subject.Env) (lock.Locker, error) { return nil, context.Canceled }}
	if search.FailsLike(unable, sc, broken, seed)(sc) {
		t.Error("a lock that cannot be made fails like one that can")
	}
}
