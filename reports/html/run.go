package html

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/linked"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/diagram"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// runPage is the data of the template, part by part.
type runPage struct {
	Title, Headline string
	Answers         []outcome.Answer
	Scenario, Lock  string
	Fence           string // what is judged where that is a store under test
	Origin          string
	Repeated        string
	Links           []reports.Link
	Why             string

	Ends    []endPart
	Cards   []verdictCard
	Facts   factTable
	Remarks []string

	Diagram  diagramPart
	Cause    *causePart
	Stories  []storyPart
	Reasons  []reasonPart
	Evidence []evidencePart
	Limits   []string

	Schedule string
	Replay   string
	Hashes   []traceHash
	Versions []reports.Version
	Clients  []linked.Client

	CSS  template.CSS
	JS   template.JS
	Data *pageData
}

// onTrial names a store that is under test, as outcome.Subject does; "" for none.
func onTrial(o *outcome.Outcome) string {
	if o.OnTrial() == "" {
		return ""
	}
	return o.Subject()
}

// traceHash is the hash that a replay must have.
type traceHash struct {
	Mode fence.Mode
	Hash string
}

func newRunPage(o *outcome.Outcome, opt reports.Options) *runPage {
	p := &runPage{
		Title: o.Title(), Headline: scene.Headline(o),
		Answers: outcome.Answers(o), Scenario: o.Scenario.Name, Lock: o.Lock, Fence: onTrial(o), Origin: scene.Origin(o),
		Repeated: scene.Made(o, opt.Repeat), Links: opt.Links, Why: o.Scenario.Why,
		Ends: endParts(o), Cards: verdictCards(o), Facts: newFactTable(o), Remarks: scene.Remarks(o),
		Limits: scene.Limits(o), Schedule: scene.Schedule(o.Scenario), Replay: opt.Replay, Versions: opt.Versions,
		Clients: linked.Clients(),
		CSS:     template.CSS(asset("base.css") + asset("chart.css") + asset("report.css")),
		JS:      template.JS(asset("chart.js") + asset("story.js") + asset("pointer.js") + asset("page.js")),
	}
	for _, g := range scene.Reasons(o) {
		p.Reasons = append(p.Reasons, reasonPart{Name: g.Name(o), Texts: g.Texts})
	}
	for _, m := range scene.Ran(o) {
		p.Hashes = append(p.Hashes, traceHash{m.Mode, m.TraceHash})
	}
	scenes := scene.Merged(scene.All(o))
	p.Data = newPageData()
	p.Diagram = diagramPart{Diagram: diagram.Of(scenes), Divergences: scene.Divergences(scenes)}
	for i, drawn := range p.Diagram.Panels {
		p.Data.addPanel(scenes[i], drawn)
	}
	first := scene.StoryRun(o)
	if first != nil && first.Trace != nil {
		p.Diagram.Keys = scene.New(first).KeyStory()
	}
	for _, s := range scenes {
		if s.ShowsRun(first) {
			p.Diagram.KeysIn = s.Run.Mode
		}
		story := storyPart{Mode: s.Run.Mode, Title: s.Title(), Modes: prose.Commas(s.Modes()), Label: s.Run.Verdict.Label,
			Note: s.Reworded(), First: s.ShowsRun(first), Lines: scene.Excerpt(s.Story())}
		p.Stories = append(p.Stories, story)
		p.Data.addStates(s, story.Lines, opt.Inspect)
	}
	p.Cause, p.Evidence = newCausePart(o), newEvidence(o)
	return p
}

// diagramPart is the diagram of the runs.
type diagramPart struct {
	diagram.Diagram
	Divergences []string // how the runs differ, in sentences
	// Keys says what became of the keys of the lock in the run whose story is shown first, and KeysIn is the mode of its
	// panel.
	Keys   []string
	KeysIn fence.Mode
}

// Views are the panels. The mode of a run is the id of its panel.
func (d diagramPart) Views() []panelView {
	var views []panelView
	for _, p := range d.Panels {
		v := panelView{Panel: p, Diagram: d.Diagram, ID: string(p.Mode)}
		if p.Mode == d.KeysIn {
			v.Keys = d.Keys
		}
		views = append(views, v)
	}
	return views
}

// panelView is a panel for the template, with the measures of its diagram and an id that
// no other panel of the page has.
type panelView struct {
	diagram.Panel
	Diagram diagram.Diagram
	ID      string
	Answers []outcome.Answer
	Says    string   // the decisive step in words, "" where the page has the story
	Keys    []string // what became of the keys of the lock in this run, none where another panel says it
}

// storyPart is the story of one run, in sentences.
type storyPart struct {
	Mode         fence.Mode
	Title, Modes string // as a heading, and as a choice
	Note         string // how its modes differ, empty where they do not
	Label        checker.Label
	First        bool // the page shows it first
	Lines        []scene.Sentence
}

