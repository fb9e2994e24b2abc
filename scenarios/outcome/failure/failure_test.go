package failure_test

import (
	"fmt"
	"slices"
	"testing"

	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
)

// Failures of one shape count as one, of which the smallest is kept: the one with the
// fewest faults, then the one with the lowest seed, then the shortest.
func TestFailuresAdd(t *testing.T) {
	one := func(shape string, runs int, seed uint64, faults int, source string) failure.Failure {
		return failure.Failure{Shape: shape, Runs: runs, Seed: seed, FirstSeed: seed, Faults: faults,
			Run: &outcome.RunFile{Source: source}}
	}
	for _, c := range []struct {
		name string
		all  []failure.Failure
		want []string
	}{
		{"other shapes", []failure.Failure{one("b", 1, 1, 1, ""), one("a", 1, 2, 1, "")},
			[]string{"b: 1 runs from 1, seed 1 \"\"", "a: 1 runs from 2, seed 2 \"\""}},
		{"fewer faults", []failure.Failure{one("a", 2, 1, 2, ""), one("a", 3, 2, 1, "")},
			[]string{"a: 5 runs from 1, seed 2 \"\""}},
		{"more faults", []failure.Failure{one("a", 2, 5, 1, ""), one("a", 3, 2, 2, "")},
			[]string{"a: 5 runs from 2, seed 5 \"\""}},
		{"a lower seed", []failure.Failure{one("a", 1, 9, 1, "x"), one("a", 1, 8, 1, "xx")},
			[]string{"a: 2 runs from 8, seed 8 \"xx\""}},
		{"a shorter text", []failure.Failure{one("a", 1, 9, 1, "xx"), one("a", 1, 9, 1, "x")},
			[]string{"a: 2 runs from 9, seed 9 \"x\""}},
		{"the first of equals", []failure.Failure{one("a", 1, 9, 1, "x"), one("a", 1, 9, 1, "y")},
			[]string{"a: 2 runs from 9, seed 9 \"x\""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sum failure.Failures
			for _, f := range c.all {
				sum.Add(f)
			}
			var got []string
			for _, f := range sum {
				got = append(got, fmt.Sprintf("%s: %d runs from %d, seed %d %q", f.Shape, f.Runs, f.FirstSeed, f.Seed,
					f.Run.Source))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
