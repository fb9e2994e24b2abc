package terminal

import (
	"fmt"
	"io"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/scenarios/outcome/reviews"
)

// Review writes a summary of the design review of a lock for a terminal: the answer,
// the recommendations, the breaks, and the number of open questions. Errors and concurrency are as for [Run].
func Review(w io.Writer, r *reviews.Review, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(prose.Fold("design review of lock "+prose.Visible(r.Lock.Name)+". "+r.Answer, opt.Width))
	for _, a := range r.Advice {
		p.Add(prose.Fold(fmt.Sprintf("%s: %s", a.Use, a.Text), opt.Width))
	}
	if len(r.Failures) > 0 {
		t := table{sides: []side{right, left, right}}
		for i, b := range r.Failures {
			t.rows = append(t.rows, []cell{{text: fmt.Sprint(i + 1)}, {text: prose.Visible(b.Shape), style: styleOf(b.Label())},
				{text: fmt.Sprintf("%d of %s", b.Runs, prose.Count(b.Of, "run"))}})
		}
		p.Add(append([]string{"what broke it"}, t.lines(opt.Colour)...))
	}
	p.Add([]string{prose.Count(len(r.Questions), "open question") + " for the team."})
	return p.Render(w)
}
