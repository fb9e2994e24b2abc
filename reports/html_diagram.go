package reports

import (
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

// diagram is the runs of all modes, one below the other on one time axis.
type diagram struct {
	Width, Gutter, Right int
	Plot, Clip           int // how wide the lanes are, and what may be drawn of them
	End                  time.Duration
	Ticks                []tick
	Panels               []panel
	Parting              []string // where the runs part, in sentences
}

// panel is the space-time diagram of one run.
type panel struct {
	Mode     fence.Mode
	Also     []fence.Mode
	Label    checker.Label
	Says     string // for those who do not see it
	Height   int
	Lanes    []*lane
	Shades   []shade
	Bands    []band
	Bars     []bar
	Messages []message
	Marks    []mark
	Fatal    *instant
	Parts    *instant
	Cut      []string // what was left out
}

// maxListed bounds the diagram as a list.
const maxListed = 200

// Listed is the diagram as sentences, in the order of time: faults, claims,
// beliefs and where they overlap.
func (p panel) Listed() []string {
	type entry struct {
		n    int
		says string
	}
	var all []entry
	for _, b := range p.Bands {
		all = append(all, entry{b.N, b.Says})
	}
	for _, b := range p.Bars {
		all = append(all, entry{b.N, b.Says})
	}
	for _, s := range p.Shades {
		all = append(all, entry{s.N, s.Says})
	}
	slices.SortStableFunc(all, func(a, b entry) int { return a.n - b.n })
	var out []string
	for i, e := range all {
		if i == maxListed {
			return append(out, fmt.Sprintf("… and %d more", len(all)-i))
		}
		out = append(out, e.says)
	}
	return out
}

// instant is a line through all lanes.
type instant struct {
	stretch
	Text string
}

// drawing is a panel while it is made.
type drawing struct {
	*scene
	scale scale
	lanes map[string]*lane
	taken map[int]bool // the ends of faults that were matched
}

// newDiagram draws the runs and puts the texts of what it shows into the data of
// the page.
func newDiagram(o *play.Outcome, scenes []*scene, data *pageData) diagram {
	g := diagram{Width: chartWidth, Gutter: chartGutter, Right: chartRight, Plot: chartWidth - chartGutter - chartRight, Clip: chartWidth - chartGutter}
	if len(scenes) == 0 {
		return g
	}
	g.End = scenes[0].end
	sc := scale{end: g.End}
	g.Ticks = sc.ticks()
	for _, s := range scenes {
		p := newPanel(s, sc, room(len(scenes)))
		if s != scenes[0] {
			p.Parts = parts(scenes[0], s, sc)
		}
		g.Panels = append(g.Panels, p)
		data.addPanel(s, p)
	}
	return g
}

// newPanel draws one run with at most n messages.
func newPanel(s *scene, sc scale, n int) panel {
	d := &drawing{scene: s, scale: sc, lanes: map[string]*lane{}, taken: map[int]bool{}}
	p := panel{Mode: s.run.Mode, Also: s.also, Label: s.run.Verdict.Label, Lanes: lanesOf(s)}
	for _, l := range p.Lanes {
		d.lanes[l.Name] = l
	}
	p.Bands = d.bands()
	p.Height = stack(p.Lanes)
	d.settle(p.Bands)
	p.Bars, p.Shades, p.Marks, p.Messages = d.bars(), d.shades(), d.marks(), d.messages()
	p.Fatal = d.decisive()
	p.Says = d.summary(p)
	d.cut(&p, n)
	return p
}

// decisions name the decisive step of a run.
var decisions = map[checker.Label]string{
	checker.Corrupted: "it broke here", checker.Rescued: "the fence held here", checker.FalseReject: "wrongly refused here",
	checker.Stuck: "stuck since here", checker.Unknown: "undecided here", checker.Overlap: "overlap here",
}

// decisive is the step at which the run was decided.
func (d *drawing) decisive() *instant {
	if d.fatal == 0 {
		return nil
	}
	t := d.at(checker.Pos(d.fatal))
	return &instant{stretch: d.scale.place(stretch{N: d.fatal, T0: t, T1: t}), Text: decisions[d.run.Verdict.Label]}
}

// summary is the diagram in a sentence.
func (d *drawing) summary(p panel) string {
	text := fmt.Sprintf("Space-time diagram of the run in %s, which ended %s: %s, %s, %s over %s.", p.Named(), p.Label,
		prose.Count(len(d.run.History.Grants), "grant"), prose.Count(len(p.Messages), "message"), prose.Count(faultsIn(p.Bands), "fault"), prose.Seconds(d.end))
	if p.Fatal != nil {
		text += fmt.Sprintf(" It was decided at step %d, at %s.", p.Fatal.N, prose.Seconds(p.Fatal.T0))
	}
	return text + " The story below tells it in sentences."
}

// faultsIn counts faults, not the lanes that they hit.
func faultsIn(bands []band) int {
	seen := map[int]bool{}
	for _, b := range bands {
		seen[b.N] = true
	}
	return len(seen)
}

// parts is where a run leaves the first one, or nil.
func parts(first, s *scene, sc scale) *instant {
	d := trace.Diff(first.run.Trace, s.run.Trace)
	if d == nil {
		return nil
	}
	t := s.at(checker.Pos(d.N))
	return &instant{stretch: sc.place(stretch{N: d.N, T0: t, T1: t}), Text: fmt.Sprintf("parts from mode %s", first.run.Mode)}
}

// parting says where the runs part, a sentence for those that part from the first
// one alike.
func parting(scenes []*scene) []string {
	var out []string
	said := map[string]int{}
	for i := 1; i < len(scenes); i++ {
		what := difference(scenes[0], scenes[i])
		at, known := said[what]
		if !known {
			said[what] = len(out)
			out = append(out, "Mode "+string(scenes[i].run.Mode))
			continue
		}
		out[at] += " and mode " + string(scenes[i].run.Mode)
	}
	for what, at := range said {
		out[at] += ": " + what
	}
	return out
}

// difference is how a run differs from the first one.
func difference(first, s *scene) string {
	d := trace.Diff(first.run.Trace, s.run.Trace)
	if d == nil {
		return fmt.Sprintf("the same run as mode %s, event by event.", first.run.Mode)
	}
	text := fmt.Sprintf("the same run as mode %s up to step %d. They part at %s", first.run.Mode, d.N-1, prose.Seconds(s.at(checker.Pos(d.N))))
	before, after := sentence(first.run.Story, d.N), sentence(s.run.Story, d.N)
	switch {
	case after == "":
		return text + "."
	case before == "":
		return text + ": here " + after + "."
	}
	return text + fmt.Sprintf(": in mode %s %s; here %s.", first.run.Mode, before, after)
}

// sentence is what the story says of a step.
func sentence(lines []play.Line, n int) string {
	for _, l := range lines {
		if l.N == n {
			return l.Actor + " " + l.What
		}
	}
	return ""
}
