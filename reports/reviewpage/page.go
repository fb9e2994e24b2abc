// Package reviewpage has the content of the report of a design review of a lock: a
// [Page] of sections, each a list of blocks. A format renders each kind of block in its
// own way. page.go has the kinds of blocks and the order of the sections; each section
// has a file.
package reviewpage

import (
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/grid"
	"locksim/scenarios/outcome/reviews"
)

// Page is a review as sections.
type Page struct {
	Lock   string
	Answer string
	// Front are the sections of the first page, which can be printed alone. The others
	// follow, folded where the format can.
	Front    []Section
	Sections []Section
	Replay   string
	Versions []reports.Version
}

// Section is a part of the review under a heading. Note says in a few words what is in it,
// for a reader who has not unfolded it.
type Section struct {
	ID, Title, Note string
	Blocks          []Block
}

// Block is one part of a section: a heading, a text, a list, a table, a break. All but
// one or two of its fields are empty.
type Block struct {
	Heading string
	Text    string
	Items   []string
	// Numbered says that the items are a numbered list.
	Numbered bool
	Advice   []Advice
	Table    *Table
	Break    *Break
	Worst    *Worst
	// Folded are items that a reader unfolds under this title.
	Folded string
}

// Table is a table with a name, for screen readers.
type Table struct {
	Name string
	Head []string
	Rows []Row
}

// Row is a row of a table; Name and Note are its first cell.
type Row struct {
	Name  string
	Note  string
	Cells []Cell
}

// Cell is a text, with the icon of a label where it has one.
type Cell struct {
	Text  string
	Label checker.Label
	Code  bool
	// Standing colours a cell that has its sign as text.
	Standing grid.Standing
}

func (t *Table) row(name string, cells ...string) {
	r := Row{Name: name}
	for _, c := range cells {
		r.Cells = append(r.Cells, Cell{Text: c})
	}
	t.Rows = append(t.Rows, r)
}

// New is the page of a review.
func New(r *reviews.Review, opt reports.Options) *Page {
	p := &Page{Lock: r.Lock.Name, Answer: r.Answer, Replay: opt.Replay, Versions: reviewVersions(r)}
	p.Front = []Section{
		{ID: "advice", Title: "Recommendation", Blocks: []Block{{Advice: adviceCards(r)}}},
		{ID: "worst", Title: "Its worst failure", Blocks: worstBlocks(r)},
		{ID: "survives", Title: "What it survives", Blocks: survivalBlocks(r)},
	}
	p.add("rules", "Why this is the recommendation", ruleBlocks(r))
	p.add("lock", "The lock", lockBlocks(r))
	p.add("promise", "What it promises", promiseBlocks(r))
	p.addBreaks(r)
	p.add("risk", "The risk, with and without a fence", riskBlocks(r))
	p.add("faults", "The faults considered", faultBlocks(r))
	p.add("explored", "What was explored", exploredBlocks(r))
	p.add("gaps", "What is not covered", gapBlocks(r))
	p.add("questions", "Open questions for the team", questionBlocks(r))
	return p
}

func (p *Page) add(id, title string, blocks []Block) {
	p.Sections = append(p.Sections, Section{ID: id, Title: title, Blocks: blocks})
}

// reviewVersions are the versions for which the hashes and the runs hold.
func reviewVersions(r *reviews.Review) []reports.Version {
	out := []reports.Version{{Name: "Go", Version: strings.TrimPrefix(r.Go, "go")}}
	for _, module := range sortedKeys(r.Modules) {
		out = append(out, reports.Version{Name: module, Version: r.Modules[module]})
	}
	return out
}

func paragraph(format string, args ...any) Block {
	return Block{Text: fmt.Sprintf(format, args...)}
}

// commas is a list of words, or a dash for none.
func commas[S ~string](words []S) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	if len(out) == 0 {
		return prose.Nothing
	}
	return strings.Join(out, ", ")
}
