package browser

import (
	"fmt"
	"strings"
)

// checkFirstScreen checks that the first diagram is on the first screen: all of it on a desktop, and its beginning
// on a phone.
func (tb *tab) checkFirstScreen(v view) {
	at := eval[[]float64](tb, `(() => {
		const r = document.querySelector(".chart").getBoundingClientRect();
		return [r.top, r.bottom];
	})()`)
	if v.mobile && at[0] > float64(v.height)*0.75 || !v.mobile && at[1] > float64(v.height) {
		tb.t.Errorf("the first diagram is from %.0f to %.0f on a screen of %d pixels", at[0], at[1], v.height)
	}
}

// checkLabels checks in four windows that a text inside a bar ends before the bar does, one behind it before the
// next bar, and that none leaves the diagram. Every claim that is wide enough for its token has a text. In the end the
// button for the whole run shows what the page began with.
func (tb *tab) checkLabels() {
	const measured = `(() => {
		const out = [];
		for (const chart of document.querySelectorAll(".chart svg")) {
			const edge = chart.getBoundingClientRect().right;
			for (const text of chart.querySelectorAll("text.in:not(.off), text.fault:not(.off)")) {
				if (text.style.display === "none") continue;
				const r = text.getBoundingClientRect(), what = text.textContent;
				if (r.right > edge) out.push(what + " leaves the diagram");
				if (!text.matches(".in")) continue;
				const bar = [...chart.querySelectorAll('.bar[data-n="' + text.dataset.n + '"][data-lane="' + text.dataset.lane + '"]')].find((b) => b.matches(".claim, .hold, .poll")).getBoundingClientRect();
				const inside = !text.matches(".outside");
				if (inside && r.right > bar.right + 0.5) out.push(what + " is clipped");
				if (!inside && r.left < bar.right) out.push(what + " is on its bar");
			}
			for (const bar of chart.querySelectorAll(".bar.claim")) {
				const b = bar.getBoundingClientRect(), plot = chart.querySelector(".lane").getBoundingClientRect();
				const visible = Math.min(b.right, plot.right) - Math.max(b.left, plot.left);
				if (bar.style.display === "none" || visible < 40) continue;
				const text = chart.querySelector('text.in.claim[data-n="' + bar.dataset.n + '"]');
				if (text.matches(".off")) out.push(text.textContent + " is not shown in " + visible.toFixed() + " pixels");
			}
		}
		return out;
	})()`
	const window = `(() => { const c = document.getElementById("charts"); return c.dataset.from + " to " + c.dataset.to; })()`
	whole := eval[string](tb, window)
	for range 4 {
		for _, problem := range eval[[]string](tb, measured) {
			tb.t.Error(problem)
		}
		tb.click(`[data-do=in]`)
	}
	if n := eval[int](tb, `document.querySelectorAll("text.in").length`); n < 4 {
		tb.t.Errorf("only %d texts were measured", n)
	}
	tb.click(`[data-do=fit]`)
	if got := eval[string](tb, window); got != whole {
		tb.t.Errorf("the button for the whole run shows %s ns, and the page began with %s", got, whole)
	}
}

// checkRepeated checks that requests that a waiting client repeats are one mark with their number, and that all of
// them are shown on demand.
func (tb *tab) checkRepeated() {
	text := eval[string](tb, `document.querySelector("text.in.poll:not(.off)").textContent`)
	var n int
	if _, err := fmt.Sscanf(text, "%d requests", &n); err != nil || n < 50 {
		tb.t.Errorf("the mark says %q, want more than 50 requests: %v", text, err)
	}
	const shown = `[...document.querySelectorAll(".panel[data-mode=none] line.m")].filter((l) => getComputedStyle(l).display !== "none").length`
	before := eval[int](tb, shown)
	choose := func(what string) {
		eval[bool](tb, `(() => {
			const s = document.querySelector("select[data-do=messages]");
			s.value = "`+what+`";
			s.dispatchEvent(new Event("change"));
			return true;
		})()`)
	}
	choose("all")
	if after := eval[int](tb, shown); after < before+n*2 {
		tb.t.Errorf("%d messages are shown, and %d with the repeated ones", before, after)
	}
	if head := eval[string](tb, `document.querySelector(".headline").textContent`); !strings.Contains(head, "corrupted") {
		tb.t.Errorf("the headline is %q", head)
	}
	choose("folded")
	if again := eval[int](tb, shown); again != before {
		tb.t.Errorf("%d messages are shown, and %d when the repeated ones are folded again", before, again)
	}
}
