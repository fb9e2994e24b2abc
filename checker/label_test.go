package checker

import (
	"slices"
	"testing"
)

// The order is the one the design fixes; every other order is a bug.
func TestSeverityOrder(t *testing.T) {
	want := []Label{"corrupted", "unknown", "stuck", "false-reject", "rescued", "overlap", "safe", "n/a", ""}
	got := slices.Clone(want)
	slices.Sort(got)
	slices.SortStableFunc(got, func(a, b Label) int { return b.Severity() - a.Severity() })
	if !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

func TestWorse(t *testing.T) {
	for _, c := range []struct{ a, b, want Label }{
		{Safe, Corrupted, Corrupted},
		{Corrupted, Safe, Corrupted},
		{Overlap, Rescued, Rescued},
		{NotApplicable, Safe, Safe},
		{"", NotApplicable, NotApplicable}, // a fold may start from nothing
		{Stuck, Stuck, Stuck},
	} {
		if got := Worse(c.a, c.b); got != c.want {
			t.Errorf("Worse(%q, %q) = %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestParseLabel(t *testing.T) {
	for _, l := range Labels() {
		if got, err := ParseLabel(string(l)); got != l || err != nil {
			t.Errorf("ParseLabel(%q) = %q, %v", l, got, err)
		}
	}
	for _, s := range []string{"", "Safe", "fine"} {
		if got, err := ParseLabel(s); err == nil {
			t.Errorf("ParseLabel(%q) = %q, want an error", s, got)
		}
	}
}

func TestParseCare(t *testing.T) {
	for _, c := range []Care{CareNever, CareLost, CareSteps} {
		if got, err := ParseCare(string(c)); got != c || err != nil {
			t.Errorf("ParseCare(%q) = %q, %v", c, got, err)
		}
	}
	if got, err := ParseCare(""); err == nil {
		t.Errorf(`ParseCare("") = %q, want an error`, got)
	}
}
