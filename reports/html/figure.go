package html

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"locksim/lock/fence"
	"locksim/reports/diagram"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// FigureOptions say how a [Figure] is drawn.
type FigureOptions struct {
	// ID is the id of the figure. Each figure of a page has another. Required.
	ID string
	// Width is the width of the figure in pixels, at least 300. Required.
	Width int
	// Answers says whether the figure begins with what happened in the run, whose fault that is, and what would have saved
	// it.
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
	d := diagram.Decisive(s, opt.Width)
	v := panelView{Panel: d.Panels[0], Diagram: d, ID: opt.ID, Keys: s.KeyStory()}
	for _, l := range s.Run.Story {
		if l.Fatal {
			v.Says = fmt.Sprintf("%s %s", l.Actor, l.Text)
		}
	}
	if answers := outcome.Answers(o); opt.Answers && answers != nil {
		v.Answers = answers[1:4]
	}
	return render(w, "figure", figureTemplate, v)
}

var figureTemplate = page("figure.html")

// Found is a figure on a page of a campaign or of a comparison, as [Figure] has written
// it; nil for none.
type Found []byte

// HTML is the figure for a template. It escapes nothing: [Figure] has done so.
func (f Found) HTML() template.HTML { return template.HTML(f) }
