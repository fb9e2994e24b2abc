package html_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/tainted"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

func page(t *testing.T, o *outcome.Outcome, opt reports.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Run(&b, o, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRunSaysAll(t *testing.T) {
	o := testreports.PausedOutcome()
	html := page(t, o, reports.Options{Repeat: outcome.Twice, Replay: "locksim run gc-pause --seed 1",
		Versions: []reports.Version{{Name: "Go", Version: "1.26.1"}}})
	testreports.CheckTexts(t, html, []string{
		"<h1>A stop-the-world pause outlives the lease</h1>",
		"With no fence the data ended corrupted; with fencing check the fencing token saved the data.",
		"Not run: this mode needs fencing tokens",
		"Mode check: the same run as mode none up to step 19. They part at 20.000s: in mode none s0 OK write c0.w2 (token " +
			"1); here s0 REFUSED",
		"c0 paused 10s, from 0.007s to 10.000s",
		"c0 has a claim with token 1, from 0.005s to 5.000s, until its validity ended",
		"more than one client believes that it holds the lock, from 6.000s to 7.004s",
		"by the record of the nodes c0 has the lock, from 0.003s to 5.000s, until the key expired on r0",
		"it broke here", "the fence held here", "parts from mode none",
		"acknowledged, and lost", "refused",
		"<summary>Porcupine’s own drawing of order/balance: no order found</summary>",
		`sandbox="allow-scripts" title="Porcupine’s drawing of order/balance, mode check: an order found" height="`,
		"One seed is one schedule of many",
		"<code>name: gc-pause\n</code>",
		"<code>locksim run gc-pause --seed 1</code>",
		o.Modes[0].TraceHash, o.Modes[1].TraceHash, "1.26.1",
	}, []string{"ZgotmplZ", "<no value>", "%!"})
}

// The table of facts has each fact with a title, of leaders and of a store under test where the run is about them.
func TestRunShowsEachFact(t *testing.T) {
	o := testreports.PausedOutcome()
	shows := func(of checker.FactsOf, want bool) {
		t.Helper()
		text := page(t, o, reports.Options{})
		for _, f := range checker.FactList() {
			line := `<tr><th scope="row">` + f.Title + "<"
			if note := ` <small>` + f.Note + `</small>`; f.Note != "" {
				line = `<tr><th scope="row">` + f.Title + note + "<"
			}
			if f.Of == of && f.Title != "" && strings.Contains(text, line) != want {
				t.Errorf("the page has the fact %s: %t, want %t", f.Name, !want, want)
			}
		}
	}
	shows(checker.OfAll, true)
	shows(checker.OfFence, false)
	shows(checker.OfLeaders, false)
	sc := *o.Scenario
	sc.Workload.Kind = file.WorkloadLeader
	o.Scenario = &sc
	o.Modes[0].History.Fence = fence.Seal
	shows(checker.OfFence, true)
	shows(checker.OfLeaders, true)
}

// What became of the keys of the lock is said once, right below the diagram of the run that the story tells.
func TestRunSaysWhatBecameOfTheKeys(t *testing.T) {
	o := testreports.PausedOutcome()
	for i := range o.Modes {
		if o.Modes[i].Trace != nil {
			e := o.Modes[i].Trace.Events[0]
			o.Modes[i].KeyChanges = []trace.KeyChange{{Step: e.N, At: e.At, Server: "r0", Key: "lock:order", Value: "a",
				By: "c0", Change: trace.KeySet}}
		}
	}
	html := page(t, o, reports.Options{})
	first, _, _ := strings.Cut(html, `</figure>`)
	const said = `<p class="keylives">The key `
	if !strings.Contains(first, said) || strings.Count(html, said) != 1 {
		t.Errorf("%d times on the page, %d in the first figure", strings.Count(html, said), strings.Count(first, said))
	}
}

// A page refers to nothing outside it, and its policy forbids to load anything.
func TestRunIsSelfContained(t *testing.T) {
	html := page(t, testreports.PausedOutcome(), reports.Options{})
	testreports.CheckTexts(t, html, []string{`http-equiv="Content-Security-Policy" content="default-src 'none';`}, nil)
	for _, found := range regexp.MustCompile(`(?:src|href|action|data)="([^"]*)"|url\(([^)]*)\)|@import`).FindAllString(
		html, -1) {
		if !regexp.MustCompile(`"#|"data:,"|url\(#`).MatchString(found) {
			t.Errorf("the page refers to %s", found)
		}
	}
}

// Every text of a scenario, a lock or a run is text.
func TestRunEscapes(t *testing.T) {
	const evil = `<img src=x onerror=alert(1)></script><!--`
	o := testreports.PausedOutcome()
	sc := o.Scenario
	sc.Name, sc.Title, sc.Why, sc.Source, o.Lock = evil, evil, evil, []byte(evil), evil
	for i := range o.Modes {
		m := &o.Modes[i]
		m.TraceHash, m.Corroboration.Why = evil, evil
		for j := range m.Verdict.Reasons {
			m.Verdict.Reasons[j].Text = evil
		}
		for j := range m.Story {
			m.Story[j].What, m.Story[j].Text, m.Story[j].Actor = evil, evil, evil
		}
		for j := range m.History.Ops {
			m.History.Ops[j].Saw, m.History.Ops[j].Client = evil, evil
		}
		if m.Trace != nil {
			for j := range m.Trace.Events {
				e := &m.Trace.Events[j]
				e.What = tainted.What(e.What, evil)
			}
			last := m.Trace.Add(trace.Event{At: 20 * time.Second, Actor: "r0", Peer: "c1", What: strange{evil, evil}})
			m.History.Holdings[1].To = checker.Pos(last)
		}
	}
	state := &outcome.State{Store: []string{evil}, Nodes: []outcome.NodeState{{Name: evil}}}
	html := page(t, o, reports.Options{Replay: evil, Versions: []reports.Version{{Name: evil, Version: evil}},
		Inspect: func(fence.Mode, int) (*outcome.State, error) { return state, nil }})
	testreports.CheckTexts(t, html, []string{"&lt;img src=x onerror=alert(1)&gt;"},
		[]string{"<img", "onerror=alert(1)></script>", "<!--"})
	if n := strings.Count(html, "</script>"); n != 2 {
		t.Errorf("%d scripts end in the page, want 2", n)
	}
}

// strange is an event of a kind of server that locksim does not have.
type strange struct{ kind, text string }

func (s strange) Kind() string                       { return s.kind }
func (s strange) Fields(f trace.Fields) trace.Fields { return f.Text("text", s.text) }
func (s strange) Words(trace.View) trace.Words       { return trace.Words{Untold: "no story knows it"} }

// The page has no terminal escape sequences and no bytes that are not text.
func TestRunIsPrintable(t *testing.T) {
	o := testreports.PausedOutcome()
	o.Scenario.Title = "red \x1b[31m and \xff"
	e := &o.Modes[0].Trace.Events[1]
	e.What = tainted.What(e.What, "\x1b[2J\x00\xff")
	html := page(t, o, reports.Options{})
	if i := strings.IndexAny(html, "\x1b\x00"); i >= 0 || !strings.Contains(html, "red ") {
		t.Errorf("byte %d of the page is no text", i)
	}
}

// The same run gives the same page, also while other goroutines render pages.
func TestRunIsDeterministic(t *testing.T) {
	want := page(t, testreports.PausedOutcome(), reports.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var b bytes.Buffer
			if err := html.Run(&b, testreports.PausedOutcome(), reports.Options{}); err != nil || b.String() != want {
				t.Errorf("another page, or an error: %v", err)
			}
		})
	}
	wg.Wait()
}

