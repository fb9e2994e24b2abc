package browser

import (
	"bytes"
	"fmt"
	"testing"

	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports/html"
	"locksim/scenarios/outcome/comparisons"
)

// comparisonPage is a comparison whose failures are all drawn from one real run.
func comparisonPage(t *testing.T) []byte {
	t.Helper()
	o, drawn := gcPause(t), 0
	figure := func(string, comparisons.Seen) html.Found {
		drawn++
		var b bytes.Buffer
		if err := html.Figure(&b, o, fence.None, html.FigureOptions{ID: fmt.Sprintf("run-%d", drawn),
			Width: 560}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	var b bytes.Buffer
	if err := html.Comparison(&b, testreports.Comparison(),
		html.ComparisonOptions{Figure: figure, Again: "locksim compare"}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The page of a comparison is not wider than its screen, its diagrams are drawn within
// their frames, axe-core finds nothing, and it requests nothing.
func TestComparison(t *testing.T) {
	page, source := comparisonPage(t), axeSource(t)
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			tb := open(t, page, v)
			tb.checkWidth(v)
			outside := eval[[]string](tb, `[...document.querySelectorAll(".chart svg")].flatMap((svg) => {
				const frame = svg.getBoundingClientRect();
				return [...svg.querySelectorAll("text:not(.off), .bar")].filter((el) => { const r = el.getBoundingClientRect(); return r.right > frame.right + 1 || r.bottom > frame.bottom + 1; }).map((el) => el.outerHTML);
			})`)
			for _, el := range outside {
				t.Errorf("outside of its diagram: %s", el)
			}
			if n := eval[int](tb, `document.querySelectorAll(".failure svg .moment.fatal").length`); n < 4 {
				t.Errorf("%d diagrams have a decisive step", n)
			}
			shoot(tb, "compare-"+v.name)
			tb.checkQuiet()
			tb.accessible(source)
		})
	}
}
