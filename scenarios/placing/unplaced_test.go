package placing

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/lock/promise"
	"locksim/scenarios/outcome/sweeps"
	"locksim/sim/trace"
)

// manyKinds is a run with servers of many kinds: a register whose name begins like that of a Redis server, a Redis
// server that nobody asks, two members of a cluster, of which one only applies what the other has been asked, a
// Sentinel, a server behind the register, and another one of which nothing is known. It was written by hand.
func manyKinds() *trace.Trace {
	t := &trace.Trace{Servers: trace.Servers{
		{Name: "reg0", Kind: "register", Role: trace.RoleSingle}, {Name: "r0", Kind: "redis", Role: trace.RoleSingle},
		{Name: "e0", Kind: "etcd", Role: trace.RoleMember}, {Name: "e1", Kind: "etcd", Role: trace.RoleMember},
		{Name: "sen0", Kind: "sentinel", Role: trace.RoleWatcher}, {Name: "db0", Kind: "database", Role: trace.RoleBehind},
		{Name: "hook0", Kind: "hook", Role: trace.RoleBehind}, {Name: "s0", Kind: "store", Role: trace.RoleStore},
	}}
	served := trace.Exec{Conn: "#1", Request: trace.Text("take"), Answer: trace.Text("OK")}
	for _, e := range []trace.Event{
		{At: 100, Actor: "db0", What: served, Peer: "c0"}, // for a client, which reaches it through another server
		{At: 200, Actor: "reg0", What: served, Peer: "c0"},
		{At: 300, Actor: "e1", What: trace.Apply{Effects: trace.Text("k")}, Peer: "c1"},
		{At: 400, Actor: "e0", What: served, Peer: "c1"},
		{At: 500, Actor: "sen0", What: served, Peer: "c1"},
		{At: 600, Actor: "s0", What: trace.Decision{Conn: "#1", Op: "c0.r1"}, Peer: "c0"},
		{At: 700, Actor: "reg0", What: served, Peer: trace.Probe}, {At: 701, Actor: trace.Probe, What: trace.Close{},
			Peer: "reg0"},
	} {
		t.Add(e)
	}
	return t
}

// Faults of servers strike those of every kind, and no kind is told by the first letter of a name. What is not placed
// is told, with its reason.
func TestServersOfEveryKind(t *testing.T) {
	opt := Options{TTL: time.Second, Classes: []promise.Fault{promise.NodeCrash, promise.Scripts, promise.NodeClock,
		promise.Pause}}
	opt.Refuses = func(schedule []faults.Fault) string {
		if jump, ok := schedule[0].Action.(faults.ClockJump); ok && (jump.Clock == "e0" || jump.Clock == "e1") {
			return "its clock cannot be set"
		}
		return ""
	}
	opt.Wanted = func(schedule []faults.Fault) bool {
		return faults.ClassIn(schedule, schedule[0].Action) != promise.Pause
	}
	got := In(manyKinds(), opt)
	at := map[string][]string{}
	for _, x := range got.All {
		if x.Kind == "node-crash" {
			at[x.target] = append(at[x.target], fmt.Sprint(x.at))
		}
	}
	want := map[string][]string{"reg0": {"199ns"}, "e0": {"399ns"}, "e1": {"299ns"}, "sen0": {"499ns"}, "db0": {"99ns"},
		"hook0": {"99ns", "101ns", "199ns", "201ns", "299ns", "301ns", "399ns", "401ns", "499ns"}}
	if d := cmp.Diff(want, at); d != "" {
		t.Errorf("crashes (-want +got):\n%s", d)
	}
	var placed []string
	for _, s := range got.Servers {
		n := 0
		for _, x := range got.All {
			if x.target == s.Name {
				n++
			}
		}
		if n != s.Placements {
			t.Errorf("%d placements strike %s, and %d are counted", n, s.Name, s.Placements)
		}
		if n > 0 {
			placed = append(placed, fmt.Sprintf("%s %s %s", s.Kind, s.Name, s.Role))
		}
	}
	if d := cmp.Diff([]string{"register reg0 single", "etcd e0 member", "etcd e1 member", "sentinel sen0 watcher",
		"database db0 behind", "hook hook0 behind"}, placed); d != "" {
		t.Errorf("servers that are struck (-want +got):\n%s", d)
	}
	var why []string
	for _, u := range got.Unplaced {
		why = append(why, u.String())
	}
	idle := "no client asks it in the run without faults"
	for _, text := range []string{
		"pause: the lock makes no promise about that", "node-crash on r0: " + idle, "scripts on r0: " + idle,
		"scripts on reg0: register servers have nothing that this could strike",
		"clock_jump on e0, e1: its clock cannot be set",
	} {
		if !slices.Contains(why, text) {
			t.Errorf("it is not told that %s, only %q", text, why)
		}
	}
}

// Servers that the lock does not need are not counted, and nothing is said of them.
func TestServersOfTheLock(t *testing.T) {
	got := In(manyKinds(), Options{TTL: time.Second, Classes: []promise.Fault{promise.NodeCrash}, Needs: []string{"etcd"}})
	want := []sweeps.Server{{Name: "e0", Kind: "etcd", Role: trace.RoleMember, Placements: 1},
		{Name: "e1", Kind: "etcd", Role: trace.RoleMember, Placements: 1}}
	if d := cmp.Diff(want, got.Servers); d != "" || len(got.Unplaced) > 0 {
		t.Errorf("%v %s", got.Unplaced, d)
	}
}
