package browser

import (
	"strings"
	"testing"
)

// Every text of a scenario or a lock is text.
func TestMarkupIsText(t *testing.T) {
	o := hostile(t)
	html := bare(t, o)
	tb := open(t, html, desktop)
	if got := eval[string](tb, `document.querySelector("h1").textContent`); got != markup {
		t.Errorf("the title is %q", got)
	}
	if got := eval[int](tb, `document.scripts.length`); got != 2 {
		t.Errorf("%d scripts, want the data and the page's own", got)
	}
	if got := eval[int](tb, `document.images.length`); got != 0 {
		t.Errorf("texts became %d images", got)
	}
	tb.click(`[data-play=fatal]`)
	tb.press(`.chart`, ".")
	if got := eval[string](tb, `document.querySelector("[data-details]").textContent`); !strings.Contains(got, markup) {
		t.Errorf("the details do not show the text: %q", got)
	}
	if got := eval[string](tb, `document.querySelector("[data-now]").textContent`); !strings.Contains(got, markup) {
		t.Errorf("the step does not show the text: %q", got)
	}
	eval[bool](tb, `(document.querySelector(".chart svg").dispatchEvent(new PointerEvent("pointermove", {pointerType: "mouse", clientX: 300, clientY: 300, bubbles: true})), true)`)
	tb.checkQuiet()
}
