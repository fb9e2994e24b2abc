package html_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"locksim/reports/html"
	"locksim/scenarios/tune"
)

// The page of a tuning has a curve for each renewal, a ring for each choice, and the same bytes each time.
func TestTuningPage(t *testing.T) {
	work, err := tune.Lognormal(800*time.Millisecond, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	page := func(pauses tune.Distribution) string {
		doc := tune.Compute(tune.Options{Work: work, Pauses: pauses, Reply: tune.None("<none>"), Backoff: .2, Contended: 1,
			Target: 1e-4})
		var b bytes.Buffer
		if err := html.Tuning(&b, doc, html.TuningOptions{Again: "locksim tune --out DIR"}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	pauses := tune.Rare(8*time.Second, 1000)
	got := page(pauses)
	for part, want := range map[string]int{"<polyline class=\"p": 5, "<circle ": 4, "beyond\"": 1, "NaN": 0, "Inf": 0,
		"&lt;none&gt;": 1, "<script": 0} {
		if n := strings.Count(got, part); n != want {
			t.Errorf("%q is there %d times, want %d", part, n, want)
		}
	}
	if got != page(pauses) {
		t.Error("two pages of one tuning differ")
	}
	if without := page(tune.None("none")); strings.Count(without, "<circle ") != 1 || strings.Contains(without, "NaN") {
		t.Error("without pauses there is one choice, that without renewal")
	}
}
