// Package diagram places what a space-time diagram shows: scenes of package scene as lanes, bars, strips, arrows and
// marks, with their positions in pixels. It draws nothing: a page fills a template with it, or hands it to its script
// as data.
package diagram

import (
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports/scene"
)

// Diagram has the panels of the runs of all modes, one below the other on one time
// axis.
type Diagram struct {
	Width, Gutter, Right int
	Plot, Clip           int // the widths of the lanes and of the clipped area
	End                  time.Duration
	Ticks                []Tick
	Panels               []Panel
}

// Panel is the space-time diagram of one run.
type Panel struct {
	Mode        fence.Mode
	Title       string
	Label       checker.Label
	Description string // for screen readers
	Height      int
	Lanes       []*Lane
	Shades      []Shade
	Bands       []Band
	Bars        []Bar
	Messages    []Arrow
	Marks       []Symbol
	Fatal       *Instant
	Divergence  *Instant
	Cut         []string // notices of what is left out
}

// maxListed bounds the diagram as a list.
const maxListed = 200

// Listed is the diagram as sentences, in the order of time: faults, claims,
// beliefs and where they overlap.
func (p Panel) Listed() []string {
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

// Instant is a line through all lanes.
type Instant struct {
	scene.Span
	Position
	Text string
}

// drawing builds a panel.
type drawing struct {
	*scene.Scene
	scale scale
	lanes map[string]*Lane
}

// Of places the runs of scenes, one below the other on one time axis.
func Of(scenes []*scene.Scene) Diagram {
	if len(scenes) == 0 {
		return Diagram{}
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
	}
	return g
}

// Decisive places the part of one run that shows how it was decided, from the leases that led to the decisive step on
// to shortly after it, in so many pixels; of a run without a decisive step, the whole.
func Decisive(s *scene.Scene, width int) Diagram {
	sc := scale{end: s.End, width: width}
	if focus := s.Focus(); focus != nil {
		around := max((focus.End-focus.Start)/10, 5*time.Millisecond)
		sc.from, sc.end = max(focus.Start-around, 0), min(focus.End+around, s.End)
	}
	p := newPanel(s, sc, maxFigureMessages)
	p.keep(sc)
	g := sc.diagram()
	g.Panels = []Panel{p}
	return g
}

// maxFigureMessages bounds the messages of a figure. Of more, it shows the decisive one
// and those that were lost or late.
const maxFigureMessages = 120

// keep removes what is outside the times of a scale, and the messages that a mark of
// repeated requests stands for: no script shows them.
func (p *Panel) keep(sc scale) {
	p.Cut = nil
	p.Bands = slices.DeleteFunc(p.Bands, func(b Band) bool { return !sc.shows(b.Span) })
	p.Bars = slices.DeleteFunc(p.Bars, func(b Bar) bool { return !sc.shows(b.Span) })
	p.Shades = slices.DeleteFunc(p.Shades, func(s Shade) bool { return !sc.shows(s.Span) })
	p.Marks = slices.DeleteFunc(p.Marks, func(m Symbol) bool { return !sc.shows(m.Span) })
	p.Messages = slices.DeleteFunc(p.Messages, func(m Arrow) bool { return m.Folded || !sc.shows(m.Span) })
	if len(p.Messages) > maxFigureMessages/2 {
		p.Messages = slices.DeleteFunc(p.Messages, func(m Arrow) bool { return !m.Fatal && !m.Lost && !m.Late })
	}
	p.Divergence = nil
}

// Drawn are the numbers of the events that the panel shows, in order, of a run with so many events.
func (p Panel) Drawn(events int) []int {
	var all []int
	note := func(p scene.Span) { all = append(all, p.Step, p.Until) }
	for _, m := range p.Messages {
		note(m.Span)
	}
	for _, b := range p.Bars {
		note(b.Span)
	}
	for _, b := range p.Bands {
		note(b.Span)
	}
	for _, m := range p.Marks {
		note(m.Span)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(n int) bool { return n < 1 || n > events })
}

func (s scale) diagram() Diagram {
	return Diagram{Width: s.width, Gutter: chartGutter, Right: chartRight, Plot: s.width - chartGutter - chartRight,
		Clip: s.width - chartGutter, End: s.end, Ticks: s.ticks()}
}

// newPanel draws one run with at most n messages.
func newPanel(s *scene.Scene, sc scale, n int) Panel {
	d := &drawing{Scene: s, scale: sc, lanes: map[string]*Lane{}}
	p := Panel{Mode: s.Run.Mode, Title: s.Title(), Label: s.Run.Verdict.Label}
	for _, l := range s.Lanes() {
		drawn := &Lane{Lane: l}
		p.Lanes, d.lanes[l.Name] = append(p.Lanes, drawn), drawn
	}
	p.Bands = d.bands()
	p.Height = stack(p.Lanes)
	d.stackBands(p.Bands)
	messages := s.Messages()
	polls := s.Polls(messages)
	p.Bars, p.Shades, p.Marks, p.Messages = append(d.bars(), d.polls(polls)...), d.shades(), d.symbols(),
		d.arrows(messages, polls)
	keys, changes := d.keys()
	p.Bars, p.Marks = append(keys, p.Bars...), append(changes, p.Marks...)
	p.Fatal = sc.instant(s.Decision())
	p.Description = d.summary(p)
	d.cut(&p, n)
	return p
}

// Instant is a moment of the run as a line, nil for none.
func (s scale) instant(i *scene.Instant) *Instant {
	if i == nil {
		return nil
	}
	at := scene.Span{Step: i.Step, Start: i.At, End: i.At}
	return &Instant{at, s.position(at), i.Text}
}

// summary describes the diagram in a sentence or two.
func (d *drawing) summary(p Panel) string {
	faults := map[int]bool{} // not the lanes that they hit
	for _, b := range p.Bands {
		faults[b.Step] = true
	}
	text := fmt.Sprintf("Space-time diagram of the run in %s, which ended %s: %s, %s, %s over %s.", p.Title, p.Label,
		prose.Count(len(d.Run.History.Grants), "grant"), prose.Count(len(p.Messages), "message"),
		prose.Count(len(faults), "fault"), prose.Seconds(d.End))
	if p.Fatal != nil {
		text += fmt.Sprintf(" It was decided at step %d, at %s.", p.Fatal.Step, prose.Seconds(p.Fatal.Start))
	}
	return text
}

// Shade is an overlap as it is drawn, over the lanes of all clients.
type Shade struct {
	scene.Overlap
	Position
	Y, H int
}

func (d *drawing) shades() []Shade {
	var out []Shade
	for _, o := range d.Overlaps() {
		first, last := d.lanes[d.Clients[0]], d.lanes[d.Clients[len(d.Clients)-1]]
		out = append(out, Shade{o, d.scale.position(o.Span), first.Y, last.Bottom() - first.Y})
	}
	return out
}

// Symbol is a mark as it is drawn on its lane.
type Symbol struct {
	scene.Mark
	Position
	Y int
}

func (d *drawing) symbols() []Symbol {
	var out []Symbol
	for _, m := range d.Marks() {
		l := d.lanes[m.Lane]
		y := l.middle()
		if l.Kind == scene.LaneClient {
			y += 12
		}
		out = append(out, Symbol{m, d.scale.position(m.Span), y})
	}
	return out
}

// Arrow is a message as it is drawn, from lane to lane.
type Arrow struct {
	scene.Message
	Position
	Y1, Y2 int
	X2     string
	Folded bool // the mark of a poll stands for it, unless all messages are shown
}

// lostStub is the height of the arrow of a message that never arrived.
const lostStub = 12

func (d *drawing) arrows(messages []scene.Message, polls []scene.Poll) []Arrow {
	folded := map[int]bool{}
	for _, p := range polls {
		for _, step := range p.Steps {
			folded[step] = true
		}
	}
	var out []Arrow
	for _, m := range messages {
		from, to := d.lanes[m.From], d.lanes[m.To]
		a := Arrow{Message: m, Folded: folded[m.Step], Position: d.scale.position(m.Span), X2: d.scale.At(m.End),
			Y1: from.port(), Y2: to.port()}
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
func (d *drawing) cut(p *Panel, messages int) {
	if n := len(p.Messages); n > messages {
		p.Messages = scene.Around(p.Messages, messages, d.Fatal, func(m Arrow) int { return m.Step })
		from, to := p.Messages[0].Step, p.Messages[len(p.Messages)-1].Step
		p.Cut = append(p.Cut, fmt.Sprintf("This run has %d events and %d messages. Drawn are the %d messages from step %d "+
			"to step %d; the trace has them all.",
			d.Run.Events, n, messages, from, to))
	}
	if n := len(p.Bars); n > maxBars {
		slices.SortStableFunc(p.Bars, func(a, b Bar) int { return a.Step - b.Step })
		p.Bars = scene.Around(p.Bars, maxBars, d.Fatal, func(b Bar) int { return b.Step })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d waits, claims, beliefs and repeated requests %d are drawn.", n, maxBars))
	}
	if n := len(p.Bands); n > maxBars {
		p.Bands = scene.Around(p.Bands, maxBars, d.Fatal, func(b Band) int { return b.Step })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d marks of faults on lanes %d are drawn.", n, maxBars))
	}
	if n := len(p.Marks); n > maxBars {
		p.Marks = scene.Around(p.Marks, maxBars, d.Fatal, func(m Symbol) int { return m.Step })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d decisions of the store and expiries %d are marked.", n, maxBars))
	}
	if len(p.Shades) > maxBars {
		p.Shades = scene.Around(p.Shades, maxBars, d.Fatal, func(s Shade) int { return s.Step })
	}
}
