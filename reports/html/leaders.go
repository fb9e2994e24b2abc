package html

import (
	"html/template"
	"io"

	"locksim/scenarios/outcome/tunings"
)

// Leaders writes what the times of elections mean as one page without other files and without JavaScript. The same
// document and options give the same bytes. Leaders returns the error of the writer.
func Leaders(w io.Writer, l *tunings.Leaders, opt TuningOptions) error {
	p := leadersPage{Legend: tunings.LeadersLegend, NotCounted: tunings.LeadersNotCounted,
		Heads: tunings.TroubleHeads(), TuningOptions: opt, CSS: template.CSS(asset("base.css") + asset("tuning.css"))}
	if l.Wish != nil {
		p.Wish = l.Wish.Sentence()
		for _, a := range l.Advice {
			p.Advice = append(p.Advice, a.Sentence())
		}
	}
	for _, s := range l.Settings {
		block := leadersSetting{Title: s.Title(), Times: s.Sentence(), Refused: s.Refused}
		for _, t := range s.Troubles {
			block.Rows = append(block.Rows, t.Cells())
		}
		p.Settings = append(p.Settings, block)
	}
	return render(w, "leaders", leadersTemplate, p)
}

var leadersTemplate = page("leaders.html")

// leadersPage is the data of the template.
type leadersPage struct {
	TuningOptions
	Wish       string
	Advice     []string
	Heads      []string
	Settings   []leadersSetting
	Legend     string
	NotCounted string
	CSS        template.CSS
}

type leadersSetting struct {
	Title, Times, Refused string
	Rows                  [][]string
}
