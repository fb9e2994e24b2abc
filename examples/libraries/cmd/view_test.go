package main

import (
	"testing"

	"locksim/examples/libraries"
)

// A violation is shown, whatever else the runs say; beyond the promise a notice that comes late is none.
func TestMarks(t *testing.T) {
	late := map[string]int{"misconduct": 3}
	for _, c := range []struct {
		want string
		cell libraries.Cell
	}{
		{"✓ 7", libraries.Cell{Promise: &libraries.Part{Evidence: 9, Felt: 7}}},
		{"–", libraries.Cell{Promise: &libraries.Part{Evidence: 9, Inapplicable: true}}},
		{"✗ 1/9", libraries.Cell{Promise: &libraries.Part{Evidence: 9, Violating: 1, Inapplicable: true}}},
		{"✗ 3/9", libraries.Cell{Promise: &libraries.Part{Evidence: 9, Violating: 3, Labels: late}}},
		{"(✓ 7)", libraries.Cell{Beyond: &libraries.Part{Evidence: 9, Felt: 7, Violating: 3, Labels: late}}},
		{"(–)", libraries.Cell{Beyond: &libraries.Part{Evidence: 9, Violating: 3, Labels: late}}},
		{"(✗ 2/9)", libraries.Cell{Beyond: &libraries.Part{Evidence: 9, Felt: 7, Violating: 4, Labels: map[string]int{"misconduct": 3, "overlap": 2}}}},
		{"?", libraries.Cell{Promise: &libraries.Part{Evidence: 9, Violating: 1, NoVerdict: "a run did not end"}}},
	} {
		if got := markOf(&c.cell); got != c.want {
			t.Errorf("%+v: %q, want %q", c.cell, got, c.want)
		}
	}
}
