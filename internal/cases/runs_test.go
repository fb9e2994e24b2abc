package cases_test

import (
	"path/filepath"
	"testing"

	"locksim/internal/cases"
	"locksim/scenarios"
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
