package terminal

import (
	"fmt"
	"io"
	"math"
	"strings"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/scenarios/outcome/tunings"
)

// Tuning writes the choice of a TTL for a terminal: the sentence of each plan, the curve without renewal with what a
// late section does, and the shares of all renewals side by side. The errors are those of [Run].
func Tuning(w io.Writer, t *tunings.Tuning, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	add := func(text string) { p.Add(prose.Fold(text, opt.Width)) }
	p.Add([]string{"which TTL, if " + tunings.Share{Value: t.Target}.Sections() + " may outlive its lease"})
	for _, plan := range t.Plans {
		add(plan.Sentence())
	}
	for _, played := range t.Played {
		add(played.Sentence())
	}
	add(tunings.NotCounted)
	add("Work: " + t.Work.Sentence())
	add("Pauses: " + t.Pauses.Sentence())
	add("Delay of a reply: " + t.Reply.Sentence())
	if t.MarginSeconds > 0 {
		add(fmt.Sprintf("Margin: a lease may end %s before its TTL is over", tunings.Seconds(t.MarginSeconds)))
	}
	p.Add(append([]string{"without renewal", ""}, tuningCurve(t.Plans[0], opt)...))
	p.Add(append([]string{"sections that outlive their lease, by renewal", ""},
		tuningRenewals(t.Plans, opt)...))
	if t.Extrapolated() {
		add("~ extrapolated: above the largest value that was measured or given.")
	}
	add(fmt.Sprintf("Another client waits in %.3g %% of the sections, and asks again after %s at most. “two at once” "+
		"acts after the other one was granted the lock and has read, which without a fence loses a write. “lost, check” is "+
		"what the fence check lets through; behind seal nothing is lost. “crash” is for how long a crash blocks the others "+
		"on average, in the second table with a renewal each tenth. The bars are on a logarithmic scale, from one section "+
		"in 1,000,000 to all.", t.Contended*100, tunings.Seconds(t.BackoffSeconds)))
	return p.Render(w)
}

// tuningCurve has a line for each TTL, with a bar on a logarithmic scale.
func tuningCurve(plan tunings.Plan, opt reports.Options) []string {
	tab := table{sides: []side{right, left, right, right, right, right, left}}
	tab.row("TTL", "", "outlives", "two at once", "lost, check", "crash", "")
	for _, c := range plan.Curve {
		tab.row(tunings.Seconds(c.TTLSeconds), mark(c), c.Outlives.Text(), c.Twice.Text(), c.LostCheck.Text(),
			tunings.Seconds(c.BlockedMeanSeconds), bar(c.Outlives.Value))
	}
	return tab.lines(opt.Colour)
}

// tuningRenewals has a line for each TTL, with a column for each renewal.
func tuningRenewals(plans []tunings.Plan, opt reports.Options) []string {
	tab := table{sides: []side{right}}
	head := []string{"TTL"}
	for _, plan := range plans {
		tab.sides = append(tab.sides, right)
		head = append(head, string(plan.Renewal))
	}
	tab.sides = append(tab.sides, right)
	tab.row(append(head, "crash")...)
	for i, c := range plans[0].Curve {
		row := []string{tunings.Seconds(c.TTLSeconds)}
		for _, plan := range plans {
			row = append(row, mark(plan.Curve[i])+plan.Curve[i].Outlives.Text())
		}
		tab.row(append(row, tunings.Seconds(plans[len(plans)-1].Curve[i].BlockedMeanSeconds))...)
	}
	return tab.lines(opt.Colour)
}

func mark(p tunings.Point) string {
	if p.Extrapolated {
		return "~"
	}
	return ""
}

// decades is how many powers of ten a bar shows, and wide how many columns each has.
const decades, wide = 6, 2

func bar(share float64) string {
	if share <= 0 {
		return ""
	}
	n := int(math.Round((math.Log10(share) + decades) * wide))
	return strings.Repeat("▇", max(n, 0))
}
