package reports

import (
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/scenarios/review"
)

// reviewPage is a review as sections, which each form renders in its own way.
type reviewPage struct {
	Lock     string
	Answer   string
	Sections []reviewSection
	Replay   string
	Versions []Version
}

// reviewSection is a part of the review under a heading.
type reviewSection struct {
	ID, Title string
	Blocks    []reviewBlock
}

// reviewBlock is one thing after another below a heading. All but one or two of
// its fields are empty.
type reviewBlock struct {
	Heading string
	Text    string
	Items   []string
	// Numbered says that the items are a numbered list.
	Numbered bool
	Advice   []reviewAdvice
	Table    *reviewTable
	Break    *reviewBreak
	// Folded are items that a reader unfolds under this title.
	Folded string
}

// reviewTable is a table with a name, for whoever hears it.
type reviewTable struct {
	Name string
	Head []string
	Rows []reviewRow
}

// reviewRow begins with what it is about.
type reviewRow struct {
	Name  string
	Note  string
	Cells []reviewCell
}

// reviewCell is a text, with the sign of a label where it has one.
type reviewCell struct {
	Text  string
	Label checker.Label
	Code  bool
}

// row is a row of texts.
func (t *reviewTable) row(name string, cells ...string) {
	r := reviewRow{Name: name}
	for _, c := range cells {
		r.Cells = append(r.Cells, reviewCell{Text: c})
	}
	t.Rows = append(t.Rows, r)
}

// newReviewPage is a review as it is told, in order.
func newReviewPage(r *review.Review, opt Options) *reviewPage {
	p := &reviewPage{Lock: r.Lock.Name, Answer: r.Answer, Replay: opt.Replay, Versions: reviewVersions(r)}
	p.add("lock", "The lock", lockBlocks(r))
	p.add("promise", "What it promises", promiseBlocks(r))
	p.add("advice", "Recommendation by use", adviceBlocks(r))
	p.add("breaks", "What breaks it", breakBlocks(r))
	p.add("risk", "The risk, with and without a fence", riskBlocks(r))
	p.add("faults", "The faults considered", faultBlocks(r))
	p.add("explored", "What was explored", exploredBlocks(r))
	p.add("gaps", "What is not covered", gapBlocks(r))
	p.add("questions", "Open questions for the team", questionBlocks(r))
	return p
}

func (p *reviewPage) add(id, title string, blocks []reviewBlock) {
	p.Sections = append(p.Sections, reviewSection{id, title, blocks})
}

// reviewVersions are those that the hashes and the runs hold for.
func reviewVersions(r *review.Review) []Version {
	out := []Version{{"Go", strings.TrimPrefix(r.Go, "go")}}
	for _, module := range sortedKeys(r.Modules) {
		out = append(out, Version{module, r.Modules[module]})
	}
	return out
}

// paragraph is a block of text.
func paragraph(format string, args ...any) reviewBlock {
	return reviewBlock{Text: fmt.Sprintf(format, args...)}
}

// joined are words with commas, or a dash for none.
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
