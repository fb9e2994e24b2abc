package main

import (
	"slices"
	"strings"
	"testing"

	"locksim/internal/testleaders"
	"locksim/internal/testruns"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
)

// The table of docs/how-to/leaders.md is what the runs show. With -update it is made anew; without LOCKSIM_SOAK=1 the
// row of one lock is compared. Where there is no lock nobody leads.
func TestDocsOfLeaders(t *testing.T) {
	var all []subject.Lock
	for _, name := range kinds.Names() {
		all = append(all, testruns.Kind(t, name))
	}
	right := slices.DeleteFunc(locks(), func(l subject.Lock) bool {
		return strings.HasPrefix(l.Name, kinds.BrokenPrefix) || l.Promise.Unlocked
	})
	testleaders.Table{
		Page: "../../docs/how-to/leaders.md", Begin: "<!-- leaders -->", Locks: append(all, right...),
		Some: []string{"fenced"}, Missing: testruns.WithoutPostgres,
		Again: "go test ./cmd/locksim -run DocsOfLeaders -update",
	}.Test(t, *update)
}
