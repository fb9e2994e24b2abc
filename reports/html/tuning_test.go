package html_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"locksim/reports/html"
	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/tune"
	"locksim/scenarios/tune/leaders"
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

// The page of elections has a table for each setting that is not refused, and the same bytes each time.
func TestLeadersPage(t *testing.T) {
	doc := leaders.Compute([]leaders.Election{
		leaders.Kubernetes{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second},
		leaders.Kubernetes{LeaseDuration: 15 * time.Second, RenewDeadline: 15 * time.Second, RetryPeriod: 5 * time.Second},
		leaders.Etcd{TTL: 10 * time.Second},
	}, []float64{5}, nil)
	page := func() string {
		var b bytes.Buffer
		if err := html.Leaders(&b, doc, html.TuningOptions{Again: "locksim tune leaders --out DIR"}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for part, want := range map[string]int{"<table": 2, "<h3>": 3, "client-go refuses it": 1, "id=\"advice\"": 0,
		"<th scope=\"row\">crash</th>": 2, "tune leaders --out DIR": 1} {
		if n := strings.Count(page(), part); n != want {
			t.Errorf("%q is there %d times, want %d", part, n, want)
		}
	}
	doc.Wish = &tunings.Wish{SurviveSeconds: 12, BoundSeconds: 20}
	doc.Advice = leaders.Advise(*doc.Wish)
	got := page()
	if got != page() || strings.Count(got, "id=\"advice\"") != 1 || !strings.Contains(got, "impossible, since") {
		t.Error("what is recommended is not there, or two pages differ")
	}
}
