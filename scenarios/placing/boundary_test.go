package placing

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/soak"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// handMade is a trace with a dial, a request with its answer, points that can be
// named and one that cannot, two requests that are sent at once, an answer without
// a request, a key that expires, and a probe.
func handMade() *trace.Trace {
	t := &trace.Trace{Servers: trace.Servers{
		{Name: "r0", Kind: "redis", Family: "r0", Role: trace.RolePrimary},
		{Name: "r1", Kind: "redis", Role: trace.RoleSingle},
		{Name: "s0", Kind: "store", Role: trace.RoleStore},
	}}
	send := func(text string) trace.What { return trace.Send{Conn: "#1", Content: trace.Text(text)} }
	point := func(label string) trace.What { return trace.Mark{Step: trace.Point, Label: label} }
	served := trace.Exec{Conn: "#1", Request: trace.Text("SET"), Answer: trace.Text("OK")}
	for _, e := range []trace.Event{
		{At: 10, Actor: "c0", What: trace.Mark{Step: trace.Acquire, Resource: "order"}},
		{At: 30, Actor: "c0", What: trace.Connect{}, Peer: "r0"},
		{At: 30, Actor: "c0", What: send("SET"), Peer: "r0"},
		{At: 50, Actor: "r0", What: served, Peer: "c0"},
		{At: 50, Actor: "r0", What: send("OK"), Peer: "c0"},
		{At: 50, Actor: "r0", What: send("a message"), Peer: "c1"},
		{At: 70, Actor: "c0", What: trace.Receive{Conn: "#1", Bytes: 5}, Peer: "r0"},
		{At: 71, Actor: "c0", What: point("checked")},
		{At: 72, Actor: "c0", What: point("Checked?")},
		{At: 73, Actor: "c0", What: point("checked")},
		{At: 73, Actor: "c0", What: send("READ"), Peer: "s0"},
		{At: 73, Actor: "c0", What: send("GET"), Peer: "r1"},
		{At: 80, Actor: "r0", What: trace.Expire{Key: "k"}},
		{At: 90, Actor: "r0", What: trace.Apply{Effects: trace.Text("k")}, Peer: "r0a"},
		{At: 95, Actor: "s0", What: trace.Decision{Conn: "#1", Resource: "order", Register: "balance", Op: "c0.r1"},
			Peer: "c0"},
		{At: 99, Actor: "probe", What: trace.Connect{}, Peer: "r0"},
		{At: 100, Actor: "r0", What: served, Peer: "probe"},
	} {
		t.Add(e)
	}
	return t
}

// describe is a boundary in short: its time, when a fault strikes before it, and
// its kind.
func (b boundary) describe() string {
	text := fmt.Sprintf("%d<%d %s", b.strike, b.at, []string{"send", "answer", "receive", "point", "expire",
		"apply"}[b.what])
	if b.client != "" {
		text += " " + b.client
	}
	if b.node != "" {
		text += " " + b.node
	}
	if b.event != nil {
		text += fmt.Sprintf(" %s/%d", b.event.Name, b.event.Nth)
	}
	return text
}

