package clusterlocks_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios"
	"locksim/scenarios/clusterlocks"
)

// BenchmarkRun is complete runs of one mode: a pause beyond the lease, on a plain node and in a Redis Cluster,
// and a failover.
func BenchmarkRun(b *testing.B) {
	plain, err := scenarios.Kind("fenced")
	if err != nil {
		b.Fatal(err)
	}
	clustered := clusterlocks.Lock("fenced")
	for _, c := range []struct {
		scenario string
		l        scenarios.Lock
	}{{"gc-pause", plain}, {"gc-pause", clustered}, {"cluster-failover", clustered}} {
		sc, err := scenarios.Load(c.scenario, c.l)
		if err != nil {
			b.Fatal(err)
		}
		testruns.BenchRuns(b, testruns.Pair{Scenario: sc, Lock: c.l})
	}
}
