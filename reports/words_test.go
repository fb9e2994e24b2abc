package reports_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/chrome"
	"locksim/reports/html"
	"locksim/reports/junit"
	"locksim/reports/markdown"
	"locksim/reports/scene"
	"locksim/reports/terminal"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// formats are the reports of a run that are text.
var formats = map[string]func(io.Writer, *outcome.Outcome, reports.Options) error{
	"terminal": terminal.Run, "timeline": terminal.Timeline, "html": html.Run, "markdown": markdown.Run,
	"junit": junit.Run, "chrome": chrome.Run,
	"json": func(w io.Writer, o *outcome.Outcome, _ reports.Options) error {
		b, err := outcome.NewRunFile(o).JSON()
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	},
}

// written is a run in each format. Folded lines are joined again.
func written(t *testing.T, o *outcome.Outcome) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, write := range formats {
		var b bytes.Buffer
		if err := write(&b, o, reports.Options{Width: 400}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = strings.NewReplacer("<br/>", " ", "&#39;", "'", "’", "'").Replace(b.String())
	}
	return all
}

// played is a run of a scenario of the library with a lock of ours.
func played(t *testing.T, scenario, kind string, modes ...fence.Mode) *outcome.Outcome {
	t.Helper()
	l, err := redislocks.Kind(kind)
	if err != nil {
		t.Fatal(err)
	}
	return playedWith(t, scenario, l, modes...)
}

// playedWith is a run of a scenario of the library.
func playedWith(t *testing.T, scenario string, l subject.Lock, modes ...fence.Mode) *outcome.Outcome {
	t.Helper()
	sc, err := file.Load(scenario)
	if err != nil {
		t.Fatal(err)
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: modes})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A report says what saved the data in its mode: a token only where the store compares tokens.
func TestWhatSavedTheData(t *testing.T) {
	saver := regexp.MustCompile(`the ([a-z' -]*)(saves|saved) the data`)
	for mode, want := range map[fence.Mode]string{
		fence.Seal: "fencing token ", fence.Claim: "check of the grant's claim ",
		fence.CAS: "compare-and-set of the value that was read ",
	} {
		o := played(t, "gc-pause", "fenced", mode)
		if o.Modes[0].Verdict.Label != checker.Rescued {
			t.Fatalf("mode %s is %s", mode, o.Modes[0].Verdict.Label)
		}
		for name, text := range written(t, o) {
			found := saver.FindAllStringSubmatch(text, -1)
			for _, f := range found {
				if f[1] != want {
					t.Errorf("mode %s, %s: %q", mode, name, f[0])
				}
			}
			if len(found) == 0 && (name == "terminal" || name == "timeline" || name == "html" || name == "markdown") {
				t.Errorf("mode %s, %s does not say what saved the data", mode, name)
			}
		}
	}
}

