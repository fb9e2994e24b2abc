package compare

import (
	"maps"
	"slices"
	"testing"

	"locksim/scenarios/kinds/server"
	"locksim/scenarios/subject"
)

// A lock depends on every member of a group with a leader, and not only on those that its client asked.
func TestReached(t *testing.T) {
	group := subject.ServerKind{Facts: server.Facts{Name: "group", Prefix: "m", Leader: "head"}}
	behind := subject.ServerKind{Facts: server.Facts{Name: "behind", Prefix: "b", Behind: true}}
	alone := subject.ServerKind{Facts: server.Facts{Name: "alone", Prefix: "a"}}
	asked := map[string]bool{"m1": true, "a0": true}
	reached(subject.Lock{Traits: subject.Traits{Servers: []subject.Servers{{Kind: group, Count: 3},
		{Kind: behind, Count: 1}, {Kind: alone, Count: 2}}}},
		asked)
	if got, want := slices.Sorted(maps.Keys(asked)), []string{"a0", "b0", "m0", "m1", "m2"}; !slices.Equal(got, want) {
		t.Errorf("it reaches %v, want %v", got, want)
	}
}
