package browser

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
)

// matrixSite is a small matrix of real runs, with a specimen, and a lock whose name is
// markup and that could not be run. It is run once for all tests.
var matrixSite = sync.OnceValues(func() (html.MatrixSite, error) {
	var chosen []*file.Scenario
	for _, name := range []string{"gc-pause", "flushall", "dead-worker"} {
		sc, err := file.Load(name)
		if err != nil {
			return html.MatrixSite{}, err
		}
		chosen = append(chosen, sc)
	}
	plan, err := matrix.NewPlan(matrix.Options{Scenarios: chosen, Locks: []string{"single", "fenced", "watchdog"},
		Seeds: outcome.Seeds{First: 1, Last: 1}})
	if err != nil {
		return html.MatrixSite{}, err
	}
	var answers []matrix.Answer
	for _, j := range plan.Jobs() {
		answers = append(answers, matrix.NewAnswer(j.Play(nil, func() {})))
	}
	m := plan.Assemble(answers, func(scenario, lock string, seed uint64, modes ...fence.Mode) string {
		return fmt.Sprintf("locksim run %s --lock %s --seed %d --fencing %s", scenario, lock, seed, modes[0])
	})
	addProblems(m)
	return html.MatrixSite{Matrix: m, Scenarios: plan.Scenarios(), Locks: plan.Columns(), Replay: "locksim matrix",
		HasReport: func(string, string, uint64) bool { return true }}, nil
})

// addProblems makes watchdog a specimen, sets a title to markup, and adds a failure and
// a cell that is not as expected.
func addProblems(m *matrices.Matrix) {
	for i := range m.Cells {
		if m.Cells[i].Lock == "watchdog" {
			m.Cells[i].Lock = "broken/watchdog"
		}
	}
	m.Locks[2].Name = "broken/watchdog"
	m.Scenarios[0].Title = markup
	m.Cells[0].Match, m.Cells[0].Expected = matrices.TooBad, "safe"
	m.Expected, m.Totals.Worse = false, 1
	m.Failures = []matrices.Gap{{Scenario: "gc-pause", Lock: markup, Why: markup, Replay: markup}}
}

