package tune_test

import (
	"strings"
	"testing"

	"locksim/scenarios/tune"
)

// The error names the line, what is wrong and what to do.
func TestReadRefuses(t *testing.T) {
	good := strings.Repeat("250ms\n", 100)
	for text, want := range map[string]string{
		"":                              "it has 0 durations, and a P99 needs 100: measure more sections, or give",
		strings.Repeat("1s\n", 99):      "it has 99 durations",
		good + "\n":                     "line 101: it is empty: write a duration such as 250ms, or remove the line",
		good + "-3ms\n":                 `line 101: "-3ms" is negative: remove the line`,
		good + "NaN\n":                  `line 101: "NaN" is no length of time: remove the line`,
		good + "+Inf\n":                 `line 101: "+Inf" is no length of time`,
		good + "250\n":                  `line 101: "250" has no unit: write 250ms or 250s, whichever it is`,
		"0.25\n" + good:                 `line 1: "0.25" has no unit`,
		good + "1s 20ms\n":              `line 101: "1s 20ms" is more than one word: write one duration a line`,
		good + "1 h\n":                  `line 101: "1 h" is more than one word`,
		good + "soon\n":                 `line 101: "soon" is no duration: write a number with its unit`,
		good + "0s\n":                   `line 101: "0s": work takes longer than 0`,
		good + "25h\n":                  `line 101: "25h" is longer than 24 hours`,
		good + strings.Repeat("9", 1e5): "line 101: it is too long for a duration",
	} {
		if _, err := tune.Read(strings.NewReader(text), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q…: %v, want %s", text, err, want)
		}
	}
	got, err := tune.Read(strings.NewReader("\ufeff1.5s\r\n"+good+"1m2s\n0\n0s"), true)
	if err != nil || len(got) != 104 || got[0].String() != "1.5s" || got[101].String() != "1m2s" {
		t.Errorf("%d durations, %v", len(got), err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("250ms\n1s\n", true)
	f.Add("NaN\n-1s\n\ufeff", false)
	f.Fuzz(func(t *testing.T, text string, zero bool) {
		all, err := tune.Read(strings.NewReader(text), zero)
		if err == nil && len(all) < tune.Least {
			t.Errorf("%d durations are enough", len(all))
		}
		for _, d := range all {
			if d < 0 || d == 0 && !zero {
				t.Errorf("read %v", d)
			}
		}
	})
}
