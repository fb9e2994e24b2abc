package browser

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// await waits until an expression holds on the page, or on the one to which it leads: a promise ends
// with its page.
func (tb *tab) await(expression string) {
	tb.t.Helper()
	holds := fmt.Sprintf(
		`new Promise((done) => { const look = () => (%s) ? done(true) : requestAnimationFrame(look); look(); })`, expression)
	for {
		_, err := chromedp.Run(tb.Context, chromedp.Evaluate[bool](holds, chromedp.EvalAwaitPromise))
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "Inspected target navigated or closed") {
			tb.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// The index shows the progress of a running exploration, and its refreshes do not
// change the focus or the scroll position.
func TestIndexRefreshes(t *testing.T) {
	k := newResultFolder(t, 12)
	k.grow(0, 0)
	tb := k.serve(view{name: "low", width: 1280, height: 500, scheme: "light"})
	if got := eval[string](tb,
		`document.querySelector("progress").value + " of " + document.querySelector("progress").max`); got != "1 of 10" {
		t.Errorf("the progress is %s", got)
	}
	if got := eval[string](tb, `document.getElementById("status").textContent`); got != "12 results, 1 under way, 1 "+
		"that cannot be read." {
		t.Errorf("the page says %q", got)
	}
	last := `#s-runs .entry:last-child h3 a`
	tb.do(chromedp.Focus(chromedp.CSS(last)))
	eval[bool](tb, `(document.querySelector("`+last+
		`").scrollIntoView(), window.same = document.activeElement, window.at = same.getBoundingClientRect().top, true)`)
	k.grow(1, 3)
	k.write("run-gc-pause-fenced-s99/run.json", "{")
	tb.await(`document.querySelector("progress").value === 2`)
	if got := eval[string](tb, `document.querySelector("#s-under-way .labels").textContent`); !strings.Contains(got,
		"stuck") || !strings.Contains(got, "× 3") {
		t.Errorf("the violations are %q", got)
	}
	if got := eval[int](tb, `document.querySelectorAll("#s-unread .entry").length`); got != 2 {
		t.Errorf("%d folders cannot be read, want 2", got)
	}
	if !eval[bool](tb, `document.activeElement === window.same && same.isConnected && Math.abs(same.getBoundingClientRect().top - window.at) < 2`) {
		t.Error("the focus or the scroll position changed")
	}
	k.ends()
	tb.await(`!document.querySelector("progress")`)
	if got := eval[string](tb,
		`document.querySelector("#s-explorations h3").textContent + document.getElementById("status").textContent`); got != "Exploration of single from seed 113 results, 2 that cannot be read." {
		t.Errorf("at the end the page says %q", got)
	}
	tb.checkServed()
}

// ends writes the document of the exploration, after the journal.
func (k *resultFolder) ends() {
	k.t.Helper()
	k.write("explore-single/explore.json",
		`{"version":1,"kind":"explore","plan":{"lock":"single","first_seed":1},"summary":{"runs":200,"evidence":180,"violating":3,"violations":{"stuck":3}}}`)
}

// checkServed checks that there are no complaints, and no requests but to the server.
func (tb *tab) checkServed() {
	tb.t.Helper()
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if len(tb.complaints) > 0 {
		tb.t.Errorf("complaints:\n%s", strings.Join(tb.complaints, "\n"))
	}
	for _, r := range tb.requests {
		if !strings.HasPrefix(r, "http://127.0.0.1:") {
			tb.t.Errorf("the page requested %s", r)
		}
	}
}

// The filter and the button that stops refreshing work with the keyboard alone.
func TestIndexControls(t *testing.T) {
	k := newResultFolder(t, 12)
	tb := k.serve(desktop)
	tb.press("#filter", "s")
	tb.press("#filter", "7")
	tb.await(`document.getElementById("shown").textContent === "1 of 14 shown"`)
	if got := eval[string](tb,
		`[...document.querySelectorAll(".entry")].filter((e) => e.checkVisibility()).map((e) => e.querySelector("code").textContent).join()`); got != "run-gc-pause-fenced-s7" {
		t.Errorf("shown is %q", got)
	}
	if got := eval[int](tb,
		`[...document.querySelectorAll("main h2")].filter((e) => e.checkVisibility()).length`); got != 1 {
		t.Errorf("%d headings are shown, want that of what is left", got)
	}
	tb.press("#hold", "\r")
	k.grow(0, 0)
	eval[bool](tb, `(document.dispatchEvent(new Event("visibilitychange")), true)`)
	if got := eval[float64](tb, `document.querySelector("progress").value`); got != 0 {
		t.Errorf("the progress is %v although refreshing was stopped", got)
	}
	tb.press("#hold", "\r")
	tb.await(`document.querySelector("progress").value === 1`)
	if got := eval[string](tb, `document.getElementById("shown").textContent`); got != "1 of 14 shown" {
		t.Errorf("after a refresh %q", got)
	}
	tb.checkServed()
}

// The links of an index on disk lead to the reports, and it requests nothing.
func TestIndexFromDisk(t *testing.T) {
	k := newResultFolder(t, 3)
	html, err := k.page(false)
	if err != nil {
		t.Fatal(err)
	}
	k.write("index.html", string(html))
	tb := visit(t, "file://"+filepath.ToSlash(filepath.Join(k.dir, "index.html")), desktop)
	tb.checkQuiet()
	tb.click(`#first a`)
	tb.await(`document.title === "a report"`)
}
