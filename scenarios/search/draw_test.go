package search_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"locksim/faults"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// simplest are the choices with which a shrinker ends.
type simplest struct{}

func (simplest) Below(int) int { return 0 }

// For any choices a scenario is valid, stays in its space, and is the same after it
// was written to a file and read back.
func TestDrawnScenariosAreValid(t *testing.T) {
	all := testruns.Spaces(t)
	rapid.Check(t, func(t *rapid.T) {
		space := rapid.SampledFrom(all).Draw(t, "space")
		sc := search.Draw(testruns.Choices{T: t}, space)
		if err := sc.Validate(); err != nil {
			t.Fatal(err)
		}
		stays(t, sc, space)
		source, err := file.Format(sc)
		if err != nil {
			t.Fatal(err)
		}
		again, err := file.Parse("drawn.yaml", source)
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		if diff := cmp.Diff(sc, again, testruns.SameStory()); diff != "" {
			t.Fatalf("after Format (-before +after):\n%s\n%s", diff, source)
		}
	})
}

// stays checks that a scenario is within its space.
func stays(t *rapid.T, sc *file.Scenario, space spaces.Space) {
	space = space.WithDefaults()
	w := sc.World
	if w.Redis != space.Redis || w.Replicas > space.Replicas || w.Clients < space.Clients.Min ||
		w.Clients > max(space.Clients.Max, space.Crowd) {
		t.Fatalf("world %+v of %+v", w, space)
	}
	longest := space.TTL.Max
	if space.TTL == (spaces.Space{}).WithDefaults().TTL {
		longest = 10 * time.Minute // rarely
	}
	if ttl := sc.Lock.TTL; ttl < space.TTL.Min || ttl > longest || sc.Lock.Kind != space.Lock {
		t.Fatalf("lock %+v of %+v", sc.Lock, space)
	}
	for _, f := range sc.Faults {
		if space.Faults != nil && !slices.Contains(space.Faults, faults.ClassIn(sc.Faults, f.Action)) {
			t.Fatalf("%v is not among %v", f, space.Faults)
		}
	}
	tilted := 0 // the clocks of all that take part: one trouble
	for _, f := range sc.Faults {
		if _, ok := f.Action.(faults.ClockDrift); ok && f.When == nil && f.At == 0 {
			tilted++
		}
	}
	if n := len(sc.Faults) - max(0, tilted-1); n > 2*space.MaxFaults {
		t.Fatalf("%d faults of at most %d", n, space.MaxFaults)
	}
}

// The same seed draws the same scenario, another seed another.
func TestDrawDependsOnTheSeedAlone(t *testing.T) {
	for _, space := range testruns.Spaces(t) {
		seen := map[string]bool{}
		for seed := range uint64(50) {
			a, b := drawnText(t, seed, space), drawnText(t, seed, space)
			if a != b {
				t.Fatalf("seed %d:\n%s\nthen\n%s", seed, a, b)
			}
			seen[a] = true
		}
		if len(seen) < 45 {
			t.Errorf("%s: 50 seeds drew %d scenarios", space.Lock, len(seen))
		}
	}
}

