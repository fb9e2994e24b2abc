package prose_test

import (
	"testing"

	"locksim/internal/prose"
)

// A word is near another if two letters at most are changed, added, missing or
// swapped, and not most of them.
func TestNearest(t *testing.T) {
	known := []string{"hold", "think", "rounds", "checks_until", "é"}
	for word, want := range map[string]string{
		"hold": "hold", "hodl": "hold", "hol": "hold", "holds": "hold", "round": "rounds", "checks-until": "checks_until",
		"thnik": "think", "xrounds": "rounds", "rownds": "rounds", "ruonsd": "rounds",
		"thx": "", "h": "", "": "", "timeout": "", "rounds_and_rounds": "", "sounding": "",
	} {
		if got := prose.Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	known := []string{"hold", "think"}
	for word, want := range map[string]string{
		"thnik": "did you mean think? Or choose one of hold, think",
		"x":     "choose one of hold, think",
	} {
		if got := prose.Choose(word, known); got != want {
			t.Errorf("Choose(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -100: "-100",
		-1000: "-1,000"} {
		if got := prose.Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 steps", 1: "1 step", 2: "2 steps", 12340: "12,340 steps"} {
		if got := prose.Count(n, "step"); got != want {
			t.Errorf("Count(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 runs that tested the lock", 1: "1 run that tested the lock",
		2000: "2,000 runs that tested the lock"} {
		if got := prose.Evidence(n, "run"); got != want {
			t.Errorf("Evidence(%d) = %s, want %s", n, got, want)
		}
	}
}
