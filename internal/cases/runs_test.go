package cases_test

import (
	"path/filepath"
	"testing"

	"locksim/checker"
	"locksim/internal/cases"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/play"
)

// find is the lock of that name.
func find(t *testing.T, name string) scenarios.Lock {
	t.Helper()
	for _, l := range cases.All() {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("there is no case %s", name)
	return scenarios.Lock{}
}

// load is the scenario file of that name.
func load(t *testing.T, name string, l scenarios.Lock) *scenarios.Scenario {
	t.Helper()
	sc, err := scenarios.Load(filepath.Join("scenarios", name+".yaml"), l)
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// Every case is a lock that can be played.
func TestAll(t *testing.T) {
	for _, l := range cases.All() {
		if err := l.Validate(); err != nil {
			t.Error(err)
		}
	}
	load(t, "renewal-answered-late", find(t, "mine"))
}

// Each replica runs the job of the hour, and none is to blame but the one that did not ask
// whether it has run.
func TestTick(t *testing.T) {
	single, err := play.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	out, err := play.Run(load(t, "tick", single), single, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	if err != nil {
		t.Fatal(err)
	}
	v := out.Modes[0].Verdict
	if v.Label != checker.Repeated || v.Facts.Recomputed != 2 {
		t.Errorf("%s, %d more runs than one: want %s and 2", v.Label, v.Facts.Recomputed, checker.Repeated)
	}
}
