package etcdlocks_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
)

// No label is worse than the expected one, for each scenario, lock and mode. With LOCKSIM_SOAK=1 the worst of the seeds
// 1 to 20 is that one, and each run is played twice.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scenarios: %v", len(files), err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range etcdlocks.All() {
			sc, err := scenarios.Parse(path, data, l)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(sc.LockNames(), l.Name) {
				continue
			}
			t.Run(sc.Name+" "+l.Name, func(t *testing.T) { meets(t, sc, l) })
		}
	}
}

// meets plays a scenario with a lock, and compares the worst labels with the expected ones.
func meets(t *testing.T, sc *scenarios.Scenario, l scenarios.Lock) {
	t.Helper()
	want := sc.Expect[l.Name]
	modes := slices.Sorted(maps.Keys(want))
	seeds, options := uint64(2), scenarios.RunOptions{Modes: modes, Alone: true}
	full := os.Getenv("LOCKSIM_SOAK") == "1"
	if full {
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
