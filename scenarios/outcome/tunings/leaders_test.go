package tunings_test

import (
	"slices"
	"testing"

	"locksim/scenarios/outcome/tunings"
)

// A trouble in a row of a table.
func TestCells(t *testing.T) {
	span := func(least, most float64) tunings.Span { return tunings.Span{Least: least, Most: most} }
	for _, c := range []struct {
		trouble tunings.Trouble
		want    []string
	}{
		{tunings.Trouble{Kind: tunings.Outage, Seconds: 5}, []string{"outage of 5 s", "no", "–", "–"}},
		{tunings.Trouble{Kind: tunings.Crash, Lost: span(1, 1), NoneSeconds: span(13, 23.8)},
			[]string{"crash", "yes", "no time", "13 to 23.8 s"}},
		{tunings.Trouble{Kind: tunings.Pause, Seconds: .5, Lost: span(0, 1), TwoSeconds: span(10, 10),
			NoneSeconds: span(0, 4)},
			[]string{"pause of 500 ms", "perhaps", "10 s", "up to 4 s"}},
		{tunings.Trouble{Kind: tunings.Pause, Seconds: 90, Lost: span(.4, .43), TwoSeconds: span(0, 4)},
			[]string{"pause of 90 s", "40 to 43 %", "up to 4 s", "no time"}},
		{tunings.Trouble{Kind: tunings.Pause, Seconds: 90, Lost: span(.4, .4)},
			[]string{"pause of 90 s", "40 %", "no time", "no time"}},
		{tunings.Trouble{Kind: tunings.Pause, Seconds: 90, Lost: span(0, .4)},
			[]string{"pause of 90 s", "up to 40 %", "no time", "no time"}},
	} {
		if got := c.trouble.Cells(); !slices.Equal(got, c.want) || len(got) != len(tunings.TroubleHeads()) {
			t.Errorf("%+v: %q, want %q", c.trouble, got, c.want)
		}
	}
}

// A small share is one in a large number, to two digits.
func TestShareText(t *testing.T) {
	for share, want := range map[float64]string{1e-7: "1 in 1.0e7", 9e-11: "1 in 1.1e10", 1e-4: "1 in 10,000",
		.5: "50 %"} {
		if got := (tunings.Share{Value: share}).Text(); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
	if got := (tunings.Share{Value: 5e-11}).Sections(); got != "one section in 2.0e10" {
		t.Errorf("5e-11 is %q", got)
	}
}
