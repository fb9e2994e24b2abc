package browser

import (
	"bytes"
	"testing"

	"github.com/chromedp/chromedp"
)

var noScript = view{name: "still", width: 1280, height: 900, scheme: "light", noScript: true}

// Without scripts the whole run is drawn at the times of the trace, and every story is
// visible.
func TestWithoutScripts(t *testing.T) {
	o := gcPause(t)
	tb := open(t, rendered(t, o), noScript)
	tb.do(chromedp.WaitVisible(chromedp.CSS(".panel")))
	shoot(tb, "gc-pause-still")
	for _, m := range panels(o) {
		c := drawn(tb, string(m.Mode))
		c.From, c.To = 0, float64(end(m))
		compareGrants(t, c, m)
		compareFaults(t, c, m)
		compareOps(t, c, m)
	}
	if hidden := eval[int](tb,
		`[...document.querySelectorAll(".tale")].filter((el) => !el.checkVisibility()).length`); hidden > 0 {
		t.Errorf("%d stories are hidden", hidden)
	}
	if shown := eval[int](tb,
		`[...document.querySelectorAll("button, select, input")].filter((el) => el.checkVisibility()).length`); shown > 0 {
		t.Errorf("%d controls are visible that do nothing", shown)
	}
	tb.checkQuiet()
}

// checkPrint checks that a page can be printed.
func (tb *tab) checkPrint() {
	pdf, err := chromedp.Run(tb.Context, chromedp.PrintToPDF())
	if err != nil {
		tb.t.Fatal(err)
	}
	if !bytes.HasPrefix(pdf, []byte("%PDF")) {
		tb.t.Error("this is no PDF")
	}
	saveFile(tb.t, "redlock.pdf", pdf)
}

// checkContrast checks that every text of a diagram has a contrast of 4.5 to 1 to its background: axe-core does
// not check drawings.
func (tb *tab) checkContrast() {
	for _, text := range eval[[]string](tb, contrast) {
		tb.t.Error(text)
	}
	if n := eval[int](tb, `document.querySelectorAll("#charts text").length`); n < 20 {
		tb.t.Errorf("only %d texts were checked", n)
	}
}

// contrast compares the fill of each text of a diagram with every background that it
// may have: its bar, its fault, its lane, or the page.
const contrast = `(() => {
	const rgb = (c) => c.match(/[\d.]+/g).map(Number);
	const part = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
	const light = (c) => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const over = (top, o, under) => top.slice(0, 3).map((v, i) => v * o + under[i] * (1 - o));
	const page = rgb(getComputedStyle(document.body).backgroundColor), low = [];
	const lanes = [...new Set([...document.querySelectorAll("#charts .lane")].map((l) => getComputedStyle(l).fill))].map(rgb);
	for (const text of document.querySelectorAll("#charts text")) {
		let under = [page];
		if (text.matches(".in.outside, .in.poll")) under = [page, ...lanes];
		else if (text.matches(".in")) {
			const bar = document.querySelector('#charts .bar[data-n="' + text.dataset.n + '"][data-lane="' + text.dataset.lane + '"]:is(.claim, .hold)'), style = getComputedStyle(bar);
			under = [page, ...lanes].map((l) => over(rgb(style.fill), +style.opacity, l));
		} else if (text.matches(".fault")) under = [page, ...lanes, rgb(getComputedStyle(document.querySelector(".strip:not(.once)")).fill), rgb(getComputedStyle(document.querySelector("#hatch-fault rect")).fill)];
		const worst = Math.min(...under.map((u) => ratio(rgb(getComputedStyle(text).fill), u)));
		if (worst < 4.5) low.push(text.textContent + ": " + worst.toFixed(2));
	}
	return low;
})()`