func written(t *testing.T, render func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := render(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var matrixPages = once(func(t *testing.T) map[string][]byte {
	t.Helper()
	s, err := matrixSite()
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"matrix":   written(t, func(w io.Writer) error { return html.Matrix(w, s) }),
		"lock":     written(t, func(w io.Writer) error { return html.MatrixLock(w, s, "fenced") }),
		"scenario": written(t, func(w io.Writer) error { return html.MatrixScenario(w, s, "flushall") }),
	}
})

// axe-core finds nothing on the pages of a matrix, on any screen, and no page is wider
// than its screen or has complaints or requests.
func TestMatrixPages(t *testing.T) {
	source := axeSource(t)
	for name, html := range matrixPages(t) {
		for _, v := range views {
			if name != "matrix" && v != desktop && v != phoneDark {
				continue
			}
			t.Run(name+"/"+v.name, func(t *testing.T) {
				tb := open(t, html, v)
				shoot(tb, "matrix-"+name+"-"+v.name)
				tb.checkWidth(v)
				if n := eval[int](tb,
					`document.images.length + document.querySelectorAll("h1 script, td script, li script").length`); n > 0 {
					t.Errorf("texts became %d elements", n)
				}
				tb.checkQuiet()
				tb.accessible(source)
				if name == "matrix" && v == desktop {
					tb.check("filters", tb.checkFilters)
				}
			})
		}
	}
}

// shownCells are the modes and labels of the visible cells.
const shownCells = `[...document.querySelectorAll(".cell")].filter((c) => c.checkVisibility({visibilityProperty: true})).map((c) => c.dataset.m + ":" + c.dataset.l).sort().join(" ")`

const shownRows = `[...document.querySelectorAll(".matrix tbody tr")].filter((r) => r.checkVisibility()).map((r) => r.cells[0].querySelector("a").textContent).join(" ")`

// checkFilters checks that the filters work with the keyboard alone, and that the counts are those of the visible
// cells.
func (tb *tab) checkFilters() {
	t := tb.t
	rows := func(want string) {
		t.Helper()
		if got := eval[string](tb, shownRows); got != want {
			t.Errorf("rows %q, want %q", got, want)
		}
		cells := len(strings.Fields(eval[string](tb, shownCells)))
		if got := eval[string](tb, `document.getElementById("shown").textContent`); !strings.HasPrefix(got,
			fmt.Sprintf("%d cell", cells)) {
			t.Errorf("%q, and %d cells can be seen", got, cells)
		}
	}
	all := "dead-worker flushall gc-pause dead-worker flushall gc-pause"
	rows(all)
	tb.press(`#q`, "flush")
	rows("flushall flushall")
	tb.press(`button[type=reset]`, " ")
	rows(all)
	tb.press(`#q`, "f11")
	rows("gc-pause gc-pause")
	tb.press(`button[type=reset]`, " ")
	tb.press(`[name=specimens]`, " ")
	rows("dead-worker flushall gc-pause")
	tb.press(`[name=worse]`, " ")
	rows("flushall gc-pause")
	tb.press(`[name=label][value=corrupted]`, " ")
	if got := eval[string](tb, shownCells); strings.Contains(got, "corrupted") || strings.Contains(got, "safe") ||
		!strings.Contains(got, "claim:rescued") {
		t.Errorf("cells %q", got)
	}
	tb.press(`[name=mode][value=claim]`, " ")
	if got := eval[string](tb, shownCells); strings.Contains(got, "claim:") || !strings.Contains(got, "cas:") {
		t.Errorf("cells %q", got)
	}
	tb.press(`button[type=reset]`, " ")
	tb.press(`.filters summary`, " ")
	tb.press(`[name=lock][value=single]`, " ")
	if got := eval[int](tb,
		`[...document.querySelectorAll("#scenarios thead th")].filter((h) => h.checkVisibility()).length`); got != 2 {
		t.Errorf("%d columns, want the scenario and one lock", got)
	}
	tb.press(`[name=odd]`, " ")
	if got := eval[string](tb,
		`document.querySelector(".none").checkVisibility() + document.getElementById("shown").textContent`); got != "true0 cells in 0 of 6 rows." {
		t.Errorf("the odd cell is of another lock, and the page says %q", got)
	}
	tb.press(`button[type=reset]`, " ")
	tb.press(`[name=words]`, " ")
	if got := eval[string](tb,
		`document.querySelector("#scenarios .cell .w").getBoundingClientRect().width > 40 ? document.querySelector("#scenarios .cell .w").innerText : "hidden"`); !strings.HasPrefix(got, "none ") {
		t.Errorf("the words of a cell are %q", got)
	}
	shoot(tb, "matrix-words")
	rows(all)
	tb.checkQuiet()
}

// The head of the table and the names of its rows stay visible when it scrolls.
func TestMatrixHeadsStick(t *testing.T) {
	tb := open(t, matrixPages(t)["matrix"], view{name: "small", width: 280, height: 300, mobile: true, scheme: "light"})
	const moved = `(() => { const g = document.querySelector(".grid"); g.scrollTo(400, 400); const b = g.getBoundingClientRect();
		const top = g.querySelector("thead th:last-child").getBoundingClientRect(), left = g.querySelector("tbody tr:last-child th").getBoundingClientRect();
		return g.scrollTop > 20 && g.scrollLeft > 20 && Math.abs(top.top - b.top) < 3 && Math.abs(left.left - b.left) < 3; })()`
	if !eval[bool](tb, moved) {
		t.Error("the table does not scroll, or its heads scroll away")
	}
}

// Without scripts the page has the whole table.
func TestMatrixWithoutScripts(t *testing.T) {
	v := desktop
	v.noScript = true
	tb := open(t, matrixPages(t)["matrix"], v)
	shoot(tb, "matrix-still")
	tb.do(chromedp.WaitVisible(chromedp.CSS(".cell")), chromedp.WaitNotVisible(chromedp.CSS(".filters")))
}

// The page of equal runs has one diagram and one story, and the player shows it.
func TestTogetherPlays(t *testing.T) {
	o := played(t, "calm", "fenced", fence.None, fence.Check, fence.Seal)
	html := written(t, func(w io.Writer) error {
		return html.Run(w, o, reports.Options{Links: html.MatrixRunLinks("calm", "fenced")})
	})
	tb := open(t, html, desktop)
	tb.click(`[data-play=next]`)
	if got := eval[string](tb,
		`document.querySelectorAll(".panel, .tale").length + document.querySelector("[name=mode]:checked").parentElement.textContent.trim() + document.querySelector("[data-play=range]").value`); got != "2none, check, seal1" {
		t.Errorf("diagrams and stories, the mode, and the step are %q", got)
	}
	tb.checkQuiet()
}
