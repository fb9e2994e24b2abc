package html

import (
	"cmp"
	"html/template"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/play"
)

// runPage is what the template shows, part by part.
type runPage struct {
	Title, Headline string
	Scenario, Lock  string
	Seed            uint64
	Repeated        string
	Links           []reports.Link
	Why             string

	Cards   []verdictCard
	Facts   factTable
	Remarks []string

	Diagram  diagram
	Stories  []storyPart
	Reasons  []reasonPart
	Evidence []evidencePart
	Limits   []string

	Schedule string
	Replay   string
	Hashes   []traceHash
	Versions []reports.Version

	CSS  template.CSS
	JS   template.JS
	Data *pageData
}

// traceHash is what a replay has to come to.
type traceHash struct {
	Mode fence.Mode
	Hash string
}

func newRunPage(o *play.Outcome, opt reports.Options) *runPage {
	p := &runPage{
		Title: cmp.Or(o.Scenario.Title, o.Scenario.Name), Headline: scene.Headline(o),
		Scenario: o.Scenario.Name, Lock: o.Lock, Seed: o.Seed,
		Repeated: scene.Repeated(opt.Repeat), Links: opt.Links, Why: o.Scenario.Why,
		Cards: verdictCards(o), Facts: newFactTable(o), Remarks: scene.Remarks(o),
		Limits: scene.Limits(o), Schedule: scene.Schedule(o.Scenario), Replay: opt.Replay, Versions: opt.Versions,
		CSS: template.CSS(asset("base.css") + asset("report.css")),
		JS:  template.JS(asset("chart.js") + asset("story.js") + asset("page.js")),
	}
	for _, g := range scene.Reasons(o) {
		p.Reasons = append(p.Reasons, reasonPart{Name: g.Name(o), Texts: g.Texts})
	}
	for _, m := range scene.Ran(o) {
		p.Hashes = append(p.Hashes, traceHash{m.Mode, m.TraceHash})
	}
	scenes := scene.All(o)
	partings := scene.Parting(scenes)
	if opt.Alike == reports.Together {
		scenes = scene.Merged(scenes)
	}
	p.Data = newPageData()
	p.Diagram = newDiagram(scenes, p.Data)
	p.Diagram.Parting = partings
	first := scene.Told(o)
	for _, s := range scenes {
		story := storyPart{Mode: s.Run.Mode, Named: s.Named(), Modes: prose.Commas(s.Modes()), Label: s.Run.Verdict.Label,
			Told: s.Tells(first), Lines: scene.Excerpt(s.Run.Story)}
		p.Stories = append(p.Stories, story)
		p.Data.addStates(s, story.Lines, opt.Inspect)
	}
	p.Evidence = newEvidence(o)
	return p
}

// storyPart is the story of one run, in sentences.
type storyPart struct {
	Mode         fence.Mode
	Named, Modes string // as a heading, and as a choice
	Label        checker.Label
	Told         bool // it is the one that is told first
	Lines        []scene.Sentence
}

// reasonPart is the reasons that hold for the same modes.
type reasonPart struct {
	Name  string
	Texts []string
}
