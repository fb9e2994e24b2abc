package play

import (
	"fmt"
	"slices"
	"strings"

	"locksim/scenarios/file"
)

// Shape is what minimal failures have in common that count as one: the first
// violation with its mode, the kinds of the faults, and what a section does, as
// in "corrupted in mode none: crash, restart (transfer)". At which event a fault
// strikes is no part of it: a pause after the read and one before the write do
// the same harm.
func Shape(sc *file.Scenario, broken []Violation) string {
	what := "no violation"
	if len(broken) > 0 {
		what = broken[0].String()
	}
	kinds := make([]string, len(sc.Faults))
	for i, f := range sc.Faults {
		kinds[i] = f.Action.Kind()
	}
	slices.Sort(kinds)
	if len(kinds) == 0 {
		kinds = []string{"no faults"}
	}
	return fmt.Sprintf("%s: %s%s", what, strings.Join(kinds, ", "), sectionShape(sc.Workload))
}

// sectionShape says what is unusual about a section.
func sectionShape(w file.Workload) string {
	switch {
	case w.Kind == file.WorkloadTransfer:
		return " (transfer)"
	case w.Nested > 0:
		return " (nested)"
	}
	return ""
}
