package terminal

import (
	"io"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/scenarios/outcome/tunings"
)

// Leaders writes what the times of elections mean for a terminal: what is recommended, and a table for each setting.
// The errors are those of [Run].
func Leaders(w io.Writer, l *tunings.Leaders, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	add := func(text string) { p.Add(prose.Fold(text, opt.Width)) }
	p.Add([]string{"leaders under outages, pauses and crashes"})
	if l.Wish != nil {
		add(l.Wish.Sentence())
		for _, a := range l.Advice {
			add(a.Sentence())
		}
	}
	for _, s := range l.Settings {
		head := append([]string{s.Title()}, prose.Fold(s.Sentence(), opt.Width)...)
		if s.Refused != "" {
			p.Add(append(head, prose.Fold(s.Refused+".", opt.Width)...))
			continue
		}
		tab := table{sides: []side{left, left, left, left}}
		tab.row(tunings.TroubleHeads()...)
		for _, t := range s.Troubles {
			tab.row(t.Cells()...)
		}
		p.Add(append(append(head, ""), tab.lines(opt.Colour)...))
	}
	add(tunings.LeadersLegend)
	add(tunings.LeadersNotCounted)
	return p.Render(w)
}