// Unusual outcomes have a page with the right text.
func TestRunOfOddOutcomes(t *testing.T) {
	for name, tc := range map[string]struct {
		outcome func() *outcome.Outcome
		has     string
	}{
		"none ran": {func() *outcome.Outcome { return testreports.Outcome(testreports.NotApplicable(fence.Seal)) },
			"No run was made."},
		"no modes": {func() *outcome.Outcome { return testreports.Outcome() }, "No run was made."},
		"empty trace": {func() *outcome.Outcome { return testreports.Outcome(testreports.Corrupted()) },
			"the data ended corrupted"},
		"one mode": {func() *outcome.Outcome { return testreports.Outcome(testreports.Paused(fence.Check)) },
			"With fencing check the fencing token saved the data."},
		"equal runs": {func() *outcome.Outcome {
			return testreports.Outcome(testreports.Paused(fence.Check), testreports.Paused(fence.Seal))
		}, "<b>modes check, seal</b>"},
		"alike without a fence and with one": {func() *outcome.Outcome {
			with := testreports.Paused(fence.None)
			with.Mode = fence.Seal
			return testreports.Outcome(testreports.Paused(fence.None), with)
		}, "With no fence, and with fencing seal, the data ended corrupted."},
		"made in Go": {func() *outcome.Outcome { return testreports.Outcome(testreports.Paused(fence.None)) },
			"# made in Go"},
		"no expectation": {func() *outcome.Outcome {
			o := testreports.Outcome(testreports.Paused(fence.None))
			o.Scenario.Expect = nil
			return o
		}, "says nothing about what to expect"},
		"partial pause": {func() *outcome.Outcome {
			o := testreports.Outcome(testreports.Paused(fence.None))
			o.Modes[0].PartialPause = true
			return o
		}, "acted during a pause"},
		"worse than expected": {func() *outcome.Outcome {
			o := testreports.Outcome(testreports.Paused(fence.None))
			o.Scenario.Expect["fenced"][fence.None] = "safe"
			return o
		}, "Unexpected: the scenario says safe."},
	} {
		t.Run(name, func(t *testing.T) {
			testreports.CheckTexts(t, page(t, tc.outcome(), reports.Options{}), []string{tc.has, "</html>"}, nil)
		})
	}
}

