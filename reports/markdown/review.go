package markdown

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/reviewpage"
	"locksim/scenarios/outcome/reviews"
)

// Review writes the design review of a lock as Markdown, with the content of its page
// in the same order. No text of a lock or of a run becomes markup.
//
// Of the options, only Replay is used. The same review gives the same bytes. Review
// returns the error of the writer. It is safe for concurrent use.
func Review(w io.Writer, r *reviews.Review, opt reports.Options) error {
	v := reviewpage.New(r, opt)
	p := new(prose.Page)
	p.Add([]string{"# Design review: lock " + literal(v.Lock)})
	p.Add([]string{"**" + literal(v.Answer) + "**"})
	for _, s := range slices.Concat(v.Front, v.Sections) {
		p.Add([]string{"## " + s.Title})
		for _, b := range s.Blocks {
			for _, part := range blockParts(b) {
				p.Add(part)
			}
		}
	}
	p.Add([]string{"## Make it again"})
	p.Add(versions(v.Versions))
	if v.Replay != "" {
		p.Add(fenced("console", v.Replay))
	}
	return p.Render(w)
}

func versions(versions []reports.Version) []string {
	lines := []string{"The figures, and all hashes, hold for these versions:", ""}
	for _, v := range versions {
		lines = append(lines, "- "+literal(v.Name+" "+v.Version))
	}
	return lines
}

// blockParts are a block as parts with an empty line between them.
func blockParts(b reviewpage.Block) [][]string {
	var parts [][]string
	if b.Heading != "" {
		parts = append(parts, []string{"### " + literal(b.Heading)})
	}
	if b.Text != "" {
		parts = append(parts, []string{literal(b.Text)})
	}
	for _, a := range b.Advice {
		parts = append(parts, adviceParts(a)...)
	}
	if b.Table != nil {
		parts = append(parts, tableLines(b.Table))
	}
	if w := b.Worst; w != nil {
		parts = append(parts, []string{fmt.Sprintf("**%s**: %s", literal(w.Title), literal(string(w.Label)))},
			[]string{literal(w.Text)}, fenced("console", w.Replay))
	}
	if b.Break != nil {
		parts = append(parts, breakParts(b.Break)...)
	}
	if b.Folded != "" {
		return append(parts, folded(htmlText(b.Folded), listed(b)))
	}
	return append(parts, listed(b))
}

// listed are the items of a block as a list.
func listed(b reviewpage.Block) []string {
	var lines []string
	for i, item := range b.Items {
		mark := "- "
		if b.Numbered {
			mark = fmt.Sprintf("%d. ", i+1)
		}
		lines = append(lines, mark+literal(item))
	}
	return lines
}

func htmlText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(prose.Visible(text))
}

func adviceParts(a reviewpage.Advice) [][]string {
	parts := [][]string{
		{fmt.Sprintf("### %s: %s", literal(a.Use), literal(a.Verdict))},
		{"*" + literal(a.Means) + "*"},
		{literal(a.Text)},
	}
	return parts
}

func tableLines(t *reviewpage.Table) []string {
	lines := []string{rowOf(escaped(t.Head)), ruler(len(t.Head))}
	for _, r := range t.Rows {
		row := []string{literal(r.Name)}
		if r.Note != "" {
			row[0] += "<br>" + literal(r.Note)
		}
		for _, c := range r.Cells {
			row = append(row, cellText(c))
		}
		lines = append(lines, rowOf(row))
	}
	return lines
}

func cellText(c reviewpage.Cell) string {
	if c.Code {
		return "<code>" + literal(c.Text) + "</code>"
	}
	return literal(strings.TrimSpace(string(c.Label) + " " + c.Text))
}

func escaped(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = literal(text)
	}
	return out
}

// breakParts are a break with its story; its schedule is folded.
func breakParts(b *reviewpage.Break) [][]string {
	parts := [][]string{
		{fmt.Sprintf("### %d. %s", b.Number, literal(b.Shape))},
		{literal(b.Where)},
		listed(reviewpage.Block{Items: b.Reasons}),
		tableLines(b.Fences),
		{fmt.Sprintf("The story in mode %s:", literal(b.Mode))},
		storyTable(b),
		folded("The schedule, as YAML", fenced("yaml", b.Schedule)),
		fenced("console", b.Replay),
	}
	return parts
}

func storyTable(b *reviewpage.Break) []string {
	lines := []string{"| step | time | who | what |", "|--:|--:|---|---|"}
	for _, s := range b.Story {
		if s.Skipped > 0 {
			lines = append(lines, rowOf([]string{"", "", "", s.String()}))
			continue
		}
		row := escaped([]string{strconv.Itoa(s.N), s.At.String(), s.Actor, s.Text})
		if s.Fatal {
			for i := range row {
				row[i] = "**" + row[i] + "**"
			}
			row[0] = ">> " + row[0]
		}
		lines = append(lines, rowOf(row))
	}
	return lines
}
