package markdowntest

import (
	"bytes"
	"regexp"
	"testing"

	"locksim/internal/tainted"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/markdown"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
)

// played is a run of a scenario with the lock that it names.
func played(t *testing.T, sc *file.Scenario, modes ...fence.Mode) *outcome.Outcome {
	t.Helper()
	l, err := redislocks.Find(sc.Lock.Kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: modes, Repeat: outcome.Once})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func loaded(t *testing.T, name string) *file.Scenario {
	t.Helper()
	sc, err := file.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

func rendered(t *testing.T, o *outcome.Outcome, opt reports.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := markdown.Run(&b, o, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var diagramForm = regexp.MustCompile("(?s)\n```mermaid\n(.*?)\n```\n")

// diagram is the first diagram of a page.
func diagram(t *testing.T, page string) string {
	t.Helper()
	found := diagramForm.FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the page has no diagram")
	}
	return found[1]
}

// evil is a text with the ends of statements, fences, cells and tags, with mentions and
// links, and with the beginnings of comments, directives and formulas.
const evil = "x; end #1 %%{init: {}}%% <img src=x onerror=alert(1)></script> ```\n``` | [a](http://b.c) @team $$x$$ " +
	"www.d.e `code` **b** wrap: style: ﬂ°°60¶ß &lt; \\ \x1b[31m"

// hostile is a run with evil in every text of its scenario, lock and events.
func hostile(t *testing.T) *outcome.Outcome {
	t.Helper()
	o := played(t, loaded(t, "gc-pause"), fence.None, fence.Check, fence.Seal)
	sc := *o.Scenario
	sc.Name, sc.Title, sc.Why, sc.Source = evil, evil, "<script "+evil, []byte("name: |\n  "+evil+"\n```\n````\n")
	sc.Catalogue = []string{evil}
	o.Scenario, o.Lock = &sc, evil
	for i := range o.Modes {
		m := &o.Modes[i]
		for j := range m.Trace.Events {
			e := &m.Trace.Events[j]
			e.What = tainted.What(e.What, " "+evil)
		}
		for j := range m.Story {
			m.Story[j] = tainted.Line(m.Story[j], " "+evil)
		}
		for j := range m.Verdict.Reasons {
			m.Verdict.Reasons[j].Text = evil
		}
	}
	return o
}
