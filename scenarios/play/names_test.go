package play_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// playNamed plays a workload of two clients, and returns its only run.
func playNamed(t *testing.T, l subject.Lock, text string) outcome.ModeRun {
	t.Helper()
	sc := testruns.Parse(t, "name: named\n"+text)
	return testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
}

// Clients contend for each resource by itself, whatever its name is: two may have
// different ones at the same time.
func TestResources(t *testing.T) {
	m := playNamed(t, testruns.Kind(t, "fair"), `world: {clients: 4}
lock: {ttl: 10s}
workload: {rounds: 6, hold: 1s, resources: [order, "order 1", "*", "a\nb"]}
`)
	held := map[checker.Resource]int{}
	together := 0
	for _, g := range m.History.Grants {
		held[g.Resource]++
		for _, other := range m.History.Grants {
			if g.Resource < other.Resource && g.Granted < other.Released && other.Granted < g.Released {
				together++
			}
		}
	}
	if m.Verdict.Label != checker.Safe || len(held) != 4 || together == 0 {
		t.Errorf("%s, grants %v, %d of two at a time: %v", m.Verdict.Label, held, together, m.Verdict.Reasons)
	}
	if n := len(m.History.Holdings); n != len(m.History.Grants) {
		t.Errorf("the servers show %d holdings, for %d grants", n, len(m.History.Grants))
	}
	if len(m.History.Final) != 4 {
		t.Errorf("the registers in the end: %v", m.History.Final)
	}
	if !slices.ContainsFunc(m.History.Grants, func(g checker.Grant) bool { return g.Resource == "a\nb" }) {
		t.Error("the history has not the name of a resource as the clients use it")
	}
	for _, e := range m.Trace.Events {
		if strings.Contains(e.Text(), "\n") {
			t.Fatalf("a line of the trace has a break: %q", e.Text())
		}
	}
}

// A lock that takes two resources for one is found.
func TestResourcesThatCollide(t *testing.T) {
	l := testruns.Kind(t, "single")
	made := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		inner, err := made(e)
		return firstLetters{inner}, err
	}
	m := playNamed(t, l, `lock: {ttl: 10s}
workload: {rounds: 8, hold: 1s, resources: ["order:1", "order:10"]}
`)
	if m.Verdict.Facts.Overdue+m.Verdict.Facts.Denied == 0 {
		t.Errorf("%s: %+v", m.Verdict.Label, m.Verdict.Facts)
	}
}

type firstLetters struct{ lock.Locker }

func (l firstLetters) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return l.Locker.Acquire(ctx, name[:7])
}

// identities are the owner ids that the locks of a run got.
func identities(t *testing.T, text string) []string {
	t.Helper()
	l := testruns.Kind(t, "single")
	made := l.New
	var all []string
	l.New = func(e subject.Env) (lock.Locker, error) {
		all = append(all, e.Identity())
		return made(e)
	}
	playNamed(t, l, text)
	return all[:len(all)-1] // without the probe
}

