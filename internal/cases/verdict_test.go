package cases_test

import (
	"testing"

	"locksim/checker"
	"locksim/scenarios"
)

// A right lock renews, and the answer arrives after the end of its lease, in a pause at the release. Every seed has a
// verdict; in those below the lease begins to hold again only after that pause.
func TestRenewalAnsweredLate(t *testing.T) {
	l := find(t, "mine")
	for _, seed := range []uint64{4, 9, 27, 58, 62} {
		out, err := scenarios.Run(load(t, "renewal-answered-late", l), l, scenarios.RunOptions{Seed: seed})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		for _, m := range out.Modes {
			g := m.History.Grants[0]
			if m.Verdict.Label != checker.Safe || g.Until == 0 || g.Revived <= g.Until {
				t.Errorf("seed %d, mode %s is %s, the end of the lease at step %d, it holds again at %d: want safe, and in this order",
					seed, m.Mode, m.Verdict.Label, g.Until, g.Revived)
			}
		}
	}
}
