package html

import (
	"html/template"
	"io"

	"locksim/reports"
	"locksim/scenarios/explore"
)

// CampaignOptions say what the page of an exploration or a sweep cannot know of
// itself. The zero value is a page without links and commands.
type CampaignOptions struct {
	// Page is the address of the report of the i-th violation, from 1 on,
	// relative to the page, or "" where there is none. Nil means that there are
	// none.
	Page func(i int) string
	// Replay is the command that makes the i-th violation again. Nil means that
	// no command is shown.
	Replay func(i int) string
	// Again is the command that does all of it again. "" shows none.
	Again string
	// Versions are those that the result depends on. None are listed by default.
	Versions []reports.Version
}

// page is the address of a violation's report, or "".
func (o CampaignOptions) page(i int) string { return call(o.Page, i) }

// replay is the command of a violation, or "".
func (o CampaignOptions) replay(i int) string { return call(o.Replay, i) }

func call(f func(int) string, i int) string {
	if f == nil {
		return ""
	}
	return f(i)
}

// campaignPage is what the template of explorations and sweeps shows.
type campaignPage struct {
	// Kind is "exploration" or "sweep", Subject what it is about.
	Kind, Subject   string
	Title, Headline string
	Found           bool // a violation was found
	Doubts          []string
	Figures         []figure
	Tables          []countTable
	Violations      []violationPart
	Limits          []string
	Again           string
	Versions        []reports.Version
	CSS             template.CSS
}

// figure is one number at the head of the page, and what it counts.
type figure struct{ Value, Name string }

// countTable has a row for each thing that was counted.
type countTable struct {
	ID, Title, Note string
	Heads           []string
	Rows            []countRow
}

// countRow is one row. Share is how much of the thing came about, in per cent; a
// negative one is not shown.
type countRow struct {
	Name   string
	Values []string
	Share  int
}

// share is a part in per cent, rounded down so that 100 means all.
func share(part, whole int) int {
	if whole == 0 {
		return -1
	}
	return 100 * part / whole
}

var campaignTemplate = page("campaign.html")

// write renders the page.
func (p *campaignPage) write(w io.Writer) error {
	p.CSS = template.CSS(asset("base.css") + asset("campaign.css"))
	return render(w, p.Kind, campaignTemplate, p)
}

// judgedAs says by what a lock was judged, and what that leaves open.
func judgedAs(judge explore.Judge) string {
	if judge == explore.JudgePromise {
		return "The lock was judged by its own promise, under the faults of which it speaks. Under other faults it may well break."
	}
	return "The lock was judged as if it promised that all goes well under every fault. What it promises may be less."
}