func drawnText(t *testing.T, seed uint64, space spaces.Space) string {
	t.Helper()
	source, err := file.Format(search.Draw(spaces.Seeded(seed), space))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// Without a promise every kind of action is drawn that a space need not name. The
// runs differ in their kinds: some lack a kind that others have many times.
func TestDrawIsASwarm(t *testing.T) {
	space := testruns.Spaces(t)[0]
	drawn := map[string]int{}
	most := 0
	for seed := range uint64(500) {
		here := map[string]int{}
		for _, f := range search.Draw(spaces.Seeded(seed), space).Faults {
			here[f.Action.Kind()]++
			most = max(most, here[f.Action.Kind()])
		}
		for kind := range here {
			drawn[kind]++
		}
	}
	for _, k := range faults.Kinds() {
		if n := drawn[k.Name]; search.ByHand(k.Name) && n == 0 || n > 450 {
			t.Errorf("%s is in %d of 500 schedules", k.Name, n)
		}
	}
	if most < 5 {
		t.Errorf("no schedule has a kind more than %d times", most)
	}
}

// Each restart follows a crash of the same process.
func TestDrawnRestartsFollowCrashes(t *testing.T) {
	space := testruns.Spaces(t)[0]
	restarts := 0
	for seed := range uint64(500) {
		for _, f := range search.Draw(spaces.Seeded(seed), space).Faults {
			r, ok := f.Action.(faults.Restart)
			if !ok {
				continue
			}
			restarts++
			if !slices.ContainsFunc(search.Draw(spaces.Seeded(seed), space).Faults, func(g faults.Fault) bool {
				c, ok := g.Action.(faults.Crash)
				return ok && c.Process == r.Process && cmp.Equal(g.When, f.When) && g.At+g.After < f.At+f.After
			}) {
				t.Errorf("seed %d: %v without a crash", seed, f)
			}
		}
	}
	if restarts == 0 {
		t.Error("no schedule has a restart")
	}
}

// There is a stable period between faults of one kind that strike at times.
func TestDrawnFaultsLeaveTimeBetween(t *testing.T) {
	space := spaces.Space{Faults: []lock.Fault{lock.FaultPause}, MaxFaults: 8}
	for seed := range uint64(200) {
		sc := search.Draw(spaces.Seeded(seed), space)
		end := time.Duration(-1)
		for _, f := range sc.Faults {
			if f.When != nil {
				continue
			}
			if end >= 0 && f.At < end+sc.Lock.TTL/2-time.Millisecond {
				t.Fatalf("seed %d: %v begins less than half a TTL after %v", seed, f, end)
			}
			end = f.At + f.Action.(faults.Pause).For
		}
	}
}

// The simplest scenario is short and has one pause.
func TestSimplestScenario(t *testing.T) {
	for _, space := range testruns.Spaces(t) {
		sc := search.Draw(simplest{}, space)
		want := min(len(space.Faults), 1)
		if space.Faults == nil {
			want = 1
		}
		if len(sc.Faults) != want || sc.World.Clients != 2 || sc.Workload.Rounds != 2 {
			t.Errorf("%s: %d faults, %d clients, %d rounds", space.Lock, len(sc.Faults), sc.World.Clients, sc.Workload.Rounds)
		}
		if want == 1 && sc.Faults[0].Action.Kind() != "pause" {
			t.Errorf("%s: %v", space.Lock, sc.Faults[0])
		}
	}
}

func TestSpaceValidate(t *testing.T) {
	err := spaces.Space{
		Redis: 10, Replicas: 4, Clients: spaces.Span{Min: 0, Max: 3}, Rounds: spaces.Span{Min: 3, Max: 2},
		TTL:    file.Range{Min: time.Millisecond, Max: 1500 * time.Microsecond},
		Faults: []lock.Fault{"rain"}, MaxFaults: -1, Nested: 9, Points: []string{"A b"},
	}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, field := range []string{"Redis 10", "Replicas 4", "Clients 0..3: give numbers from 1 to 64",
		"Rounds 3..2: give numbers", "TTL 1ms..1.5ms: give a range", "whole milliseconds", `"rain"`, "MaxFaults -1",
		"Nested 9", "points: "} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("%q is not in %v", field, err)
		}
	}
	if err := (spaces.Space{}).Validate(); err != nil {
		t.Errorf("the zero space: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Draw accepted an invalid space")
		}
	}()
	search.Draw(spaces.Seeded(1), spaces.Space{MaxFaults: -1})
}

