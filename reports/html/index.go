package html

import (
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/reports/index"
)

// Index writes an index as one page, with relative links to the pages of its folders.
// The script of a live page fetches the page again and again and shows the changes,
// and does not move the scroll position or the keyboard focus.
//
// The same index gives the same bytes. Index returns the error of the writer. It is
// safe for concurrent use.
func Index(w io.Writer, x index.Index) error {
	return render(w, "index", indexTemplate, newIndexPage(x))
}

var indexTemplate = page("index.html")

// indexPage is the data of the template.
type indexPage struct {
	Note     string
	First    string
	Status   string
	Busy     bool // a campaign is running
	Latest   *indexRow
	Sections []indexSection
	Live     bool
	CSS      template.CSS
	JS       template.JS
}

// indexSection is the entries of one kind.
type indexSection struct {
	ID, Title string
	Rows      []indexRow
}

// indexRow is an entry with its id, title and addresses.
type indexRow struct {
	index.Entry
	ID    string
	Title string
	Main  string // the address of its first page, or ""
	Links []indexLink
}

type indexLink struct{ Name, Address string }

// indexGroups are the sections in their order, and which entries each has.
var indexGroups = []struct {
	id, title string
	has       func(e index.Entry) bool
}{
	{"under-way", "Under way", func(e index.Entry) bool { return state(e) == stateRunning }},
	{"not-finished", "Not finished", func(e index.Entry) bool { return state(e) == stateStopped }},
	{"triage", "Violations over time", indexed(index.Triage)},
	{"runs", "Runs", indexed(index.Run)},
	{"explorations", "Explorations", indexed(index.Exploration)},
	{"sweeps", "Sweeps", indexed(index.Sweep)},
	{"matrices", "Matrices", indexed(index.Matrix)},
	{"reviews", "Design reviews", indexed(index.Review)},
	{"unread", "Cannot be read", indexed(index.Unread)},
}

// indexed selects the finished entries of a kind, and all of kind Unread.
func indexed(kind index.Kind) func(index.Entry) bool {
	return func(e index.Entry) bool { return e.Kind == kind && (state(e) == stateDone || kind == index.Unread) }
}

func newIndexPage(x index.Index) *indexPage {
	p := &indexPage{Note: x.Note, First: x.First, Status: indexStatus(x), Live: x.Live,
		CSS: template.CSS(asset("base.css") + asset("index.css")), JS: template.JS(asset("index.js"))}
	p.Busy = slices.ContainsFunc(x.Entries, func(e index.Entry) bool { return state(e) == stateRunning })
	ids := map[string]int{}
	for _, g := range indexGroups {
		s := indexSection{ID: g.id, Title: g.title}
		for _, e := range x.Entries {
			if g.has(e) {
				s.Rows = append(s.Rows, newIndexRow(e, ids))
			}
		}
		if len(s.Rows) > 0 {
			p.Sections = append(p.Sections, s)
			p.setLatest(s.Rows)
		}
	}
	return p
}

// setLatest looks for the latest entry that has a page, the first of several.
func (p *indexPage) setLatest(rows []indexRow) {
	i := slices.IndexFunc(rows, func(r indexRow) bool { return r.Latest && r.Main != "" })
	if i >= 0 && p.Latest == nil {
		p.Latest = &rows[i]
	}
}

// newIndexRow makes the row of an entry. ids counts how often each id is used: two
// documents of one folder may both be unreadable.
func newIndexRow(e index.Entry, ids map[string]int) indexRow {
	r := indexRow{Entry: e, ID: "e-" + string(e.Kind) + "-" + url.PathEscape(e.Folder), Title: indexTitle(e)}
	if ids[r.ID]++; ids[r.ID] > 1 {
		r.ID += fmt.Sprintf("~%d", ids[r.ID])
	}
	for i, page := range e.Pages {
		address := below(e.Folder, page.File)
		if i == 0 {
			r.Main = address
			continue
		}
		r.Links = append(r.Links, indexLink{page.Name, address})
	}
	return r
}

func indexTitle(e index.Entry) string {
	switch e.Kind {
	case index.Exploration:
		return "Exploration of " + e.Lock
	case index.Sweep:
		return "Sweep of " + e.What + " with " + e.Lock
	case index.Run:
		return e.What + " with " + e.Lock
	case index.Unread:
		return e.Folder
	case index.Triage:
		if e.Folder != "." {
			return e.What + " in " + e.Folder
		}
	}
	return e.What
}

// below is the address of a file in a folder, relative to the index. A name with
// a colon in it must not look like a scheme.
func below(folder, file string) string {
	var parts []string
	for part := range strings.SplitSeq(folder+"/"+file, "/") {
		if part != "" && part != "." {
			parts = append(parts, url.PathEscape(part))
		}
	}
	return "./" + strings.Join(parts, "/")
}

// indexStatus counts the entries by state, in a sentence.
func indexStatus(x index.Index) string {
	counts := map[string]int{}
	for _, e := range x.Entries {
		counts[state(e)]++
	}
	parts := []string{prose.Count(counts[stateDone], "result")}
	for _, state := range []string{stateRunning, stateStopped, stateUnread} {
		if n := counts[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(parts, ", ") + "."
}

// The states of entries, as the end of "2 …".
const (
	stateDone    = "finished"
	stateRunning = "under way"
	stateStopped = "not finished"
	stateUnread  = "that cannot be read"
)

func state(e index.Entry) string {
	switch {
	case e.Kind == index.Unread:
		return stateUnread
	case e.Progress == nil:
		return stateDone
	case e.Progress.Running:
		return stateRunning
	}
	return stateStopped
}
