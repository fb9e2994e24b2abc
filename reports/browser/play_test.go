package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"locksim/checker"
	"locksim/scenarios/outcome"
)

// checkJump checks that the button or the key shows the decisive step in the window of the diagram and in the
// story, with the state of the world beside it, from the whole run and its first step. It puts the page back to
// them.
func checkJump(tb *tab, o *outcome.Outcome, jump func()) {
	tb.click(`[data-play=first]`)
	tb.click(`[data-do=fit]`)
	jump()
	step := fatalLine(tb.t, o.Modes[0])
	at := float64(step.At)
	c := drawn(tb, "none")
	if at < c.From || at > c.To || at < c.From+(c.To-c.From)/2 {
		tb.t.Errorf("the window is %v to %v, the decisive step at %v", c.From, c.To, at)
	}
	for _, b := range c.Items {
		g := grantedAt(o.Modes[0], b.N)
		if g != nil && strings.HasPrefix(b.Class, "bar claim") && !within(c, b) &&
			g.Belief(o.Modes[0].History.Care).Contains(checker.Pos(step.N)) {
			tb.t.Errorf("the claim of step %d, in force at the decisive step, begins outside the window", b.N)
		}
		if strings.HasPrefix(b.Class, "strip") && !within(c, b) {
			tb.t.Errorf("the fault of step %d begins outside the window", b.N)
		}
	}
	if got, want := current(tb), fmt.Sprintf("none-%d", step.N); got != want {
		tb.t.Errorf("the story is at %s, want %s", got, want)
	}
	compareState(tb, o.Modes[0], checker.Pos(step.N))
	tb.click(`[data-play=first]`)
	first := float64(o.Modes[0].Story[0].At)
	if c := drawn(tb, "none"); first < c.From || first > c.To {
		tb.t.Errorf("the window is %v to %v, and the story went to %v", c.From, c.To, first)
	}
	tb.click(`[data-do=fit]`)
	tb.checkQuiet()
}

// grantedAt is the grant of a step, nil where there is none.
func grantedAt(m outcome.ModeRun, step int) *checker.Grant {
	for i, g := range m.History.Grants {
		if int(g.Granted) == step {
			return &m.History.Grants[i]
		}
	}
	return nil
}

// within reports whether the beginning of a box is in the window.
func within(c chart, b box) bool { return b.Shown && b.Left >= c.Lanes["s0"].Left }

func fatalLine(t *testing.T, m outcome.ModeRun) outcome.Line {
	t.Helper()
	for _, l := range m.Story {
		if l.Fatal {
			return l
		}
	}
	t.Fatal("the story has no decisive step")
	return outcome.Line{}
}

func current(tb *tab) string {
	return eval[string](tb, `[...document.querySelectorAll(".tale:not(.away) .current")].map((l) => l.id).join(" ")`)
}

// compareState compares who holds and who believes, as the page shows it, with
// the history.
func compareState(tb *tab, m outcome.ModeRun, p checker.Pos) {
	tb.t.Helper()
	rows := eval[[]string](tb,
		`[...document.querySelector("[data-state] table").rows].slice(1).map((r) => [...r.cells].slice(0, 4).map((c) => c.textContent).join(" "))`)
	for _, row := range rows {
		client, _, _ := strings.Cut(row, " ")
		holds, believes := "no", "no"
		for _, g := range m.History.Grants {
			if g.Client == client && g.Claim().Contains(p) {
				holds = "yes"
			}
			if g.Client == client && g.Belief(m.History.Care).Contains(p) {
				believes = "yes"
			}
		}
		if !strings.HasSuffix(row, " "+holds+" "+believes) {
			tb.t.Errorf("the page says %q; holds: %s, believes: %s", row, holds, believes)
		}
	}
	if len(rows) == 0 {
		tb.t.Error("the state has no clients")
	}
}

// Buttons, keys, the slider and the player move forward and back; another mode is shown
// at the same time of the run.
func TestStepPlay(t *testing.T) {
	o := gcPause(t)
	tb := open(t, rendered(t, o), desktop)
	at := func(i int) string { return fmt.Sprintf("none-%d", o.Modes[0].Story[i].N) }
	expect := func(what, want string) {
		t.Helper()
		if got := current(tb); got != want {
			t.Errorf("after %s the story is at %s, want %s", what, got, want)
		}
	}
	expect("opening the page", fmt.Sprintf("none-%d", fatalLine(t, o.Modes[0]).N))
	tb.click(`[data-play=first]`)
	expect("the button to the first step", at(0))
	tb.click(`[data-play=next]`)
	expect("a step", at(1))
	tb.press(`.chart`, "]")
	expect("the key ]", at(2))
	tb.press(`[data-play=range]`, kb.ArrowRight)
	expect("the slider's right arrow", at(3))
	tb.press(`.chart`, "[")
	expect("the key [", at(2))
	tb.click(`[data-play=back]`)
	expect("a step back", at(1))
	compareState(tb, o.Modes[0], checker.Pos(o.Modes[0].Story[1].N))
	tb.click(`[data-play=play]`)
	if _, err := chromedp.Run(tb.Context,
		chromedp.Poll[bool](`document.querySelector(".tale:not(.away) .current").id === "`+at(3)+`"`)); err != nil {
		t.Fatal(err)
	}
	tb.click(`[data-play=play]`)
	stopped := current(tb)
	tb.click(`[name=mode][value=check]`)
	expect("choosing another mode", strings.Replace(stopped, "none", "check", 1))
	fatal := fmt.Sprintf("check-%d", fatalLine(t, o.Modes[1]).N)
	tb.do(chromedp.Click(chromedp.CSS("#" + fatal + " a")))
	// the browser navigates later
	if _, err := chromedp.Run(tb.Context,
		chromedp.Poll[bool](`document.querySelector(".tale:not(.away) .current").id === "`+fatal+`"`)); err != nil {
		t.Errorf("after following a link the story is at %s, want %s: %v", current(tb), fatal, err)
	}
	tb.checkQuiet()
}