// A run has as many events as steps, in every format and in its run file: the number of events is that of the last
// step.
func TestCountsAgree(t *testing.T) {
	o := played(t, "gc-pause", "fenced", fence.None)
	m := o.Modes[0]
	last := m.Trace.Events[m.Trace.Len()-1].N
	all := written(t, o)
	var b bytes.Buffer
	if err := terminal.Replayed(&b, o, reports.Options{}); err != nil {
		t.Fatal(err)
	}
	all["replayed"] = b.String()
	for name, form := range map[string]string{
		"terminal": `(?m)^none .* (\d+)  +[\d.]+s$`,
		"replayed": `(\d+) events`,
		"html":     `>(\d+) in [\d.]+s<`,
		"markdown": `\| (\d+) \| [\d.]+s \|\n(?s:.*)mode none: (\d+) events`,
		"junit":    `(\d+) events`,
		"json":     `"events": (\d+),`,
	} {
		found := regexp.MustCompile(form).FindStringSubmatch(all[name])
		if found == nil {
			t.Errorf("%s: no count of the events", name)
			continue
		}
		for _, count := range found[1:] {
			if count != strconv.Itoa(last) {
				t.Errorf("%s: %s events, and the last step is %d", name, count, last)
			}
		}
	}
	// What a shortened story leaves out are lines of the story, which are fewer than the steps of the run.
	for name, text := range all {
		if found := regexp.MustCompile(`\d+ steps left out`).FindString(text); found != "" {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// The error of a lock is one line in every report, whatever it contains.
func TestErrorsOfSeveralLines(t *testing.T) {
	l, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	l.Promise.Duties = nil // a release that fails in a calm run is a breach of one
	o := playedWith(t, "calm", testreports.Talkative(l), fence.None)
	const want = `fails to release: 2 errors occurred: * one | two \x1b[31m* three;`
	n := 0
	for _, line := range o.Modes[0].Story {
		if strings.HasPrefix(line.Text, "fails to release") {
			n++
			if line.Text != want {
				t.Errorf("the story has %q, want %q", line.Text, want)
			}
		}
	}
	if n == 0 {
		t.Fatal("no release failed")
	}
	all := written(t, o)
	for _, name := range []string{"terminal", "timeline", "markdown", "html"} { // which may leave out lines of the story
		said := strings.Count(all[name], "fails to release: ")
		whole := regexp.MustCompile(`(?m)^.*fails to release: 2 errors occurred: .* three;.*$`).FindAllString(all[name], -1)
		if len(whole) != said || said == 0 {
			t.Errorf("%s: %d of %d failed releases are one line", name, len(whole), said)
		}
	}
	for name, text := range all {
		if strings.ContainsAny(text, "\x1b") {
			t.Errorf("%s: a control character of the error is in it", name)
		}
	}
	// In the diagram each line is a statement: the error is within the text of a note.
	diagram, _, _ := strings.Cut(strings.SplitN(all["markdown"], "sequenceDiagram\n", 2)[1], "```")
	for line := range strings.Lines(diagram) {
		if !regexp.MustCompile(
			`^ *(accTitle: |accDescr: |participant |Note over |activate |deactivate |rect |end$|alt |else |\w+(-->>|->>|-x|--x)\w+: )`).MatchString(strings.TrimRight(line, "\n")) {
			t.Errorf("the diagram has the line %q", line)
		}
	}
}

// Where a client is granted the lock while another has it, each report marks that instant, and not only the write that
// did the damage. If the other's claim goes on, that instant is the decisive step.
func TestSharedInstantIsMarked(t *testing.T) {
	for _, tc := range []struct{ scenario, lock, remark string }{
		{"pause-after-check", "fenced", "while c0 still believes that it has it"},
		{"lock-key-evicted", "fenced", "while the claim of c0 goes on: the lock breaks its promise"},
	} {
		o := played(t, tc.scenario, tc.lock, fence.None)
		m := o.Modes[0]
		var at []int
		for _, g := range m.History.Grants {
			for _, before := range m.History.Grants {
				if before.Granted < g.Granted && before.Belief(m.History.Care).Contains(g.Granted) {
					at = append(at, int(g.Granted))
				}
			}
		}
		if len(at) != 1 {
			t.Fatalf("%s: shared grants at %v, want one", tc.scenario, at)
		}
		if decisive := scene.DecisiveStep(m.Story) == at[0]; decisive != strings.Contains(tc.remark, "claim") {
			t.Errorf("%s: the decisive step is %d, and the shared grant is step %d", tc.scenario, scene.DecisiveStep(m.Story),
				at[0])
		}
		if first := m.Verdict.Reasons[0]; strings.Contains(tc.remark, "claim") != (int(first.At[0]) == at[0]) {
			t.Errorf("%s: the first reason is %q", tc.scenario, first.Text)
		}
		for name, form := range map[string]string{
			"terminal": `(?m)^(?: >|>>) +[\d.]+s +%d +is granted order token=2 — %s$`,
			"timeline": `(?m)^(?: >|>>) +[\d.]+s +%d .*c1 is granted order token=2 — %s$`,
			"markdown": `(?m)^\| >{1,2} \**%d\** \| \**[\d.]+s\** \| \**c1\** \| \**is granted order token=2 — %s\** \|$`,
			"html":     `<li id="none-%d" data-n="\d+" class="(?:shared|fatal)">.*is granted order token=2 — %s`,
		} {
			text := strings.ReplaceAll(written(t, o)[name], "breaks its\n>>                                         promise",
				"breaks its promise")
			if !regexp.MustCompile(fmt.Sprintf(form, at[0], tc.remark)).MatchString(text) {
				t.Errorf("%s, %s does not mark step %d in the story", tc.scenario, name, at[0])
			}
		}
		for name, form := range map[string]string{
			"markdown": `(?m)^    rect .*\n(?: +Note over c1: .*token=2\n)? +Note over c1: (?:[\d.]+s is granted order token=2 — |step %d, it broke here: )%s\n +end$`,
			"html":     `<g class="mark shared" data-n="%d"(?s:.*?)<title>c1 is granted the lock %s`,
			"chrome":   `"cat":"shared".*"c1 is granted the lock %s`,
		} {
			want := regexp.MustCompile(strings.NewReplacer("%d", strconv.Itoa(at[0]), "%s", tc.remark).Replace(form))
			text := written(t, o)[name]
			if name == "markdown" {
				text = strings.NewReplacer("#58;", ":", "<br/>", " ").Replace(text)
			}
			if !want.MatchString(text) {
				t.Errorf("%s, %s does not mark step %d in the picture", tc.scenario, name, at[0])
			}
		}
	}
}

// Where no harm came of it, that instant is the decisive one.
func TestSharedInstantDecides(t *testing.T) {
	o := played(t, "lock-key-evicted", "watchdog", fence.None)
	m := o.Modes[0]
	if m.Verdict.Label != checker.Overlap {
		t.Fatalf("the run is %s", m.Verdict.Label)
	}
	first := int(checker.SharedGrants(m.History)[0].Granted.Granted)
	for _, line := range m.Story {
		if line.Fatal != (line.N == first) {
			t.Errorf("step %d is decisive: %v, and two clients held the lock from step %d on", line.N, line.Fatal, first)
		}
	}
	if text := written(t, o)["html"]; !strings.Contains(text, fmt.Sprintf("It was decided at step %d,", first)) {
		t.Errorf("the page has another decisive step than %d", first)
	}
}
