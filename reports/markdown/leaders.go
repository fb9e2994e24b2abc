package markdown

import (
	"io"

	"locksim/internal/prose"
	"locksim/scenarios/outcome/tunings"
)

// Leaders writes what the times of elections mean as Markdown. The same document gives the same bytes. Leaders returns
// the error of the writer.
func Leaders(w io.Writer, l *tunings.Leaders) error {
	p := new(prose.Page)
	p.Add([]string{"# Leaders under outages, pauses and crashes"})
	if l.Wish != nil {
		p.Add([]string{escape(l.Wish.Sentence())})
		var list []string
		for _, a := range l.Advice {
			list = append(list, "- "+escape(a.Sentence()))
		}
		p.Add(list)
	}
	head := append([]string{"setting"}, tunings.TroubleHeads()...)
	lines := []string{rowOf(head), ruler(len(head))}
	for _, s := range l.Settings {
		if s.Refused != "" {
			lines = append(lines, rowOf([]string{escape(s.Title()), escape(s.Refused), "", "", ""}))
		}
		for _, t := range s.Troubles {
			lines = append(lines, rowOf(append([]string{escape(s.Title())}, t.Cells()...)))
		}
	}
	p.Add(lines)
	p.Add([]string{tunings.LeadersLegend})
	p.Add([]string{tunings.LeadersNotCounted})
	return p.Render(w)
}
