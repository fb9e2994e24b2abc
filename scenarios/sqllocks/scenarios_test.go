package sqllocks_test

import (
	"maps"
	"os"
	"slices"
	"testing"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/file"
	"locksim/scenarios/sqllocks"
)

// No label is worse than the expected one, for each scenario of the library and lock, in two modes. With LOCKSIM_SOAK=1 it is
// so in each mode, the worst of the seeds 1 to 20 is that one, and each run is played twice.
func TestScenarios(t *testing.T) {
	needsServer(t)
	all, err := file.Library()
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, sc := range all {
		for _, l := range sqllocks.All() {
			if slices.Contains(sc.LockNames(), l.Name) {
				played++
				t.Run(sc.Name+" "+l.Name, func(t *testing.T) { meets(t, sc, l) })
			}
		}
	}
	if played == 0 {
		t.Error("no scenario of the library names one of these locks")
	}
}

// meets plays a scenario with a lock, and compares the worst labels with the expected ones.
func meets(t *testing.T, sc *scenarios.Scenario, l scenarios.Lock) {
	t.Helper()
	want := sc.Expect[l.Name]
	modes := slices.Sorted(maps.Keys(want))
	seeds, options := uint64(1), scenarios.RunOptions{Modes: modes, Alone: true}
	full := os.Getenv("LOCKSIM_SOAK") == "1"
	if !full {
		i := slices.Index(modes, fence.None)
		options.Modes = []fence.Mode{fence.None, slices.Delete(slices.Clone(modes), i, i+1)[0]}
	} else {
		seeds, options = 20, scenarios.RunOptions{Modes: modes, Repeat: scenarios.Twice}
	}
	worst := map[fence.Mode]checker.Label{}
	for seed := uint64(1); seed <= seeds; seed++ {
		options.Seed = seed
		o, err := scenarios.Run(sc, l, options)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, m := range o.Modes {
			if got := m.Verdict.Label; worst[m.Mode] == "" || got.Severity() > worst[m.Mode].Severity() {
				worst[m.Mode] = got
				if got.Severity() > want[m.Mode].Severity() {
					t.Errorf("seed %d, %s: %s: %s", seed, m.Mode, got, m.Verdict.Reasons[0].Text)
				}
			}
		}
	}
	for mode, label := range want {
		if full && worst[mode] != label {
			t.Errorf("%s: the worst is %s, want %s", mode, worst[mode], label)
		}
	}
}
