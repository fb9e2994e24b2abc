package markdown

import (
	"io"

	"locksim/internal/prose"
	"locksim/scenarios/outcome/tunings"
)

// Tuning writes the choice of a TTL as Markdown: the sentence of each plan, and the figures of its curve. The same
// document gives the same bytes. Tuning returns the error of the writer.
func Tuning(w io.Writer, t *tunings.Tuning) error {
	p := new(prose.Page)
	p.Add([]string{"# Which TTL, if " + tunings.Share{Value: t.Target}.Sections() + " may outlive its lease"})
	var list []string
	for _, plan := range t.Plans {
		list = append(list, "- "+escape(plan.Sentence()))
	}
	for _, played := range t.Played {
		list = append(list, "- "+escape(played.Sentence()))
	}
	p.Add(list)
	p.Add([]string{tunings.NotCounted})
	p.Add([]string{"- Work: " + escape(t.Work.Sentence()), "- Pauses: " + escape(t.Pauses.Sentence()),
		"- Delay of a reply: " + escape(t.Reply.Sentence())})
	head := []string{"TTL"}
	for _, plan := range t.Plans {
		head = append(head, plan.Renewal.Words())
	}
	head = append(head, "two at once", "lost behind check", "a crash blocks", "on average")
	lines := []string{rowOf(head), ruler(len(head))}
	for i, c := range t.Plans[0].Curve {
		row := []string{tunings.Seconds(c.TTLSeconds)}
		for _, plan := range t.Plans {
			row = append(row, plan.Curve[i].OutlivesText())
		}
		lines = append(lines, rowOf(append(row, c.Twice.Text(), c.LostCheck.Text(),
			tunings.Seconds(c.BlockedWorstSeconds), tunings.Seconds(c.BlockedMeanSeconds))))
	}
	p.Add(lines)
	p.Add([]string{"The columns of the renewals have the sections that outlive their lease, with ~ where that is " +
		"extrapolated. The four columns after them are those without renewal."})
	return p.Render(w)
}
