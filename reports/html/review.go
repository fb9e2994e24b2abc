package html

import (
	"html/template"
	"io"

	"locksim/reports"
	"locksim/reports/reviewpage"
	"locksim/scenarios/outcome/reviews"
)

// Review writes the design review of a lock as one page: the answer in a paragraph,
// the lock and its promise, a recommendation for each use with the rule and the figures
// that it follows from, each break of the lock with its smallest story and the effect
// of each fence, the risk with and without a fence, what was explored and what was not,
// and the open questions. It ends with Options.Replay, the command that repeats the
// review.
//
// The other options are not used. The same review gives the same bytes. Review returns
// the error of the writer. It is safe for concurrent use.
func Review(w io.Writer, r *reviews.Review, opt reports.Options) error {
	v := reviewView{Page: reviewpage.New(r, opt), CSS: template.CSS(asset("base.css") + asset("review.css")), JS: template.JS(asset("review.js"))}
	return render(w, "review", reviewTemplate, v)
}

var reviewTemplate = page("review.html")

// reviewView is the data of the template.
type reviewView struct {
	*reviewpage.Page
	CSS template.CSS
	JS  template.JS
}