// reasonPart is the reasons that hold for the same modes.
type reasonPart struct {
	Name  string
	Texts []string
}

// endPart is the modes that ended with one label, at the head of the page.
type endPart struct {
	Label checker.Label
	Modes []endMode
}

// endMode is a mode, with whether it did not end as expected.
type endMode struct {
	Mode       fence.Mode
	Unexpected bool
}

// endParts are the labels in the order of the first mode that has each.
func endParts(o *outcome.Outcome) []endPart {
	var parts []endPart
	for _, c := range verdictCards(o) {
		i := slices.IndexFunc(parts, func(p endPart) bool { return p.Label == c.Label })
		if i < 0 {
			i, parts = len(parts), append(parts, endPart{Label: c.Label})
		}
		parts[i].Modes = append(parts[i].Modes, endMode{c.Mode, c.Unexpected != ""})
	}
	return parts
}

// verdictCard is one mode's verdict.
type verdictCard struct {
	Mode     fence.Mode
	Rule     string
	Label    checker.Label
	Expected checker.Label
	// Unexpected says why the run is not as expected; "" if it is.
	Unexpected string
	Reason     string
}

func verdictCards(o *outcome.Outcome) []verdictCard {
	unexpected := map[fence.Mode]string{}
	for _, m := range o.Mismatches() {
		why := m.String()
		if m.Differs == nil {
			why = fmt.Sprintf("the scenario says %s", m.Want)
		}
		unexpected[m.Mode] = cmp.Or(unexpected[m.Mode], why)
	}
	var cards []verdictCard
	for _, m := range o.Modes {
		c := verdictCard{Mode: m.Mode, Rule: scene.Rule(m.Mode), Label: m.Verdict.Label, Unexpected: unexpected[m.Mode]}
		c.Expected, _ = o.Expected(m.Mode)
		if len(m.Verdict.Reasons) > 0 {
			c.Reason = m.Verdict.Reasons[0].Text
		}
		if m.Trace == nil {
			c.Reason = fmt.Sprintf("Not run: this mode needs fencing tokens, and lock %s mints none.", o.Lock)
		}
		cards = append(cards, c)
	}
	return cards
}

// factTable has a column per mode and a row per fact.
type factTable struct {
	Modes []fence.Mode
	Rows  []factRow
}

// factRow is one fact in every mode.
type factRow struct {
	Name, Note string
	Values     []string
}

// fact is a line of the table: how it is named, and its value in a run.
type fact struct {
	name, note string
	value      func(m outcome.ModeRun) string
}

// facts are what the judge counts of a run of the scenario.
func facts(o *outcome.Outcome) []fact {
	var all []fact
	for _, f := range checker.FactList() {
		if f.Title != "" && concerns(f, o) {
			all = append(all, fact{f.Title, f.Note, func(m outcome.ModeRun) string { return f.Value(&m.Verdict.Facts) }})
		}
	}
	return all
}

// concerns reports whether a fact is one of the runs of an outcome.
func concerns(f checker.Fact, o *outcome.Outcome) bool {
	switch f.Of {
	case checker.OfLeaders:
		return o.Scenario != nil && o.Scenario.Workload.Leads()
	case checker.OfFence:
		return slices.ContainsFunc(o.Modes, func(m outcome.ModeRun) bool { return m.History.Fence != "" })
	}
	return true
}

// figures are what is known of a run besides.
var figures = []fact{
	{"Nearest miss", "how little was missing to an overlap of claims", func(m outcome.ModeRun) string {
		if s, ok := m.Verdict.NearestMiss(); ok && m.Verdict.Facts.ClaimOverlaps == 0 {
			return s.Miss()
		}
		return prose.Nothing
	}},
	{"Errors of calls", "but those of contexts that ended", func(m outcome.ModeRun) string {
		texts := make([]string, len(m.Verdict.Errors))
		for i, e := range m.Verdict.Errors {
			texts[i] = e.String()
		}
		return strings.Join(texts, "; ")
	}},
	{"Faults that struck", "", scene.Struck},
	{"Longest wait", "", func(m outcome.ModeRun) string { return prose.Seconds(m.LongestWait) }},
	{"Events, virtual time", "",
		func(m outcome.ModeRun) string { return fmt.Sprintf("%d in %s", m.Events, prose.Seconds(m.Virtual)) }},
	{"Second opinion", "porcupine, on the same history",
		func(m outcome.ModeRun) string { return string(m.Corroboration.Agreement) }},
}

func newFactTable(o *outcome.Outcome) factTable {
	t := factTable{Modes: scene.Modes(o)}
	for _, f := range slices.Concat(facts(o), figures) {
		row := factRow{Name: f.name, Note: f.note}
		for _, m := range o.Modes {
			value := prose.Nothing
			if m.Trace != nil {
				value = f.value(m)
			}
			if value == "" {
				value = prose.Nothing
			}
			row.Values = append(row.Values, value)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
