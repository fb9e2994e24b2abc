package spaces_test

import (
	"strings"
	"testing"

	"locksim/scenarios/spaces"
)

func TestParseSetting(t *testing.T) {
	for text, want := range map[string]string{
		"retry_period":         "retry_period",
		"retry_period=1s..5s":  "retry_period=1s..5s",
		"retry_period=1500ms":  "retry_period=1.5s..1.5s",
		"retries=1..32":        "retries=1..32",
		"retries=3":            "retries=3..3",
		"lock_delay=0s..1m":    "lock_delay=0s..1m0s",
		"":                     "error: give a name",
		"=3":                   "error: give a name",
		"retries=1..":          "error: give a name",
		"retries=1..5s":        "error: give a name",
		"retries=x":            "error: give a name",
		"retry_period=5s..1s":  "error: the setting retry_period=5s..1s: give the smaller end",
		"retry_period=-2s..1s": "error: the setting retry_period=-2s..1s: give the smaller end",
		"all=1s..2s":           "error: all are all settings",
	} {
		got, err := spaces.ParseSetting(text)
		words := got.String()
		if err != nil {
			words = "error: " + err.Error()
		}
		if !strings.HasPrefix(words, want) || err == nil && words != want {
			t.Errorf("%q: %s, want %s", text, words, want)
		}
	}
}

// What is written is read back as it was.
func FuzzParseSetting(f *testing.F) {
	for _, text := range []string{"all", "a=1..2", "a=1s..5s", "a=0", "a=1h..2h", "=", "a=..", "a=1..2s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := spaces.ParseSetting(text)
		if err != nil {
			return
		}
		if again, err := spaces.ParseSetting(r.String()); err != nil || again.String() != r.String() {
			t.Errorf("%q is %v, which is %v (%v)", text, r, again, err)
		}
	})
}
