package main

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"locksim/internal/testleaders"
	"locksim/scenarios"
)

var update = flag.Bool("update", false, "write the tables of leaders and settings anew")

// right are the locks that are not wrong on purpose, without what is none.
func right() []scenarios.Lock {
	return slices.DeleteFunc(locks(), func(l scenarios.Lock) bool {
		return strings.HasPrefix(l.Name, "broken/") || l.Promise.Unlocked
	})
}

// The second table of docs/how-to/leaders.md is what the runs show. With -update it is made anew; without
// LOCKSIM_SOAK=1 the row of one lock is compared.
func TestDocsOfLeaders(t *testing.T) {
	testleaders.Table{
		Page: "../../../docs/how-to/leaders.md", Begin: "<!-- leaders of examples/leases -->", Locks: right(),
		Some: []string{"kube-lease"}, Again: "go test ./cmd -run DocsOfLeaders -update, in examples/leases",
	}.Test(t, *update)
}

// docs/reference/compare-leases.md has all locks of this module: make compare writes it.
func TestComparisonHasEachLock(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/compare-leases.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range right() {
		if !strings.Contains(string(page), "\n### "+l.Name+"\n") {
			t.Errorf("docs/reference/compare-leases.md has no section of %s: run make compare", l.Name)
		}
	}
}