// A kind that the space names is drawn, alone or with its classes. It does not
// change the draws from spaces that do not name it. Faults that are drawn by their
// forms are valid too.
func TestDrawnKinds(t *testing.T) {
	for _, k := range faults.Kinds() {
		space := spaces.Space{Faults: []lock.Fault{}, Kinds: []string{k.Name}, Redis: 3, Replicas: 2}
		if k.Name == "restart" { // a restart needs a crash
			space.Kinds = append(space.Kinds, "crash")
		}
		switch k.Needs() {
		case faults.Watchers:
			space.Servers = []file.ServerCount{{Facts: server.Facts{Name: "sentinel", Prefix: "sen", Watches: true}, Count: 3}}
		case faults.Members:
			space.Servers = []file.ServerCount{{Facts: server.Facts{Name: "etcd", Prefix: "e", Leader: "leader"}, Count: 3}}
		case faults.ClusterNodes:
			space.Servers = []file.ServerCount{{Facts: server.Facts{Name: "cluster", Prefix: "rc", Leader: "owner",
				Cluster: true, Lacks: []string{"end_session", "leave"}}, Count: 6}}
		}
		drawn := 0
		for seed := range uint64(100) {
			sc := search.Draw(spaces.Seeded(seed), space)
			if err := sc.Validate(); err != nil {
				t.Fatalf("%s, seed %d: %v", k.Name, seed, err)
			}
			for _, f := range sc.Faults {
				if !slices.Contains(space.Kinds, f.Action.Kind()) {
					t.Errorf("%s, seed %d: %v", k.Name, seed, f)
				}
				if f.Action.Kind() == k.Name {
					drawn++
				}
			}
		}
		if drawn == 0 {
			t.Errorf("no schedule has a %s", k.Name)
		}
	}
	if err := (spaces.Space{Kinds: []string{"paus"}}).Validate(); err == nil ||
		!strings.Contains(err.Error(), "did you mean pause") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// A search for one class of crash draws crashes of that mode alone.
func TestCrashesAndLossesOfPowerAreTwoClasses(t *testing.T) {
	for class, mode := range map[lock.Fault]faults.CrashMode{
		lock.FaultCrash: faults.CrashProcess, lock.FaultPower: faults.CrashPower,
		lock.FaultNodeCrash: faults.CrashProcess, lock.FaultNodePower: faults.CrashPower,
	} {
		crashes, restarts := 0, 0
		for seed := range uint64(100) {
			sc := search.Draw(spaces.Seeded(seed), spaces.Space{Faults: []lock.Fault{class}})
			for _, f := range sc.Faults {
				if got := faults.ClassIn(sc.Faults, f.Action); got != class {
					t.Fatalf("seed %d, for %s: %v is %s", seed, class, f, got)
				}
				switch a := f.Action.(type) {
				case faults.Crash:
					crashes++
					if a.Mode != mode {
						t.Fatalf("seed %d, for %s: %v", seed, class, f)
					}
				case faults.Restart:
					restarts++
				}
			}
		}
		back := class == lock.FaultNodeCrash || class == lock.FaultNodePower // a client that comes back is "restart"
		if crashes < 50 || back != (restarts > 0) {
			t.Errorf("for %s: %d crashes, %d restarts", class, crashes, restarts)
		}
	}
}

// A space whose clocks agree has the scenarios of one whose clocks may not, but for that.
func TestSameClocks(t *testing.T) {
	skewed := 0
	for seed := range uint64(300) {
		space := spaces.Space{Faults: []lock.Fault{lock.FaultPause}}
		draw := func() *file.Scenario { return search.Draw(spaces.Seeded(seed), space) }
		differ := draw()
		space.SameClocks = true
		agree := draw()
		if agree.World.Skew != 0 {
			t.Fatalf("seed %d: a skew of %v", seed, agree.World.Skew)
		}
		if differ.World.Skew != 0 {
			skewed++
		}
		differ.World.Skew = 0
		if d := cmp.Diff(differ, agree, testruns.SameStory()); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
	}
	if skewed < 20 {
		t.Errorf("%d of 300 scenarios have clocks that disagree", skewed)
	}
}