// A link is followed although the page puts the step before it into the address, before the browser tells it of the
// link.
func TestLinkBesideAddress(t *testing.T) {
	o := gcPause(t)
	tb := open(t, rendered(t, o), desktop)
	tb.click(`[data-play=first]`)
	fatal := fmt.Sprintf("none-%d", fatalLine(t, o.Modes[0]).N)
	eval[bool](tb, fmt.Sprintf(`(() => { document.querySelector("#%s a").click();
		Promise.resolve().then(() => history.replaceState(null, "", "#%s"));
		return true; })()`, fatal, current(tb)))
	tb.await(fmt.Sprintf(`document.querySelector(".tale:not(.away) .current").id === %q`, fatal))
	tb.await(fmt.Sprintf(`location.hash.startsWith(%q)`, "#"+fatal))
	tb.checkQuiet()
}

// The Tab key reaches every control.
func TestTabReachesEverything(t *testing.T) {
	tb := open(t, rendered(t, redlockFailure(t)), desktop)
	want := eval[int](tb, `(() => { window.reached = new Set();
		document.addEventListener("focusin", (e) => reached.add(e.target));
		window.controls = [...document.querySelectorAll('a[href], button, select, summary, input:not([type=radio]), input[type=radio]:checked, [tabindex="0"]')].filter((el) => el.checkVisibility());
		return controls.length; })()`)
	for range want + 4 {
		tb.do(chromedp.KeyEvent("\t"))
	}
	if left := eval[[]string](tb,
		`controls.filter((el) => !reached.has(el)).map((el) => el.outerHTML.slice(0, 120))`); len(left) > 0 {
		t.Errorf("%d of %d controls are not reached:\n%s", len(left), want, strings.Join(left, "\n"))
	}
}

// checkDetails checks that pointing at a bar shows its description, and that stepping through the events does too.
// It ends the choice.
func (tb *tab) checkDetails() {
	tb.do(chromedp.ScrollIntoView(chromedp.CSS(`.chart`)))
	point := eval[[]float64](tb,
		`(() => { const r = document.querySelector("#charts .bar.claim").getBoundingClientRect(); return [r.left + r.width / 2, r.top + 5]; })()`)
	tb.do(chromedp.MouseEvent("mouseMoved", point[0], point[1]))
	if got := eval[string](tb, `document.querySelector("[data-tip]").textContent`); !strings.Contains(got,
		"c0 has a claim with token 1") {
		tb.t.Errorf("the tooltip says %q", got)
	}
	tb.press(`.chart`, ".")
	if got := eval[string](tb, `document.querySelector("[data-details]").textContent`); !strings.Contains(got, "step ") {
		tb.t.Errorf("the details say %q", got)
	}
	tb.do(chromedp.KeyEvent(kb.Escape), chromedp.MouseEvent("mouseMoved", 0, 0))
}

// checkAddress checks that the address has the step and the window of time, and that an address shows what it has. It
// puts the page back to the whole run and its first step.
func (tb *tab) checkAddress() {
	tb.click(`[data-do=jump]`)
	tb.await(`/^#none-[0-9]+@-?[0-9]+[.][.][0-9]+$/.test(location.hash)`)
	address, step, window := eval[string](tb, `location.hash`), current(tb), drawn(tb, "none")
	tb.click(`[data-play=first]`)
	tb.click(`[data-do=fit]`)
	tb.await(fmt.Sprintf("location.hash === '#%s'", current(tb)))
	eval[string](tb, fmt.Sprintf("location.hash = %q", address))
	tb.await(fmt.Sprintf("document.querySelector('.tale .current').id === %q", step))
	if got := drawn(tb, "none"); got.From < window.From-1 || got.From > window.From+1 || got.To < window.To-1 ||
		got.To > window.To+1 {
		tb.t.Errorf("%s shows the window %v to %v, and it was made of %v to %v", address, got.From, got.To, window.From,
			window.To)
	}
	tb.click(`[data-play=first]`)
	tb.click(`[data-do=fit]`)
	tb.checkQuiet()
}
