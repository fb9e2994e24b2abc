package play

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"hold", "think", "rounds", "checks_until"}
	for word, want := range map[string]string{
		"hold": "hold", "hodl": "hold", "hol": "hold", "holds": "hold", "round": "rounds", "checks-until": "checks_until",
		"thnik": "think", "thx": "", "h": "", "": "", "timeout": "", "rounds_and_rounds": "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1},
		{"abc", "xabc", 1}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"é", "e", 1},
	} {
		if got := edits([]rune(tt.a), []rune(tt.b)); got != tt.want {
			t.Errorf("edits(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
