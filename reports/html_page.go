package reports

import (
	"fmt"
	"html/template"
	"strings"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// htmlPage is what the template shows, part by part.
type htmlPage struct {
	Title, Headline string
	Scenario, Lock  string
	Seed            uint64
	Repeated        string
	Links           []Link
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
	Versions []Version

	CSS  template.CSS
	JS   template.JS
	Data *pageData
}

// traceHash is what a replay has to come to.
type traceHash struct {
	Mode fence.Mode
	Hash string
}

func newHTMLPage(o *play.Outcome, opt Options) (*htmlPage, error) {
	schedule, err := scheduleOf(o.Scenario)
	if err != nil {
		return nil, err
	}
	p := &htmlPage{
		Title: o.Scenario.Title, Headline: headline(o),
		Scenario: o.Scenario.Name, Lock: o.Lock, Seed: o.Seed,
		Repeated: strings.Trim(repeated(opt.Repeat), "()"), Links: opt.Links, Why: o.Scenario.Why,
		Cards: verdictCards(o), Facts: newFactTable(o), Remarks: plainRemarks(o),
		Reasons: reasonParts(o), Limits: plainLimits(o),
		Schedule: schedule, Replay: opt.Replay, Versions: opt.Versions,
		CSS: template.CSS(asset("base.css") + asset("report.css")),
		JS:  template.JS(asset("chart.js") + asset("story.js") + asset("page.js")),
	}
	if p.Title == "" {
		p.Title = o.Scenario.Name
	}
	for _, m := range ran(o) {
		p.Hashes = append(p.Hashes, traceHash{m.Mode, m.TraceHash})
	}
	scenes := newScenes(o)
	partings := parting(scenes)
	if opt.Alike == Together {
		scenes = together(scenes)
	}
	p.Data = newPageData()
	p.Diagram = newDiagram(o, scenes, p.Data)
	p.Diagram.Parting = partings
	p.Stories = newStories(o, scenes, opt, p.Data)
	p.Evidence = newEvidence(o)
	return p, nil
}

// scheduleOf is the scenario as YAML: its file, or what such a file would be.
// One that was made in Go, with faults of its own, has no YAML.
func scheduleOf(sc *file.Scenario) (string, error) {
	if len(sc.Source) > 0 {
		return string(sc.Source), nil
	}
	if err := sc.Validate(); err != nil {
		return fmt.Sprintf("# made in Go, and no file can say it: %v\n", err), nil
	}
	b, err := file.Format(sc)
	if err != nil {
		return fmt.Sprintf("# made in Go, and no file can say it: %v\n", err), nil
	}
	return string(b), nil
}

// plainRemarks are what neither a card nor the table of facts says.
func plainRemarks(o *play.Outcome) []string {
	var out []string
	if len(o.Scenario.Expect[o.Lock]) == 0 {
		out = append(out, fmt.Sprintf("The scenario says nothing about what to expect of lock %s.", o.Lock))
	}
	for _, m := range ran(o) {
		if m.PartialPause {
			out = append(out, fmt.Sprintf("Mode %s: the lock acted during a pause, through timers that no seam holds.", m.Mode))
		}
	}
	return out
}

// plainLimits says what the run does not prove, unfolded.
func plainLimits(o *play.Outcome) []string {
	return append(limits(o, Options{Width: unfolded}),
		"Interleavings inside one process are not explored, and a lock's own promise may be narrower than what was asked of it here.")
}

// reasonPart is the reasons that hold for the same modes.
type reasonPart struct {
	Name  string
	Texts []string
}

func reasonParts(o *play.Outcome) []reasonPart {
	var parts []reasonPart
	for _, g := range grouped(gathered(o)) {
		parts = append(parts, reasonPart{Name: g.name(o), Texts: g.texts})
	}
	return parts
}
