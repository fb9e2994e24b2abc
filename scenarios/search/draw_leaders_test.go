package search_test

import (
	"math/rand/v2"
	"testing"

	"locksim/scenarios/file"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// intN makes choices of a source of random numbers.
type intN struct{ *rand.Rand }

func (r intN) Below(n int) int { return r.IntN(n) }

// A space of leaders has terms of several lengths, and leaders that take time to stop.
func TestDrawLeaders(t *testing.T) {
	terms, slow := map[int]int{}, 0
	for seed := range uint64(100) {
		sc := search.Draw(intN{rand.New(rand.NewPCG(seed, 0))},
			spaces.Space{Workloads: []file.WorkloadKind{file.WorkloadLeader}})
		if err := sc.Validate(); err != nil || !sc.Workload.Leads() {
			t.Fatalf("seed %d: %+v, %v", seed, sc.Workload, err)
		}
		terms[sc.Workload.Ticks]++
		if sc.Workload.Stop > 0 {
			slow++
		}
	}
	if len(terms) < 3 || slow < 20 || slow > 50 {
		t.Errorf("terms %v, and %d leaders of 100 take time to stop", terms, slow)
	}
}