// Where Inspect fails, the page has the state from the history.
func TestRunWithFailedInspect(t *testing.T) {
	opt := reports.Options{Inspect: func(fence.Mode, int) (*outcome.State, error) {
		return nil,
			errors.New("no such step")
	}}
	if page(t, testreports.PausedOutcome(), opt) != page(t, testreports.PausedOutcome(), reports.Options{}) {
		t.Error("a failed Inspect changed the page")
	}
}

func TestRunErrors(t *testing.T) {
	if err := html.Run(testreports.FullDisk{}, testreports.PausedOutcome(), reports.Options{}); err == nil ||
		!strings.Contains(err.Error(), "write the report: the disk is full") {
		t.Errorf("got %v", err)
	}
	var b bytes.Buffer
	if err := html.Run(&b, testreports.PausedOutcome(), reports.Options{Width: 3}); err == nil || b.Len() > 0 {
		t.Errorf("bad options: got %v and %d bytes", err, b.Len())
	}
}

// Runs that took the same course to the same label share a diagram and a story.
func TestRunsThatAreTheSameAreDrawnOnce(t *testing.T) {
	o := testreports.Outcome(testreports.Paused(fence.None), testreports.Paused(fence.Check),
		testreports.Paused(fence.Seal), testreports.NotApplicable(fence.Strict))
	html := page(t, o, reports.Options{Links: []reports.Link{{Text: "The <matrix>", Href: "../index.html"}}})
	if n := strings.Count(html, `<figure class="panel"`); n != 2 {
		t.Errorf("%d diagrams, want 2", n)
	}
	testreports.CheckTexts(t, html, []string{"<b>modes check, seal</b>", `value="check"> check, seal</label>`,
		"<h3>In modes check, seal ", "Mode check and mode seal: the same run as mode none up to step",
		`id="mode-strict"`, `<a href="../index.html">The &lt;matrix&gt;</a>`}, []string{"differ only in the reason"})

	reworded := testreports.Paused(fence.Claim)
	for i, e := range reworded.Trace.Events {
		if d, ok := e.What.(trace.Decision); ok && d.Refused != "" {
			d.Refused = "the claim is that of another grant"
			reworded.Trace.Events[i].What = d
			reworded.TraceHash = "another"
		}
	}
	html = page(t, testreports.Outcome(testreports.Paused(fence.Check), reworded), reports.Options{})
	testreports.CheckTexts(t, html, []string{"<b>modes check, claim</b>", "Modes check, claim gave the same run: they " +
		"differ only in the reason that the store gives for a refusal. The words are those of mode check."}, nil)

	later := testreports.Paused(fence.Claim)
	later.Trace.Events[len(later.Trace.Events)-1].At += time.Second
	later.TraceHash = "another"
	if n := strings.Count(page(t, testreports.Outcome(testreports.Paused(fence.Check), later), reports.Options{}),
		`<figure class="panel"`); n != 2 {
		t.Errorf("runs of different times share a diagram: %d diagrams, want 2", n)
	}

	calm, first := testreports.Paused(fence.Check), testreports.Paused(fence.None)
	first.Trace, first.TraceHash, first.Verdict.Label = calm.Trace, calm.TraceHash, calm.Verdict.Label
	testreports.CheckTexts(t, page(t, testreports.Outcome(calm, first), reports.Options{}),
		[]string{`value="check" checked> check, none</label>`}, nil)
	worse := testreports.Paused(fence.Seal)
	worse.Verdict.Label = checker.Stuck
	if n := strings.Count(page(t, testreports.Outcome(testreports.Paused(fence.Check), worse), reports.Options{}),
		`<figure class="panel"`); n != 2 {
		t.Errorf("two labels share a diagram: %d diagrams, want 2", n)
	}
}
