package html

import (
	"html/template"
	"io"

	"locksim/reports"
	"locksim/reports/reviewpage"
	"locksim/scenarios/outcome/reviews"
)

// ReviewOptions are what the page of a design review has besides the review. The zero value
// is a page without these.
type ReviewOptions struct {
	// Replay is the command that repeats the review, at the end of the page.
	Replay string
	// Figure is the diagram of the worst failure, [reviews.Review.Worst], as [Figure] has
	// written it; nil for none.
	Figure Found
}

// Review writes the design review of a lock as one page. It begins with what fits on one
// sheet of paper: the answer, a recommendation for each use, the worst failure with its
// diagram, and a table of what the lock survives. The rest is folded: the rules, the promise,
// the weaknesses of the lock with their smallest stories, apart from those of every lock with
// a lease and from the mistakes of clients, the counts, what was explored and what was not,
// and the open questions.
//
// The same review and options give the same bytes. Review returns the error of the writer. It
// is safe for concurrent use.
func Review(w io.Writer, r *reviews.Review, opt ReviewOptions) error {
	v := reviewView{Page: reviewpage.New(r, reports.Options{Replay: opt.Replay}), Figure: opt.Figure,
		CSS: template.CSS(asset("base.css") + asset("chart.css") + asset("review.css")), JS: template.JS(asset("review.js"))}
	return render(w, "review", reviewTemplate, v)
}

var reviewTemplate = page("review.html")

// reviewView is the data of the template.
type reviewView struct {
	*reviewpage.Page
	Figure Found
	CSS    template.CSS
	JS     template.JS
}
