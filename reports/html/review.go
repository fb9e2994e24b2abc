package html

import (
	"html/template"
	"io"

	"locksim/reports"
	"locksim/reports/reviewpage"
	"locksim/scenarios/review"
)

// Review writes the design review of a lock as one page that needs nothing
// else: the answer in a paragraph, the lock and its promise, a recommendation for
// each use with the rule and the figures that it follows from, what breaks the
// lock with the smallest story of each and what each fence made of it, the risk
// with and without a fence, what was tried, what was not, and what the team has to
// answer. It ends with Options.Replay, the command that makes it again.
//
// Of the other options none plays a part. The same review gives the same bytes.
// The error is that of the writer. It is safe for concurrent use.
func Review(w io.Writer, r *review.Review, opt reports.Options) error {
	v := reviewView{Page: reviewpage.New(r, opt), CSS: template.CSS(asset("base.css") + asset("review.css")), JS: template.JS(asset("review.js"))}
	return render(w, "review", reviewTemplate, v)
}

var reviewTemplate = page("review.html")

// reviewView is what the template shows.
type reviewView struct {
	*reviewpage.Page
	CSS template.CSS
	JS  template.JS
}
