package html_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios/outcome/comparisons"
)

func comparisonPage(t *testing.T, c *comparisons.Comparison, opt html.ComparisonOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Comparison(&b, c, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// figure is the diagram of a run that a pause broke.
func figure(t *testing.T, id string) html.Found {
	t.Helper()
	var b bytes.Buffer
	if err := html.Figure(&b, testreports.PausedOutcome(), fence.None,
		html.FigureOptions{ID: id, Width: 540}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The page has a map whose cells lead to the story of a harm, says of each lock for whom it is, what it costs, what it
// survives, and shows each failure with its diagram and its command.
func TestComparisonSaysAll(t *testing.T) {
	asked := 0
	page := comparisonPage(t, testreports.Comparison(), html.ComparisonOptions{Again: "locksim compare --out DIR",
		Versions: []reports.Version{{Name: "Go", Version: "1.26"}},
		Figure: func(lock string, run comparisons.Seen) html.Found {
			if asked++; lock != "fenced" {
				return nil
			}
			return figure(t, "f"+string(rune('0'+asked)))
		}})
	testreports.CheckTexts(t, page, []string{
		`<th scope="row"><a href="#lock-2">fenced</a></th><td class="whom">Data that must stay right, in a store that compares tokens.</td><td>1 redis</td><td>yes</td>`,
		`<td class="fenced"><a href="#lock-2-pause"><span class="sign">◐</span><small>seal</small></a></td>`,
		`id="lock-2-pause"`,
		`<td class="alone"><span class="sign">✓</span></td>`, `<span class="sign">–</span><small>wrong</small>`,
		"<td>pause, flush</td>",
		`<h2 id="lock-2">fenced</h2>`, "<h3>pause <code>seal</code></h3>", "Mode none, corrupted: scenario gc-pause, seed " +
			"1. <code>again</code>",
		"<code>(claim!)</code>", "it broke here", "the data is right without a fence", "locksim compare --out DIR",
		"s0 OK write c0.w2 (token 1)",
	}, []string{"ZgotmplZ", "<no value>", "%!", "<script"})
	if n := strings.Count(page, "<svg viewBox"); n != 2 {
		t.Errorf("%d diagrams, want 2", n)
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if seen[m[1]] {
			t.Errorf("the id %s is there twice", m[1])
		}
		seen[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"|url\(#([^)]*)\)`).FindAllStringSubmatch(page, -1) {
		if !seen[m[1]+m[2]] {
			t.Errorf("the page refers to %s, which is not there", m[0])
		}
	}
}

// A page without diagrams has everything else. Texts of a lock are texts, and the error of
// the writer is returned.
func TestComparisonWithoutDiagrams(t *testing.T) {
	c := testreports.WideComparison()
	c.Locks[0].Name, c.Locks[0].ForWhom, c.Locks[0].About = evilName, evilName, evilName
	testreports.CheckTexts(t, comparisonPage(t, c, html.ComparisonOptions{}),
		[]string{"&lt;script&gt;", "No run showed any harm. That is no proof."},
		[]string{"<script", "<svg", "Make it again", "\x1b"})
	if err := html.Comparison(testreports.FullDisk{}, c, html.ComparisonOptions{}); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("the error is %v", err)
	}
}

// A figure shows the time around the decisive step. There is none of a mode that was not run.
func TestFigure(t *testing.T) {
	got := string(figure(t, "one"))
	testreports.CheckTexts(t, got, []string{`id="clip-one"`, "it broke here", "paused 10s", "token 1",
		`class="m late fatal"`}, []string{"<script", "folded"})
	o := testreports.Outcome(testreports.Paused(fence.None), testreports.NotApplicable(fence.Seal))
	if err := html.Figure(&bytes.Buffer{}, o, fence.Seal, html.FigureOptions{ID: "one", Width: 540}); err == nil {
		t.Error("a mode that was not run has a figure")
	}
}
