package html

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"locksim/lock/fence"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// FigureOptions say how a [Figure] is drawn.
type FigureOptions struct {
	// ID is the id of the figure. Each figure of a page has another. Required.
	ID string
	// Width is the width of the figure in pixels, at least 300. Required.
	Width int
	// Answers says whether the figure begins with what happened in the run, whose fault that is, and what would have saved it.
	Answers bool
}

// Figure writes the space-time diagram of the run of one mode, for a page that shows
// several runs: a part of a page in HTML, without scripts. It shows the part of the run
// from the leases that led to the decisive step on to shortly after it, and the decisive
// step in words; of a run without one, the whole.
//
// The same outcome and options give the same bytes. Figure returns an error for a mode
// that was not run, and that of the writer.
func Figure(w io.Writer, o *outcome.Outcome, mode fence.Mode, opt FigureOptions) error {
	i := slices.IndexFunc(o.Modes, func(m outcome.ModeRun) bool { return m.Mode == mode && m.Trace != nil })
	if i < 0 {
		return fmt.Errorf("html: no run of mode %s can be drawn", mode)
	}
	s := scene.New(&o.Modes[i])
	s.End = max(s.End, time.Millisecond)
	sc := scale{end: s.End, width: opt.Width}
	if focus := s.Focus(); focus != nil {
		around := max((focus.End-focus.Start)/10, 5*time.Millisecond)
		sc.from, sc.end = max(focus.Start-around, 0), min(focus.End+around, s.End)
	}
	p := newPanel(s, sc, maxFigureMessages)
	p.keep(sc)
	for _, l := range s.Run.Story {
		if l.Fatal {
			p.Says = fmt.Sprintf("%s %s", l.Actor, l.Text)
		}
	}
	v := panelView{p, sc.diagram(), opt.ID, nil}
	if answers := outcome.Answers(o); opt.Answers && answers != nil {
		v.Answers = answers[1:4]
	}
	return render(w, "figure", figureTemplate, v)
}

var figureTemplate = page("figure.html")

// maxFigureMessages bounds the messages of a figure. Of more, it shows the decisive one
// and those that were lost or late.
const maxFigureMessages = 120

// keep removes what is outside the times of a scale, and the messages that a mark of
// repeated requests stands for: no script shows them.
func (p *panel) keep(sc scale) {
	p.Cut = nil
	p.Bands = slices.DeleteFunc(p.Bands, func(b band) bool { return !sc.shows(b.Span) })
	p.Bars = slices.DeleteFunc(p.Bars, func(b bar) bool { return !sc.shows(b.Span) })
	p.Shades = slices.DeleteFunc(p.Shades, func(s shade) bool { return !sc.shows(s.Span) })
	p.Marks = slices.DeleteFunc(p.Marks, func(m symbol) bool { return !sc.shows(m.Span) })
	p.Messages = slices.DeleteFunc(p.Messages, func(m arrow) bool { return m.Folded || !sc.shows(m.Span) })
	if len(p.Messages) > maxFigureMessages/2 {
		p.Messages = slices.DeleteFunc(p.Messages, func(m arrow) bool { return !m.Fatal && !m.Lost && !m.Late })
	}
	p.Divergence = nil
}

// Found is a figure on a page of a campaign or of a comparison, as [Figure] has written
// it; nil for none.
type Found []byte

// HTML is the figure for a template. It escapes nothing: [Figure] has done so.
func (f Found) HTML() template.HTML { return template.HTML(f) }