func TestIdentities(t *testing.T) {
	for text, want := range map[string][]string{
		"world: {clients: 3}":                       {"c0", "c1", "c2"},
		"world: {clients: 3}\nlock: {owner: alike}": {"1", "10", "11"},
	} {
		if got := identities(t, text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// The most clients that a scenario can have get as many different identities.
func TestIdentitiesOfManyClients(t *testing.T) {
	ids := identities(t, "world: {clients: 64}\nlock: {owner: alike}\nworkload: {hold: 0s}")
	slices.Sort(ids)
	if n := len(slices.Compact(slices.Clone(ids))); n != file.MaxClients || ids[0] == "" {
		t.Errorf("%d clients have %d identities: %q", file.MaxClients, n, ids)
	}
}

// Each round of a reentrant lock can have an owner of its own, also after a restart.
func TestOwnerOfARound(t *testing.T) {
	l := testruns.Kind(t, "reentrant")
	made := l.New
	owners := &ownersOf{}
	l.New = func(e subject.Env) (lock.Locker, error) {
		inner, err := made(e)
		return watchedOwners{inner, owners}, err
	}
	m := playNamed(t, l, `lock: {ttl: 2s, owner: round}
workload: {rounds: 3, hold: 100ms, nested: 1}
faults:
  - when: {client: c0, event: granted, nth: 1}
    crash: {process: c0}
  - at: 3s
    restart: {process: c0}
`)
	rounds := slices.DeleteFunc(owners.names, func(o string) bool { return !strings.Contains(o, "/") })
	slices.Sort(rounds)
	if len(rounds) != 7 || len(slices.Compact(slices.Clone(rounds))) != 7 || m.Verdict.Label != checker.Safe {
		t.Errorf("owners %q: %s", rounds, m.Verdict.Label)
	}
}

type ownersOf struct {
	mu    sync.Mutex
	names []string
}

type watchedOwners struct {
	lock.Locker
	seen *ownersOf
}

func (w watchedOwners) As(owner string) lock.Locker {
	w.seen.mu.Lock()
	defer w.seen.mu.Unlock()
	w.seen.names = append(w.seen.names, owner)
	return w.Locker.(lock.Owned).As(owner)
}

// A holder that extends its lease in time has one claim for longer than a TTL.
func TestExtend(t *testing.T) {
	for extend, want := range map[string]int{"0": 0, "3": 6} {
		m := playNamed(t, testruns.Kind(t, "single"), `lock: {ttl: 10s}
workload: {rounds: 1, hold: 20s, stagger: 1s, extend: `+extend+`}
`)
		extended, whole := 0, 0
		for _, e := range m.Trace.Events {
			if strings.Contains(e.Text(), "extended") {
				extended++
			}
		}
		for _, g := range m.History.Grants {
			if g.Claim().End == g.Released {
				whole++
			}
		}
		if extended != want || whole != want/3 {
			t.Errorf("extend %s: %d extensions, %d claims to the release", extend, extended, whole)
		}
	}
}

// The lock sees the deadline of a request, where there is one.
func TestDeadline(t *testing.T) {
	for _, deadline := range []bool{false, true} {
		l := testruns.Kind(t, "single")
		made := l.New
		var mu sync.Mutex
		seen := map[bool]int{}
		l.New = func(e subject.Env) (lock.Locker, error) {
			inner, err := made(e)
			return onAcquire{inner, func(ctx context.Context) {
				mu.Lock()
				defer mu.Unlock()
				_, ok := ctx.Deadline()
				seen[ok]++
			}}, err
		}
		text := "workload: {rounds: 2, hold: 1s, request: 30s}\n"
		if deadline {
			text = "workload: {rounds: 2, hold: 1s, request: 30s, deadline: true}\n"
		}
		playNamed(t, l, text)
		if seen[deadline] < 4 {
			t.Errorf("deadline %v: %v", deadline, seen)
		}
	}
}

type onAcquire struct {
	lock.Locker
	call func(context.Context)
}

func (l onAcquire) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	l.call(ctx)
	return l.Locker.Acquire(ctx, name)
}

// Servers whose clocks disagree change nothing for a lock with relative TTLs; one that
// sends instants of the client's clock is found without any fault.
func TestSkew(t *testing.T) {
	const text = "lock: {ttl: 10s}\nworld: {skew: 100s}\nworkload: {rounds: 3, hold: 8s, think: 100ms}\n"
	if m := playNamed(t, testruns.Kind(t, "single"), text); m.Verdict.Label != checker.Safe {
		t.Errorf("single: %s %v", m.Verdict.Label, m.Verdict.Reasons)
	}
	found := false
	for _, seed := range []uint64{1, 2, 3, 4, 5, 6} {
		sc := testruns.Parse(t, "name: skewed\n"+text)
		m := testruns.Play(t, sc, testruns.Kind(t, "broken/expiry-by-client-clock"),
			play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}}).Modes[0]
		found = found || m.Verdict.Label != checker.Safe
	}
	if !found {
		t.Error("broken/expiry-by-client-clock is safe under every skew")
	}
}

// A lock over a quorum has as many nodes as the scenario says, and any other lock refuses
// the number.
func TestNodes(t *testing.T) {
	for _, nodes := range []string{"1", "2", "3", "4", "7"} {
		m := playNamed(t, testruns.Kind(t, "redlock"), "lock: {nodes: "+nodes+"}\nworkload: {rounds: 2, hold: 1s}\n")
		asked := map[string]bool{}
		for _, e := range m.Trace.Events {
			if strings.HasPrefix(e.Actor, "r") {
				asked[e.Actor] = true
			}
		}
		if m.Verdict.Label != checker.Safe || len(asked) != int(nodes[0]-'0') {
			t.Errorf("%s nodes: %s, asked were %v", nodes, m.Verdict.Label, asked)
		}
	}
	sc := testruns.Parse(t, "name: sized\nlock: {nodes: 3}\n")
	if _, err := play.Run(sc, testruns.Kind(t, "single"), play.RunOptions{Seed: 1}); err == nil ||
		!strings.Contains(err.Error(), "lock.nodes") {
		t.Errorf("single over 3 nodes: %v", err)
	}
}
