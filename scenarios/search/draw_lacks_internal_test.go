package search

import (
	"slices"
	"testing"

	"locksim/faults"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/spaces"
)

// Clocks that cannot drift are not tilted with the others.
func TestLackedDriftIsNotTilted(t *testing.T) {
	for lacks, want := range map[string]int{"": 5, "clock_drift": 2} {
		d := &drawer{from: spaces.Seeded(1), sc: &file.Scenario{World: file.World{
			Clients: 2, Servers: []file.ServerCount{{Facts: server.Facts{Name: "etcd", Prefix: "e", Lacks: []string{lacks}},
				Count: 3}},
		}}}
		if got := d.tilted(); len(got) != want {
			t.Errorf("lacks %q: %d clocks drift, not %d: %v", lacks, len(got), want, got)
		}
	}
}

// Faults that cannot strike the servers of a world are not drawn there; the same kinds strike its clients.
func TestLackedFaultsAreNotDrawn(t *testing.T) {
	names := func(lacks ...string) []string {
		w := file.World{Clients: 2, Servers: []file.ServerCount{{Facts: server.Facts{Name: "etcd", Prefix: "e", Lacks: lacks},
			Count: 3}}}
		var out []string
		for _, trouble := range troubles(w) {
			out = append(out, trouble.name)
		}
		return out
	}
	all, some := names(), names("clock_jump")
	for _, name := range []string{"clock_jump", "node-clock-drift"} {
		if !slices.Contains(all, name) || !slices.Contains(some, name) {
			t.Errorf("%s is not drawn: %v", name, some)
		}
	}
	if slices.Contains(all, "exhaust_pool") || !slices.Contains(some, "exhaust_pool") ||
		slices.Contains(names("clock_jump", "exhaust_pool"), "exhaust_pool") {
		t.Error("exhaust_pool is drawn for servers of which it is not known whether their clients have pools, or not for " +
			"those that have")
	}
	if !slices.Contains(all, "node-clock-jump") || slices.Contains(some, "node-clock-jump") {
		t.Errorf("with the fault %v, without it %v", all, some)
	}
}

// A machine that cannot lose its power in this program does not: its process crashes.
func TestPowerIsNotDrawn(t *testing.T) {
	power := func(of string) faults.Fault {
		return faults.Fault{Action: faults.Crash{Process: of, Mode: faults.CrashPower}}
	}
	d := &drawer{sc: &file.Scenario{
		World: file.World{Clients: 2, Servers: []file.ServerCount{
			{Facts: server.Facts{Name: "register", Prefix: "g", Leader: "leader", Lacks: []string{file.PowerLoss}}, Count: 2},
			{Facts: server.Facts{Name: "etcd", Prefix: "e"}, Count: 3},
		}},
		Faults: []faults.Fault{power("g1"), power("leader"), power("e1"), power("c0")},
	}}
	d.spare()
	var got []faults.CrashMode
	for _, f := range d.sc.Faults {
		got = append(got, f.Action.(faults.Crash).Mode)
	}
	if want := []faults.CrashMode{faults.CrashProcess, faults.CrashProcess, faults.CrashPower,
		faults.CrashPower}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// Where the machine of a server cannot lose its power in this program, a search for that class draws none.
func TestNoCrashInPlaceOfPower(t *testing.T) {
	world := file.World{Clients: 2, Servers: []file.ServerCount{{Facts: server.Facts{Name: "register", Prefix: "g"},
		Count: 2}}}
	for _, tc := range []struct {
		lacks  []string
		faults []promise.Fault
		want   bool
	}{
		{nil, []promise.Fault{promise.NodePower}, true},
		{[]string{file.PowerLoss}, []promise.Fault{promise.NodePower}, false},
		{[]string{file.PowerLoss}, []promise.Fault{promise.NodePower, promise.NodeCrash}, true},
		{[]string{file.PowerLoss}, []promise.Fault{promise.Power}, false}, // it is about clients
		{[]string{file.PowerLoss}, nil, true},
	} {
		world.Servers[0].Lacks = tc.lacks
		d := &drawer{sc: &file.Scenario{World: world}, space: spaces.Space{Faults: tc.faults}}
		got := slices.ContainsFunc(d.possible(), func(t trouble) bool { return t.name == "node-crash" })
		if got != tc.want {
			t.Errorf("with %q, of %q: the crash of a node may be drawn: %v", tc.lacks, tc.faults, got)
		}
	}
}
