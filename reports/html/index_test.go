package html_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/reports/html"
	"locksim/reports/index"
)

func indexPage(t *testing.T, x index.Index) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Index(&b, x); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// entries has an entry of every kind, and of every state.
func entries() []index.Entry {
	page := []index.Page{{Name: "Report", File: "report.html"}, {Name: "JSON", File: "run.json"}}
	return []index.Entry{
		{Folder: "run-gc-pause", Kind: index.Run, What: "gc-pause", Lock: "fenced", Seed: "seed 1", Pages: page, Latest: true,
			Unexpected: true, Changed: "2026-11-21 12:00:00",
			Labels: []index.Label{{Mode: "none", Label: checker.Corrupted}, {Mode: "seal", Label: checker.Rescued}}},
		{Folder: "explore-redlock/shard-0-of-2", Kind: index.Exploration, Lock: "redlock", Result: "So far 200 runs.",
			Progress: &index.Progress{Done: 2, Jobs: 50, Running: true},
			Labels:   []index.Label{{Label: checker.Stuck, Count: 3}}},
		{Folder: "sweep-x", Kind: index.Sweep, What: "x", Lock: "single", Progress: &index.Progress{Done: 1, Jobs: 4}},
		{Folder: "matrix", Kind: index.Matrix, What: "Matrix of 2 scenarios",
			Pages: []index.Page{{Name: "JSON", File: "matrix.json"}}},
		{Folder: "review-x", Kind: index.Review, What: "Review of x"},
		{Folder: "torn", Kind: index.Unread, Problem: "run.json: this stored run is cut off"},
	}
}

func TestIndexSaysAll(t *testing.T) {
	html := indexPage(t, index.Index{Entries: entries(), Note: "More folders.", First: "locksim run"})
	testreports.CheckTexts(t, html, []string{
		"3 results, 1 under way, 1 not finished, 1 that cannot be read.", "More folders.",
		`Latest: <a href="./run-gc-pause/report.html">gc-pause with fenced</a>`,
		`<h3><a href="./run-gc-pause/report.html">gc-pause with fenced</a> <small>seed 1</small> <span class="latest">latest</span></h3>`,
		`<li><a href="./run-gc-pause/run.json">JSON</a></li>`, "Not as expected.", "2026-11-21 12:00:00",
		`<span class="mode">none</span> <span class="chip" data-label="corrupted">`, `× 3`,
		`<progress max="50" value="2" aria-label="Jobs done"></progress> <span>2 of 50 jobs</span>`, "So far 200 runs.",
		"<code>--resume</code> goes on",
		`<a href="./matrix/matrix.json">Matrix of 2 scenarios</a>`, "<h3>Review of x</h3>",
		"run.json: this stored run is cut off",
	}, []string{"ZgotmplZ", "<no value>", "%!", "locksim run", "data-parts data-live", "Stop refreshing", "connect-src"})
	var order []int
	for _, heading := range []string{"Under way", "Not finished", "Runs", "Matrices", "Design reviews", "Cannot be read"} {
		order = append(order, strings.Index(html, ">"+heading+"</h2>"))
	}
	for i, at := range order {
		if at < 0 || i > 0 && at < order[i-1] {
			t.Errorf("the headings are at %v", order)
		}
	}
}

// The script of a served page may connect to its server, and refreshes more often
// while a campaign runs.
func TestIndexLive(t *testing.T) {
	html := indexPage(t, index.Index{Entries: entries(), Live: true})
	testreports.CheckTexts(t, html, []string{"data-parts data-live data-busy>", "Stop refreshing", "connect-src 'self'"},
		nil)
	html = indexPage(t, index.Index{Entries: entries()[3:], Live: true})
	testreports.CheckTexts(t, html, []string{"data-parts data-live>"}, nil)
	html = indexPage(t, index.Index{First: "mysim run gc-pause"})
	testreports.CheckTexts(t, html, []string{"0 results.", "Nothing is here yet", "<code>mysim run gc-pause</code>"},
		[]string{"Latest"})
}

// Links lead to the folder with any name, and the name is text.
func TestIndexEscapes(t *testing.T) {
	for folder, want := range map[string]string{
		"a b#c?d%e":             `href="./a%20b%23c%3Fd%25e/x.html"`,
		"javascript:alert(1)":   `href="./javascript:alert%281%29/x.html"`,
		"http://evil.example/x": `href="./http:/evil.example/x/x.html"`,
		`"><script>alert(1)`:    `href="./%22%3E%3Cscript%3Ealert%281%29/x.html"`,
		"наивный":               `href="./%D0%BD%D0%B0%D0%B8%D0%B2%D0%BD%D1%8B%D0%B9/x.html"`,
	} {
		e := index.Entry{Folder: folder, Kind: index.Run, What: folder, Lock: folder, Seed: folder, Result: folder,
			Problem: folder,
			Pages:   []index.Page{{Name: "Report", File: "x.html"}}}
		html := indexPage(t, index.Index{Entries: []index.Entry{e, {Kind: index.Unread, Folder: folder, Problem: folder}},
			Note: folder, First: folder})
		testreports.CheckTexts(t, html, []string{want}, []string{"<script>alert", `href="javascript`, `href="http`,
			"ZgotmplZ"})
	}
}

// Each part of the page has a unique id, by which the script finds it after a refresh.
func TestIndexNames(t *testing.T) {
	x := index.Index{Entries: append(entries(), entries()...)}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(indexPage(t, x), -1) {
		if seen[m[1]] {
			t.Errorf("%s is there twice", m[1])
		}
		seen[m[1]] = true
	}
	if !seen["e-unread-torn"] || !seen["e-unread-torn~2"] {
		t.Errorf("the names are %v", seen)
	}
}

func TestIndexErrors(t *testing.T) {
	if err := html.Index(testreports.FullDisk{}, index.Index{}); !errors.Is(err, testreports.ErrDiskFull) {
		t.Error(err)
	}
}
