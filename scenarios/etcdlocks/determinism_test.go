package etcdlocks_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios/etcdlocks"
)

// The same seeds give the same traces in fresh processes at other numbers of processors, with each scenario and each
// lock that it names. LOCKSIM_SOAK=10 is 300 seeds.
func TestEqualInFreshProcesses(t *testing.T) { testruns.EqualRuns(t, etcdlocks.All()) }
