package browser

import (
	"slices"
	"testing"

	"locksim/checker"
	"locksim/reports/scene"
)

// Each page of a run is opened once in each view: what only reads it comes first, then what changes it and puts it
// back. With LOCKSIM_SCREENSHOTS, as in make screenshots, the test also takes pictures of the whole page and of
// the decisive step.
func TestRunPages(t *testing.T) {
	for name, subject := range subjects {
		for _, v := range views {
			t.Run(name+"/"+v.name, func(t *testing.T) {
				p := runPage{tab: open(t, rendered(t, subject(t)), v), name: name, view: v}
				p.reads()
				p.changes()
			})
		}
	}
}

// runPage is the open page of a subject.
type runPage struct {
	*tab
	name string
	view view
}

// is reports whether the page is that of one of these subjects.
func (p runPage) is(names ...string) bool {
	return slices.Contains(names, p.name)
}

// reads has the assertions that leave the page as it is. The drawing of porcupine is opened for axe-core, which
// then sees all that it sees without it.
func (p runPage) reads() {
	o := subjects[p.name](p.t)
	p.check("loads quietly", func() { p.checkLoad(len(scene.Merged(scene.All(o)))) })
	p.check("width", func() { p.checkWidth(p.view) })
	shoot(p.tab, p.name+"-"+p.view.name)
	if p.is("gc-pause", "redlock", "failover") {
		p.check("first screen", func() { p.checkFirstScreen(p.view) })
	}
	if p.is("redlock") {
		p.check("first state", func() { compareState(p.tab, o.Modes[0], checker.Pos(fatalLine(p.t, o.Modes[0]).N)) })
		p.check("contrast in diagrams", p.checkContrast)
	}
	if p.is("gc-pause", "redlock") && !p.view.mobile {
		compareDiagrams(p.tab, o, "whole")
	}
	if p.is("gc-pause") {
		p.check("porcupine's drawing", func() { p.checkDrawing(p.view) })
	}
	if shown(p.name, p.view) {
		p.check("axe-core", func() { p.accessible(axeSource(p.t)) })
	}
	if p.is("gc-pause") {
		p.press(`.picture summary`, "\r")
	}
}

// changes has the assertions about controls. Each puts the page back.
func (p runPage) changes() {
	o := subjects[p.name](p.t)
	if p.is("gc-pause") && !p.view.mobile {
		p.check("repeated requests", p.checkRepeated)
		p.check("details", p.checkDetails)
	}
	if p.is("gc-pause", "redlock") {
		p.check("labels", p.checkLabels)
	}
	if p.is("gc-pause", "redlock") && !p.view.mobile {
		p.check("jump by button", func() {
			checkJump(p.tab, o, func() {
				p.click(`[data-do=jump]`)
				compareDiagrams(p.tab, o, "around the decisive step")
			})
		})
		p.check("jump by key", func() { checkJump(p.tab, o, func() { p.press(`.chart`, "b") }) })
	}
	if p.is("gc-pause") && !p.view.mobile {
		p.check("address", p.checkAddress)
	}
	if eval[bool](p.tab, `!!document.querySelector("[data-do=jump]")`) {
		p.click(`[data-do=jump]`)
		shoot(p.tab, p.name+"-"+p.view.name+"-broke")
	}
	if p.is("redlock") && !p.view.mobile {
		p.check("print", p.checkPrint)
	}
	p.check("quiet to the end", p.checkQuiet)
}

// checkLoad checks that a page has its diagrams, and no complaints or requests: modes with the same run have one
// diagram.
func (tb *tab) checkLoad(diagrams int) {
	if got := eval[int](tb, `document.querySelectorAll(".panel").length`); got != diagrams {
		tb.t.Errorf("%d diagrams, want %d", got, diagrams)
	}
	if eval[bool](tb, `document.documentElement.scrollWidth > innerWidth`) {
		tb.t.Error("the page is wider than its window")
	}
	tb.checkQuiet()
}
