package reports

import (
	"fmt"
	"io"

	"locksim/internal/prose"
	"locksim/scenarios/review"
)

// ReviewSummary writes the design review of a lock in short, for a terminal: the
// answer, the recommendations, the ways in which it was broken, and how many
// questions are open. Errors and concurrency are as for [Terminal].
func ReviewSummary(w io.Writer, r *review.Review, opt Options) error {
	opt, err := opt.withDefaults()
	if err != nil {
		return err
	}
	p := &page{opt: opt}
	p.part(fold("design review of lock "+visible(r.Lock.Name)+". "+r.Answer, opt.Width))
	for _, a := range r.Advice {
		p.part(fold(fmt.Sprintf("%s: %s", a.Use, a.Text), opt.Width))
	}
	if len(r.Failures) > 0 {
		t := table{sides: []side{right, left, right}}
		for i, b := range r.Failures {
			t.rows = append(t.rows, []cell{{text: fmt.Sprint(i + 1)}, {text: visible(b.Shape), style: styleOf(b.Label())}, {text: fmt.Sprintf("%d of %s", b.Runs, runs(b.Of))}})
		}
		p.part(append([]string{"what broke it"}, t.lines(opt.Colour)...))
	}
	p.part([]string{prose.Count(len(r.Questions), "open question") + " for the team."})
	return p.write(w)
}
