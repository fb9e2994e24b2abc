package main

import (
	"slices"
	"testing"

	"locksim/examples/libraries"
	"locksim/lock"
)

var (
	partition = []lock.Fault{lock.FaultPartition}
	latency   = []lock.Fault{lock.FaultLatency}
)

// of is a share under a promise, of which n runs count.
func of(faults []lock.Fault, n int) libraries.Share {
	return libraries.Share{Faults: faults, Promised: true, Runs: n, Evidence: n, Felt: n}
}

// A cell has the number of its rarest class, a sign only where that is enough, a dagger for what is known, and brackets
// round what no sentence promises; and it leaves no failing run out.
func TestMarks(t *testing.T) {
	broken := of(partition, 40)
	broken.Broken, broken.Wished, broken.Labels = 3, 2, map[string]int{"overlap": 3, "stuck": 2}
	nothing := libraries.Share{Faults: latency, Promised: true, Idle: "no such fault"}
	beyond := of(latency, 40)
	beyond.Promised = false
	breaks := beyond
	breaks.Wished, breaks.Labels = 4, map[string]int{"misconduct": 3, "overlap": 2}
	undecided := of(partition, 9)
	undecided.Broken, undecided.NoVerdict = 1, "a run did not end"
	both := of(slices.Concat(partition, latency), 3) // how often both were felt in one run counts for nothing
	for _, c := range []struct {
		want   string
		shares []libraries.Share
		why    []string
	}{
		{"✓ 40", []libraries.Share{of(partition, 50), of(latency, 40), both}, nil},
		{"29", []libraries.Share{of(partition, 50), of(latency, 29)}, nil},
		{"✓ 50", []libraries.Share{of(partition, 50), nothing}, nil},
		{"–", []libraries.Share{nothing}, []string{"found"}},
		{"✓ 40 †", []libraries.Share{of(partition, 40)}, []string{"found"}},
		{"✗ 3/80 (✗ 2/80)", []libraries.Share{broken, of(latency, 40)}, []string{"found"}},
		{"✓ 50 (✓ 40)", []libraries.Share{of(partition, 50), beyond}, nil},
		{"(✗ 4/40)", []libraries.Share{breaks}, nil},
		{"(✓ 40) †", []libraries.Share{beyond}, []string{"found"}},
		{"?", []libraries.Share{undecided}, nil},
	} {
		cell := libraries.Cell{Trouble: "network", Shares: c.shares}
		if got := markOf(&cell, libraries.LockSheet{Why: map[string][]string{"network": c.why}}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Nobody promises to bear the mistakes of a caller.
func TestMarksOfMisuse(t *testing.T) {
	s := libraries.Share{Runs: 60, Evidence: 50, Felt: 30, Wished: 5, Labels: map[string]int{"overlap": 5}}
	cell := libraries.Cell{Trouble: libraries.Misused, Shares: []libraries.Share{s}}
	if got := markOf(&cell, libraries.LockSheet{Misuse: "a mistake"}); got != "(✗ 5/50)" {
		t.Errorf("%q", got)
	}
}

// A smallest run of another column whose faults are those of this one breaks the lock here too.
func TestBeside(t *testing.T) {
	of := func(trouble string, class lock.Fault, shrunk ...lock.Fault) *libraries.Cell {
		s := libraries.Share{Faults: []lock.Fault{class}, Runs: 40, Evidence: 40, Felt: 40}
		if shrunk != nil {
			s.Wished, s.Failures = 2, []libraries.Failure{{Label: "overlap", Classes: shrunk}}
		}
		return &libraries.Cell{Trouble: trouble, Shares: []libraries.Share{s}}
	}
	crash := of("server-crash", lock.FaultNodeCrash)
	for _, c := range []struct {
		power *libraries.Cell
		want  []string
	}{
		{of("server-power", lock.FaultNodePower, lock.FaultNodeCrash), []string{"server-power"}},
		{of("server-power", lock.FaultNodePower, lock.FaultNodePower), nil},
		{of("server-power", lock.FaultNodePower, lock.FaultNodeCrash, lock.FaultPause), nil},
		{of("server-power", lock.FaultNodePower), nil},
	} {
		got := beside(crash, libraries.LockSheet{}, []*libraries.Cell{crash, c.power})
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.power.Shares[0].Failures, got, c.want)
		}
	}
	broken := of("server-crash", lock.FaultNodeCrash, lock.FaultNodeCrash)
	power := of("server-power", lock.FaultNodePower, lock.FaultNodeCrash)
	if got := beside(broken, libraries.LockSheet{}, []*libraries.Cell{broken, power}); got != nil {
		t.Errorf("a cell that is broken itself has %v beside it", got)
	}
}

func TestNames(t *testing.T) {
	if got, want := names([]lock.Fault{"", lock.FaultPause}), "runs without faults, pause"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