func TestBoundaries(t *testing.T) {
	var got []string
	for _, b := range boundaries(handMade()) {
		got = append(got, b.describe())
	}
	want := []string{
		"9<10 point c0 acquire/1", "29<30 send c0 r0", "49<50 answer c0 r0", "49<50 answer c1 r0", "69<70 receive c0 r0",
		"71<71 point c0 checked/1", "72<72 point c0", "73<73 point c0 checked/2", "73<73 send c0 s0", "73<73 send c0 r1",
		"79<80 expire r0", "89<90 apply r0", "94<95 answer c0 s0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Each kind is placed at the boundaries of the trace that this list has, made by hand.
func TestPlacements(t *testing.T) {
	p := placer{kinds: kindsOf(nil, nil), ttl: time.Second, readers: []string{"c0"}}
	places := p.place(boundaries(handMade()))
	got := map[string][]string{}
	for _, x := range places.All {
		got[x.Kind] = append(got[x.Kind], fmt.Sprintf("%d %s", x.at, x.target))
	}
	c0 := []string{"9 c0", "29 c0", "69 c0", "71 c0", "72 c0", "73 c0"}
	links := []string{"29 c0-r0", "49 c0-r0", "49 c1-r0", "73 c0-s0", "73 c0-r1", "94 c0-s0"}
	node := []string{"49 r0", "79 r0", "89 r0"}
	want := map[string][]string{
		"pause": c0, "crash": {"9 c0", "29 c0", "71 c0", "72 c0", "73 c0"},
		"partition": slices.Concat(links, links), "lose_reply": {"49 c0-r0", "49 c1-r0", "94 c0-s0"},
		"clock_jump": slices.Concat(c0, c0, node, node), "node-crash": {"49 r0", "51 r0", "79 r0", "81 r0", "89 r0"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if places.Boundaries != 13 {
		t.Errorf("%d boundaries, want 13", places.Boundaries)
	}
}

// The fault of a placement at a point waits for the point, every other fault has a time.
func TestPlacedFaults(t *testing.T) {
	var got []string
	for _, k := range slices.Concat(kindsOf(nil, nil),
		kindsOf([]lock.Fault{lock.FaultRestart, lock.FaultPower, lock.FaultNodePower, lock.FaultScripts}, nil)) {
		p := placer{kinds: []faultKind{k}, ttl: 10 * time.Second}
		all := p.place(boundaries(handMade())).All
		if i := slices.IndexFunc(all, func(x Placement) bool { return x.at == 73 || x.at == 49 }); i >= 0 {
			got = append(got, all[i].Kind, all[i].String())
		}
	}
	want := []string{
		"pause", "pause c0 for 15s, when c0 passes checked for the 2nd time",
		"crash", "crash c0 (process), when c0 passes checked for the 2nd time",
		"partition", "cut c0 off from r0 for 15s (hold, both), at 49ns",
		"partition", "cut c0 off from r0 for 15s (drop, both), at 49ns",
		"lose_reply", "lose the next reply to c0 from r0, at 49ns",
		"clock_jump", "set the clock of r0 forward by 11s, at 49ns",
		"clock_jump", "set the clock of r0 back by 11s, at 49ns",
		"node-crash", "crash r0 (process), at 49ns; restart r0, at 100.000049ms",
		"restart", "crash c0 (process), when c0 passes checked for the 2nd time; restart c0, at 100.000073ms",
		"power", "crash c0 (power), when c0 passes checked for the 2nd time",
		"node-power", "crash r0 (power), at 49ns; restart r0, at 100.000049ms",
		"scripts", "flush the scripts of r0, at 49ns",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// small is a scenario whose sweep is quick.
func small(t *testing.T, kind string, rounds int) (*file.Scenario, subject.Lock) {
	t.Helper()
	sc := file.Defaults()
	sc.Name, sc.Lock.Kind, sc.Lock.TTL = "small", kind, time.Second
	sc.Lock.Backoff = file.Range{Min: 60 * time.Millisecond, Max: 120 * time.Millisecond}
	sc.Workload.Rounds, sc.Workload.Hold, sc.Workload.Think = rounds, 200*time.Millisecond, 100*time.Millisecond
	l, err := redislocks.Kind(kind)
	if err != nil {
		t.Fatal(err)
	}
	l.Promise = lock.Promise{}
	return calm(sc, l), l
}

// calm is a scenario for a lock without its faults.
func calm(sc *file.Scenario, l subject.Lock) *file.Scenario {
	out := *sc
	out.Faults, out.Expect, out.Locks, out.Lock.Kind = nil, nil, nil, l.Name
	subject.Equip(&out.World, l)
	return &out
}

// swept is a scenario's run without faults, and its boundaries.
func swept(t *testing.T, sc *file.Scenario, l subject.Lock) (*outcome.ModeRun, []boundary) {
	t.Helper()
	o, broken, err := play.Try(l, sc, 1)
	if err != nil || len(broken) > 0 {
		t.Fatal(broken, err)
	}
	return &o.Modes[0], boundaries(o.Modes[0].Trace)
}

// uncovered looks in the trace for an event of a client without a boundary.
func uncovered(tr *trace.Trace, found []boundary) string {
	for _, e := range tr.Events {
		of := strings.TrimPrefix(e.Actor, "c") != e.Actor || strings.HasPrefix(e.Peer, "c") && e.Actor != "world"
		at := func(b boundary) bool {
			return b.at == e.At && (b.client == e.Actor || b.client == e.Peer) && (b.node == e.Actor || b.node == e.Peer)
		}
		if of && !slices.ContainsFunc(found, at) {
			return e.String()
		}
	}
	return ""
}

// Every message of a client, sent or delivered, and every point is a boundary. The
// check detects an enumerator that leaves out one kind of them.
func TestBoundariesAreComplete(t *testing.T) {
	for _, kind := range []string{"fenced", "redlock", "fair"} {
		sc, l := small(t, kind, 2)
		run, found := swept(t, sc, l)
		if missing := uncovered(run.Trace, found); missing != "" {
			t.Errorf("%s: there is no boundary at %s", kind, missing)
		}
		for _, what := range []boundaryKind{sending, answering, receiving, pointing} {
			mutant := slices.DeleteFunc(slices.Clone(found), func(b boundary) bool { return b.what == what })
			if uncovered(run.Trace, mutant) == "" {
				t.Errorf("%s: the missing boundaries of kind %d are not detected", kind, what)
			}
		}
	}
}

// before describes a mistake in when a placement strikes: up to there the run must
// equal the one without faults, which goes on with the boundary.
func before(calm, placed *trace.Trace, p Placement, at time.Duration) string {
	n := slices.IndexFunc(placed.Events, func(e trace.Event) bool { return e.Actor == "world" })
	if n < 0 {
		return "no fault has struck"
	}
	for i, e := range placed.Events[:n] {
		point := p.faults[0].When != nil && i == n-1
		if i >= len(calm.Events) || calm.Events[i].Kind() != e.Kind() || calm.Events[i].Text() != e.Text() ||
			calm.Events[i].At >= at && !point {
			return fmt.Sprintf("%v comes before it", e)
		}
	}
	if p.faults[0].When != nil {
		return ""
	}
	if next := calm.Events[n]; next.At < at {
		return fmt.Sprintf("%v comes after it, and the boundary is at %v", next, at)
	}
	return ""
}

// A fault strikes after everything that precedes its boundary, and before
// everything that happens there.
func TestPlacementsStrikeBefore(t *testing.T) {
	soak.Only(t, "it takes many runs")
	for _, kind := range []string{"single", "redlock", "broken/get-then-del"} {
		sc, l := small(t, kind, 1)
		run, found := swept(t, sc, l)
		for _, b := range found {
			pl := placer{kinds: kindNamed(t, "pause"), ttl: time.Second}
			for _, p := range pl.place([]boundary{b}).All {
				o, _, err := play.Try(l, p.Scenario(sc), 1)
				if err != nil {
					t.Fatal(err)
				}
				if problem := before(run.Trace, o.Modes[0].Trace, p, b.at); problem != "" {
					t.Fatalf("%s: %v: %s", kind, p, problem)
				}
				if late := (Placement{faults: []faults.Fault{{At: b.at + 1,
					Action: p.faults[0].Action}}}); p.faults[0].When == nil {
					o, _, _ := play.Try(l, late.Scenario(sc), 1)
					if before(run.Trace, o.Modes[0].Trace, late, b.at) == "" {
						t.Fatalf("%s: it is not detected that %v is too late", kind, late)
					}
				}
			}
		}
	}
}

func kindNamed(t *testing.T, name string) []faultKind {
	t.Helper()
	classes, kinds, err := spaces.NamedFaults([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	return kindsOf(classes, kinds)
}

// A placement that is left out as equivalent has the same result as the placement
// that replaces it: the next one of the same target or, for a restart, the one
// before, which is after the last command. One without a later placement has no
// effect.
func TestLeftOutIsEquivalent(t *testing.T) {
	soak.Only(t, "it takes many runs")
	for _, lockKind := range []string{"single", "fenced"} {
		sc, l := small(t, lockKind, 1)
		_, found := swept(t, sc, l)
		for _, k := range kindsOf(nil, nil) {
			if k.class() == lock.FaultWallClock {
				continue
			}
			pl := placer{kinds: []faultKind{k}, ttl: time.Second}
			all := pl.place(found).All
			for _, b := range found {
				target := k.target(b)
				if target == "" || slices.Contains(k.distinguishes, b.what) {
					continue
				}
				left := Placement{Kind: k.name(), target: target, at: b.strike, faults: pl.faults(k, b, b.strike)}
				if got, want := ending(t, l, sc, left), standIns(t, l, sc, all, left); !slices.Contains(want, got) {
					t.Errorf("%s: %v: %s, and with the placement that replaces it: %s", lockKind, left, got, want)
				}
			}
		}
	}
}

// standIns are the results of the placements that replace one that was left out.
func standIns(t *testing.T, l subject.Lock, sc *file.Scenario, all []Placement, left Placement) []string {
	t.Helper()
	next := "no violation"
	for _, p := range slices.Backward(all) {
		switch {
		case p.target != left.target:
		case p.at >= left.at:
			next = ending(t, l, sc, p)
		case left.restarts():
			return []string{next, ending(t, l, sc, p)}
		}
	}
	return []string{next}
}

// ending is the result of a placement.
func ending(t *testing.T, l subject.Lock, sc *file.Scenario, p Placement) string {
	t.Helper()
	o, broken, err := play.Try(l, p.Scenario(sc), 1)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	if slices.Contains(o.Modes[0].FaultsFired, false) || len(broken) == 0 {
		return "no violation"
	}
	return fmt.Sprint(broken)
}

// A jump of a clock that is not read does not change the run.
func TestIdleClocks(t *testing.T) {
	sc, l := small(t, "single", 1)
	run, found := swept(t, sc, l)
	if len(run.WallClocks) > 0 {
		t.Fatalf("%v read their wall clocks", run.WallClocks)
	}
	p := placer{kinds: kindNamed(t, "wall-clock"), ttl: time.Second, readers: []string{"c0", "c1"}}
	for _, x := range p.place(found).All {
		o, _, err := play.Try(l, x.Scenario(sc), 1)
		if err != nil {
			t.Fatal(err)
		}
		// The clock that jumps is a step of its own, so that later positions are others.
		if diff := cmp.Diff(run.Verdict, o.Modes[0].Verdict, cmpopts.IgnoreFields(checker.Slack{}, "At")); diff != "" {
			t.Errorf("%v: %s", x, diff)
		}
	}
	wall := subject.Lock{Name: "wall", New: func(e subject.Env) (lock.Locker, error) {
		_ = e.WallClock().Now()
		return l.New(e)
	}}
	if run, _ := swept(t, sc, wall); !slices.Equal(run.WallClocks, []string{"c0", "c1"}) {
		t.Errorf("%v read their wall clocks, want both", run.WallClocks)
	}
}

// Each class and kind of fault that a search can be told is placed where it is named,
// in valid scenarios, and by no other name than these. Hyphens and underscores are
// one letter.
func TestEveryNameIsPlaced(t *testing.T) {
	sc, l := small(t, "fenced", 1)
	sc.World.Replicas = 1
	run, found := swept(t, sc, l)
	for _, name := range spaces.FaultNames() {
		if name == "sentinel_failover" {
			watched := *run.Trace
			watched.Servers = append(slices.Clone(watched.Servers), trace.Server{Name: "sen0", Kind: "sentinel",
				Role: trace.RoleWatcher}, trace.Server{Name: "rc0", Kind: "cluster", Role: trace.RoleSingle})
			found = boundaries(&watched)
		}
		if name == "leave" || name == "end_session" { // as if r0 was a member
			members := *run.Trace
			members.Servers = slices.Clone(members.Servers)
			for i := range members.Servers {
				if members.Servers[i].Name == "r0" {
					members.Servers[i].Role = trace.RoleMember
				}
			}
			found = boundaries(&members)
		}
		p := placer{kinds: kindNamed(t, name), ttl: sc.Lock.TTL, readers: []string{"c0", "c1"}}
		places := p.place(found).All
		world := sc.Clone()
		switch name {
		case "leave", "end_session":
			world.World.Redis = 0
			world.World.Servers = []file.ServerCount{{Facts: server.Facts{Name: "etcd", Prefix: "r", Leader: "leader"},
				Count: 1}}
		case "sentinel_failover":
			world.World.Servers = []file.ServerCount{{Facts: server.Facts{Name: "sentinel", Prefix: "sen", Watches: true},
				Count: 3}}
		case "cluster_failover", "move_slot":
			world.World.Servers = []file.ServerCount{{Facts: server.Facts{Name: "cluster", Prefix: "rc", Cluster: true},
				Count: 6}}
		}
		if len(places) == 0 {
			t.Errorf("%s is placed nowhere", name)
		}
		for _, x := range places {
			last := x.faults[len(x.faults)-1].Action
			if class := string(faults.ClassIn(x.faults, last)); class != name && last.Kind() != name {
				t.Errorf("%s has placed %v, a %s", name, x, class)
			}
			if err := x.Scenario(world).Validate(); err != nil || !slices.Contains(spaces.FaultNames(), x.Kind) {
				t.Errorf("%v, called %s: %v", x, x.Kind, err)
			}
		}
		for _, spelling := range []string{strings.ReplaceAll(name, "-", "_"), strings.ReplaceAll(name, "_", "-")} {
			if got := len(kindNamed(t, spelling)); got != len(p.kinds) {
				t.Errorf("%s has %d kinds, %s has %d", spelling, got, name, len(p.kinds))
			}
		}
	}
	var unasked []string
	for _, k := range Kinds() {
		if !slices.Contains(spaces.FaultNames(), k.Name) {
			t.Errorf("no search takes the name %s", k.Name)
		}
		if k.Unasked {
			unasked = append(unasked, k.Name)
		}
	}
	if want := []string{"pause", "crash", "partition", "lose_reply", "clock_jump", "node-crash"}; !slices.Equal(unasked,
		want) {
		t.Errorf("unasked are placed %v, want %v", unasked, want)
	}
}

// The published weakness of get-then-del is the moment between its two commands:
// only a sweep that places faults at points pauses it there.
func TestSweepReachesPoints(t *testing.T) {
	sc, err := file.Load("get-then-del")
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Kind("broken/get-then-del")
	if err != nil {
		t.Fatal(err)
	}
	run, found := swept(t, calm(sc, l), l)
	p := placer{kinds: kindNamed(t, "pause"), ttl: sc.Lock.TTL, readers: run.WallClocks}
	want := sc.Faults[0].When
	if want == nil || !slices.ContainsFunc(p.place(found).All, func(x Placement) bool {
		return x.faults[0].When != nil && x.faults[0].When.Name == want.Name
	}) {
		t.Errorf("no pause is placed at %v", want)
	}
}
