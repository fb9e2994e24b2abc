package grid

import (
	"testing"

	"locksim/checker"
)

// The effect of a fence follows from the label with it and the label without it.
func TestChanged(t *testing.T) {
	for _, tt := range []struct {
		without, with checker.Label
		want          string
	}{
		{checker.Corrupted, checker.Rescued, "data rescued"},
		{checker.Corrupted, checker.Corrupted, "still corrupted"},
		{checker.Corrupted, checker.FalseReject, "a rightful holder refused"},
		{checker.Corrupted, checker.Safe, "milder: safe, and corrupted without it"},
		{checker.Safe, checker.FalseReject, "a rightful holder refused"},
		{checker.Safe, checker.Stuck, "worse: stuck, and safe without it"},
		{checker.Safe, checker.Safe, "no difference"},
		{checker.Stuck, checker.Stuck, "no difference"},
	} {
		if got := changed(tt.without, tt.with); got != tt.want {
			t.Errorf("%s without, %s with: %q, want %q", tt.without, tt.with, got, tt.want)
		}
	}
}
