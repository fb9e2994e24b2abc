package natskv_test

import (
	"strings"
	"testing"

	"locksim/examples/leases/internal/leasetest"
	"locksim/examples/leases/natskv"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/subject"
)

// No acknowledged write is lost under what is promised.
func TestCompareAndSet(t *testing.T) {
	scenarios.Check(t, natskv.CompareAndSet(), scenarios.Options{Runs: leasetest.Part(2000), Seed: 1})
}

// A client that does not compare loses a write, which a search finds.
func TestWithoutComparisonAWriteIsLost(t *testing.T) {
	l := natskv.CompareAndSet()
	l.Name = "blind"
	open := l.Data.Open
	data := *l.Data
	data.Open = func(e subject.Env, _ fence.Mode) (subject.Store, error) { return open(e, fence.None) }
	l.Data = &data
	if text := leasetest.Fails(t, l); !strings.Contains(text, "blind fails") {
		t.Errorf("it fails by something else:\n%s", text)
	}
}
