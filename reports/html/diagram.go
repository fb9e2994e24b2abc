package html

import (
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// diagram has the panels of the runs of all modes, one below the other on one time
// axis.
type diagram struct {
	Width, Gutter, Right int
	Plot, Clip           int // the widths of the lanes and of the clipped area
	End                  time.Duration
	Ticks                []tick
	Panels               []panel
	Divergences          []string // how the runs differ, in sentences
}

// panel is the space-time diagram of one run.
type panel struct {
	Mode        fence.Mode
	Title       string
	Label       checker.Label
	Description string // for screen readers
	Height      int
	Lanes       []*lane
	Shades      []shade
	Bands       []band
	Bars        []bar
	Messages    []arrow
	Marks       []symbol
	Fatal       *instant
	Divergence  *instant
	Cut         []string // notices of what is left out
	Says        string   // the decisive step in words, "" where the page has the story
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
		all = append(all, entry{b.Step, b.Description})
	}
	for _, b := range p.Bars {
		all = append(all, entry{b.Step, b.Description})
	}
	for _, s := range p.Shades {
		all = append(all, entry{s.Step, s.Description})
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
	scene.Span
	xRange
	Text string
}

// drawing builds a panel.
type drawing struct {
	*scene.Scene
	scale scale
	lanes map[string]*lane
}

// newDiagram draws the runs, and adds the texts of the drawn events to the data of the
// page.
func newDiagram(scenes []*scene.Scene, data *pageData) diagram {
	if len(scenes) == 0 {
		return diagram{}
	}
	sc := scale{end: scenes[0].End, width: chartWidth}
	g := sc.diagram()
	for _, s := range scenes {
		p := newPanel(s, sc, messagesPerMode(len(scenes)))
		p.Description += " The story below has the same steps as sentences."
		if s != scenes[0] {
			p.Divergence = sc.instant(s.Divergence(scenes[0]))
		}
		g.Panels = append(g.Panels, p)
		data.addPanel(s, p)
	}
	return g
}

// diagram is a diagram without panels.
func (s scale) diagram() diagram {
	return diagram{Width: s.width, Gutter: chartGutter, Right: chartRight, Plot: s.width - chartGutter - chartRight, Clip: s.width - chartGutter, End: s.end, Ticks: s.ticks()}
}

// panelView is a panel for the template, with the measures of its diagram and an id that
// no other panel of the page has.
type panelView struct {
	panel
	Diagram diagram
	ID      string
	Answers []outcome.Answer
}

// On is the panel of a diagram of a run, where the mode is the id.
func (p panel) On(d diagram) panelView { return panelView{p, d, string(p.Mode), nil} }

// newPanel draws one run with at most n messages.
func newPanel(s *scene.Scene, sc scale, n int) panel {
	d := &drawing{Scene: s, scale: sc, lanes: map[string]*lane{}}
	p := panel{Mode: s.Run.Mode, Title: s.Title(), Label: s.Run.Verdict.Label}
	for _, l := range s.Lanes() {
		drawn := &lane{Lane: l}
		p.Lanes, d.lanes[l.Name] = append(p.Lanes, drawn), drawn
	}
	p.Bands = d.bands()
	p.Height = stack(p.Lanes)
	d.stackBands(p.Bands)
	messages := s.Messages()
	polls := s.Polls(messages)
	p.Bars, p.Shades, p.Marks, p.Messages = append(d.bars(), d.polls(polls)...), d.shades(), d.symbols(), d.arrows(messages, polls)
	keys, changes := d.keys()
	p.Bars, p.Marks = append(keys, p.Bars...), append(changes, p.Marks...)
	p.Fatal = sc.instant(s.Decision())
	p.Description = d.summary(p)
	d.cut(&p, n)
	return p
}

// instant is a moment of the run as a line, nil for none.
func (s scale) instant(i *scene.Instant) *instant {
	if i == nil {
		return nil
	}
	at := scene.Span{Step: i.Step, Start: i.At, End: i.At}
	return &instant{at, s.xRange(at), i.Text}
}

// summary describes the diagram in a sentence or two.
func (d *drawing) summary(p panel) string {
	faults := map[int]bool{} // not the lanes that they hit
	for _, b := range p.Bands {
		faults[b.Step] = true
	}
	text := fmt.Sprintf("Space-time diagram of the run in %s, which ended %s: %s, %s, %s over %s.", p.Title, p.Label,
		prose.Count(len(d.Run.History.Grants), "grant"), prose.Count(len(p.Messages), "message"), prose.Count(len(faults), "fault"), prose.Seconds(d.End))
	if p.Fatal != nil {
		text += fmt.Sprintf(" It was decided at step %d, at %s.", p.Fatal.Step, prose.Seconds(p.Fatal.Start))
	}
	return text
}

// shade is an overlap as it is drawn, over the lanes of all clients.
type shade struct {
	scene.Overlap
	xRange
	Y, H int
}

func (d *drawing) shades() []shade {
	var out []shade
	for _, o := range d.Overlaps() {
		first, last := d.lanes[d.Clients[0]], d.lanes[d.Clients[len(d.Clients)-1]]
		out = append(out, shade{o, d.scale.xRange(o.Span), first.Y, last.Bottom() - first.Y})
	}
	return out
}

// symbol is a mark as it is drawn on its lane.
type symbol struct {
	scene.Mark
	xRange
	Y int
}

func (d *drawing) symbols() []symbol {
	var out []symbol
	for _, m := range d.Marks() {
		l := d.lanes[m.Lane]
		y := l.middle()
		if l.Kind == scene.LaneClient {
			y += 12
		}
		out = append(out, symbol{m, d.scale.xRange(m.Span), y})
	}
	return out
}

// arrow is a message as it is drawn, from lane to lane.
type arrow struct {
	scene.Message
	xRange
	Y1, Y2 int
	X2     string
	Folded bool // the mark of a poll stands for it, unless all messages are shown
}

// lostStub is the height of the arrow of a message that never arrived.
const lostStub = 12

func (d *drawing) arrows(messages []scene.Message, polls []scene.Poll) []arrow {
	folded := map[int]bool{}
	for _, p := range polls {
		for _, step := range p.Steps {
			folded[step] = true
		}
	}
	var out []arrow
	for _, m := range messages {
		from, to := d.lanes[m.From], d.lanes[m.To]
		a := arrow{Message: m, Folded: folded[m.Step], xRange: d.scale.xRange(m.Span), X2: d.scale.At(m.End), Y1: from.port(), Y2: to.port()}
		if m.Lost {
			a.Y2 = a.Y1 + lostStub
			if to.Y < from.Y {
				a.Y2 = a.Y1 - lostStub
			}
		}
		out = append(out, a)
	}
	return out
}

// The limits of a page, so that a browser can show the page of a long run.
const (
	maxMessages = 4500 // of all modes together
	maxBars     = 1000 // of a mode; also the maximum of bands and of marks
)

// messagesPerMode is the number of messages that each mode may draw.
func messagesPerMode(modes int) int { return maxMessages / max(modes, 1) }

// cut reduces a panel to its limits. It keeps what is around the decisive step, or at
// the beginning where there is none.
func (d *drawing) cut(p *panel, messages int) {
	if n := len(p.Messages); n > messages {
		p.Messages = scene.Around(p.Messages, messages, d.Fatal, func(m arrow) int { return m.Step })
		from, to := p.Messages[0].Step, p.Messages[len(p.Messages)-1].Step
		p.Cut = append(p.Cut, fmt.Sprintf("This run has %d events and %d messages. Drawn are the %d messages from step %d to step %d; the trace has them all.",
			d.Run.Events, n, messages, from, to))
	}
	if n := len(p.Bars); n > maxBars {
		slices.SortStableFunc(p.Bars, func(a, b bar) int { return a.Step - b.Step })
		p.Bars = scene.Around(p.Bars, maxBars, d.Fatal, func(b bar) int { return b.Step })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d waits, claims, beliefs and repeated requests %d are drawn.", n, maxBars))
	}
	if n := len(p.Bands); n > maxBars {
		p.Bands = scene.Around(p.Bands, maxBars, d.Fatal, func(b band) int { return b.Step })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d marks of faults on lanes %d are drawn.", n, maxBars))
	}
	if n := len(p.Marks); n > maxBars {
		p.Marks = scene.Around(p.Marks, maxBars, d.Fatal, func(m symbol) int { return m.Step })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d decisions of the store and expiries %d are marked.", n, maxBars))
	}
	if len(p.Shades) > maxBars {
		p.Shades = scene.Around(p.Shades, maxBars, d.Fatal, func(s shade) int { return s.Step })
	}
}
