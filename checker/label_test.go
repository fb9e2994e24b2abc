package checker_test

import (
	"slices"
	"testing"

	"locksim/checker"
)

// The order is fixed by the design; any other order is a bug.
func TestSeverityOrder(t *testing.T) {
	want := []checker.Label{"corrupted", "unknown", "panicked", "stuck", "false-reject", "rescued", "void", "revived",
		"overtaken", "repeated", "regressed", "overlap", "safe", "n/a", ""}
	got := slices.Clone(want)
	slices.Sort(got)
	slices.SortStableFunc(got, func(a, b checker.Label) int { return b.Severity() - a.Severity() })
	if !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

func TestWorse(t *testing.T) {
	for _, c := range []struct{ a, b, want checker.Label }{
		{checker.Safe, checker.Corrupted, checker.Corrupted},
		{checker.Corrupted, checker.Safe, checker.Corrupted},
		{checker.Overlap, checker.Rescued, checker.Rescued},
		{checker.NotApplicable, checker.Safe, checker.Safe},
		{"", checker.NotApplicable, checker.NotApplicable}, // a fold may start from an empty label
		{checker.Stuck, checker.Stuck, checker.Stuck},
		{"", "fine", ""}, // neither is a label: they are equal
	} {
		if got := checker.Worse(c.a, c.b); got != c.want {
			t.Errorf("Worse(%q, %q) = %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestParseLabel(t *testing.T) {
	for _, l := range checker.Labels() {
		if got, err := checker.ParseLabel(string(l)); got != l || err != nil {
			t.Errorf("ParseLabel(%q) = %q, %v", l, got, err)
		}
	}
	for _, s := range []string{"", "Safe", "fine"} {
		if got, err := checker.ParseLabel(s); err == nil {
			t.Errorf("ParseLabel(%q) = %q, want an error", s, got)
		}
	}
}

func TestParseCare(t *testing.T) {
	for _, c := range []checker.Care{checker.CareNever, checker.CareLost, checker.CareSteps} {
		if got, err := checker.ParseCare(string(c)); got != c || err != nil {
			t.Errorf("ParseCare(%q) = %q, %v", c, got, err)
		}
	}
	if got, err := checker.ParseCare(""); err == nil {
		t.Errorf(`ParseCare("") = %q, want an error`, got)
	}
}
