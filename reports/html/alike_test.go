package html_test

import (
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
)

// Runs that were the same share a diagram and a story, where that is asked for.
func TestHTMLTogether(t *testing.T) {
	o := testreports.Outcome(testreports.Paused(fence.None), testreports.Paused(fence.Check), testreports.Paused(fence.Seal), testreports.NotApplicable(fence.Strict))
	apart, together := page(t, o, reports.Options{}), page(t, o, reports.Options{Alike: reports.Together, Links: []reports.Link{{Text: "The <matrix>", Href: "../index.html"}}})
	if n, m := strings.Count(apart, `<figure class="panel"`), strings.Count(together, `<figure class="panel"`); n != 3 || m != 2 {
		t.Errorf("%d and %d diagrams, want 3 and 2", n, m)
	}
	testreports.Wants(t, together, []string{"<b>modes check, seal</b>", `value="check"> check, seal</label>`, "<h3>In modes check, seal ", "Mode check and mode seal: the same run as mode none up to step",
		`id="mode-strict"`, `<a href="../index.html">The &lt;matrix&gt;</a>`}, nil)
	testreports.Wants(t, apart, []string{"<b>mode check</b>", "<b>mode seal</b>"}, []string{`class="around"`})
	calm, later := testreports.Paused(fence.Check), testreports.Paused(fence.None)
	later.Trace, later.TraceHash, later.Verdict.Label = calm.Trace, calm.TraceHash, calm.Verdict.Label
	testreports.Wants(t, page(t, testreports.Outcome(calm, later), reports.Options{Alike: reports.Together}), []string{`value="check" checked> check, none</label>`}, nil)
	worse := testreports.Paused(fence.Seal)
	worse.Verdict.Label = checker.Stuck
	if n := strings.Count(page(t, testreports.Outcome(testreports.Paused(fence.Check), worse), reports.Options{Alike: reports.Together}), `<figure class="panel"`); n != 2 {
		t.Errorf("two labels share a diagram: %d diagrams, want 2", n)
	}
}
