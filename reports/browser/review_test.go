package browser

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"locksim/lock/fence"
	"locksim/reports/html"
	"locksim/scenarios/explore"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/replay"
	"locksim/scenarios/review"
)

// reviewPage is the design review of a specimen, from real runs.
var reviewPage = sync.OnceValues(func() ([]byte, error) {
	l, err := redislocks.Find("broken/token-after-lock", nil)
	if err != nil {
		return nil, err
	}
	work, err := review.NewWork(l, review.Options{Seeds: outcome.Seeds{First: 1, Last: 1}, Runs: 20})
	if err != nil {
		return nil, err
	}
	parts, err := measuredParts(work)
	if err != nil {
		return nil, err
	}
	failures := reviews.Failures(parts, func(f reviews.Failure) string {
		return fmt.Sprintf("locksim explore --from-seed %d", f.Seed)
	})
	for i := range failures {
		if failures[i].Fences, err = (review.FenceJob{Run: failures[i].Run}).Play(nil); err != nil {
			return nil, err
		}
	}
	r, err := review.Assemble(work.Plan, l, parts, failures, runCommand)
	if err != nil {
		return nil, err
	}
	worst := r.Worst()
	if worst == nil || worst.Failure == nil {
		return nil, fmt.Errorf("the worst failure is %v", worst)
	}
	o, err := replay.Run(worst.Failure.Run, nil, outcome.Once)
	if err != nil {
		return nil, err
	}
	var b, figure bytes.Buffer
	if err := html.Figure(&figure, o, worst.Mode, html.FigureOptions{ID: "worst", Width: 1100,
		Answers: true}); err != nil {
		return nil, err
	}
	err = html.Review(&b, r, html.ReviewOptions{Replay: "locksim report --review --lock broken/token-after-lock",
		Figure: figure.Bytes()})
	return b.Bytes(), err
})

func runCommand(scenario, lock string, seed uint64, modes ...fence.Mode) string {
	return fmt.Sprintf("locksim run %s --lock %s --seed %d --fencing %v", scenario, lock, seed, modes)
}

// measuredParts are the matrix and the exploration of a review.
func measuredParts(work *review.Work) (reviews.Parts, error) {
	parts := reviews.Parts{Missing: work.Missing}
	var answers []matrix.Answer
	for _, j := range work.Matrix.Jobs() {
		answers = append(answers, matrix.NewAnswer(j.Play(nil, func() {})))
	}
	parts.Matrix = work.Matrix.Assemble(answers, runCommand)
	block, err := explore.NewJob(work.All, 0).Play(nil, func() {})
	parts.All = explorations.Assemble(work.All, map[int]explorations.Block{0: block})
	return parts, err
}

// The review loads without complaints and requests, is not wider than its screen, and
// axe-core finds nothing with everything unfolded.
func TestReviewPage(t *testing.T) {
	page, err := reviewPage()
	if err != nil {
		t.Fatal(err)
	}
	source := axeSource(t)
	for _, v := range []view{desktop, phoneDark} { // together, both sizes and both colour schemes
		t.Run(v.name, func(t *testing.T) {
			tb := open(t, page, v)
			tb.checkWidth(v)
			if height := eval[int](tb, `document.documentElement.scrollHeight`); v == desktop && height > 6000 {
				t.Errorf("the page is %d pixels high with everything folded, at most 6000 are allowed", height)
			}
			shoot(tb, "review-"+v.name)
			tb.checkQuiet()
			if v == desktop {
				tb.check("by keyboard", tb.checkKeyboard)
			}
			eval[bool](tb, `(document.querySelectorAll("details").forEach((d) => { d.open = true; }), true)`)
			tb.accessible(source)
			if v == desktop {
				tb.checkPaper()
			}
		})
	}
}

// checkKeyboard checks on a page that was just opened that the skip link leads to the recommendation, and that
// Enter unfolds a part. In print all parts are unfolded.
func (tb *tab) checkKeyboard() {
	tb.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r"))
	if got := eval[string](tb, `location.hash`); got != "#advice" {
		tb.t.Errorf("the skip link leads to %q", got)
	}
	tb.press(".rest summary", "\r")
	if !eval[bool](tb, `document.querySelector(".rest").open`) {
		tb.t.Error("Enter does not unfold")
	}
	if !eval[bool](tb, `(dispatchEvent(new Event("beforeprint")), [...document.querySelectorAll("details")].every((d) => d.open))`) {
		tb.t.Error("on paper something stays folded")
	}
}

// checkPaper checks that what comes before the folded parts fits on a sheet of A4 with margins of a centimetre.
func (tb *tab) checkPaper() {
	tb.do(chromedp.EmulateViewport(718, 1047),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}))
	const sheet = 1047
	if end := eval[float64](tb, `document.querySelector(".front").getBoundingClientRect().bottom + scrollY`); end > sheet {
		tb.t.Errorf("the first page ends at %.0f pixels, a sheet at %d", end, sheet)
	}
	tb.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}), desktop.emulate())
}
