package groundtruth

import "testing"

// A run without a verdict is no find: it says nothing of the lock.
func TestUnjudged(t *testing.T) {
	for text, want := range map[string]bool{
		"seed 1000265: a run of A18 has no verdict: the checker: judge: malformed history":                      true,
		"lock river-217, in a run without faults: scenario calm, lock river-217, seed 1: sim: start PostgreSQL": true,
		"seed 1000016: redsync-151 fails: overlap in mode claim":                                                false,
		"without a fault: redislock-58 fails: misconduct; it has no verdict: of its own":                        false,
	} {
		if got := unjudged.MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
