package sqllocks_test

import (
	"slices"
	"testing"

	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/sweep"
	"locksim/sim/trace"
)

// A sweep strikes the database: it crashes, and its clock jumps. It said "no violation" of SQL when it had struck no
// server.
func TestSweepStrikesTheDatabase(t *testing.T) {
	l, err := redislocks.Find("sql-advisory", sqllocks.All())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Missing(); err != nil {
		t.Skip(err)
	}
	sc := file.Defaults()
	sc.Name, sc.Lock.Kind, sc.Workload.Rounds = "small", l.Name, 1
	plan, err := sweep.NewPlan(sc, l, sweep.Options{Seed: 1, Judge: explorations.JudgeEverything,
		Faults: []lock.Fault{"node-crash", "node-clock", "evict"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Servers) != 1 || plan.Servers[0].Name != "p0" || plan.Servers[0].Role != trace.RoleSingle ||
		plan.Servers[0].Placements != plan.Placements {
		t.Errorf("%d placements, on %+v", plan.Placements, plan.Servers)
	}
	want := []sweeps.Unplaced{{Fault: "evict", Servers: []string{"p0"}, Why: "postgres servers have nothing that this " +
		"could strike"}}
	if !slices.EqualFunc(plan.Unplaced, want, func(a, b sweeps.Unplaced) bool { return a.String() == b.String() }) {
		t.Errorf("not placed: %v", plan.Unplaced)
	}
}
