package browser

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"locksim/reports/html"
)

// On a phone a table of a document of the site breaks no word, and a long text in a column that is out of sight makes
// no tall rows. Its first column stays in sight.
func TestTablesOfDocuments(t *testing.T) {
	own, err := os.ReadFile("../../internal/dev/site/assets/document.css")
	if err != nil {
		t.Fatal(err)
	}
	base, _ := html.Drawing()
	cells := "<td>watchdog-fenced</td>" + strings.Repeat("<td>◐ partition</td>", 9) + "<td>" +
		strings.Repeat("Work of unknown length on data that must stay right. ", 3) + "</td>"
	tb := open(t, fmt.Appendf(nil,
		`<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>a</title><style>%s%s</style><main class="document"><h1>a</h1>
<div class="scroll" tabindex="0" role="region" aria-label="table"><table><tbody><tr>%s</tr></tbody></table></div></main></html>`, base, own, cells), phoneDark)
	tb.checkWidth(phoneDark)
	if h := eval[int](tb, `Math.round(document.querySelector("tr").getBoundingClientRect().height)`); h > 90 {
		t.Errorf("a row is %d pixels high", h)
	}
	if h := eval[int](tb,
		`(() => { const r = document.createRange(); r.selectNodeContents(document.querySelectorAll("td")[1]); return r.getClientRects().length })()`); h != 1 {
		t.Errorf("a cell of two words has %d lines", h)
	}
	if x := eval[int](tb,
		`(() => { const s = document.querySelector(".scroll"); s.scrollLeft = 400; return Math.round(document.querySelector("td").getBoundingClientRect().left - s.getBoundingClientRect().left) })()`); x != 0 {
		t.Errorf("the first column is at %d after the table was moved", x)
	}
}
