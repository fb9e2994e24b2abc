package html

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports/grid"
	"locksim/scenarios/outcome/matrices"
)

// Matrix writes the page of the whole matrix: a table with a row for each scenario and
// a column for each lock. For each pair it has a cell for each fencing mode, with a
// sign, its words, and a link to the report of its run. Specimens have a separate
// table. Scripts add filters; without scripts the page shows everything.
//
// The same site gives the same bytes. Matrix returns the error of the writer.
func Matrix(w io.Writer, s MatrixSite) error {
	return render(w, "page", matrixTemplate, newMatrixPage(&s))
}

var matrixTemplate = page("matrix.html")

// matrixPage is the data of the template.
type matrixPage struct {
	Headline, Evidence, Outcome, Made string
	HarmNote                          string
	Modes                             []fence.Mode
	Legend                            []legendLine
	Labels                            []labelCount
	Cells                             int
	Locks                             []pageLink
	Harm                              []harmRow
	Rows                              []matrixLine
	SpecimenRows                      []matrixLine
	Problems                          []problemLine
	NotRun                            []string
	CSS                               template.CSS
	JS                                template.JS
}

// pageLink is a name with the address of its page.
type pageLink struct{ Name, Href string }

// legendLine is a sign with its meaning.
type legendLine struct {
	Label          checker.Label
	Glyph, Meaning string
}

// labelCount is how many cells have a label.
type labelCount struct {
	Label checker.Label
	Glyph string
	N     int
	Worse bool // than safe
}

// matrixLine is a row of the table: a scenario with all locks, or with a specimen.
type matrixLine struct {
	pageLink
	Title     string
	Catalogue []string
	Specimen  pageLink
	Groups    []matrixGroup
}

// matrixGroup is the cells of a scenario and a lock.
type matrixGroup struct {
	Lock   string
	Failed bool
	Cells  []matrixCell
}

// matrixCell is a cell.
type matrixCell struct {
	Mode               fence.Mode
	Label              checker.Label
	Glyph, Words, Href string
	Problem            string
}

func newMatrixPage(s *MatrixSite) *matrixPage {
	m := s.Matrix
	p := &matrixPage{
		Headline: fmt.Sprintf("%s with %s, under %s, with %s.", prose.Count(len(m.Scenarios), "scenario"),
			prose.Count(len(m.Locks), "lock"),
			prose.Count(len(m.Modes), "fencing mode"), m.Seeds),
		Evidence: grid.Evidence(m), Outcome: grid.Outcome(m), HarmNote: grid.HarmNote, Made: s.Replay, Modes: m.Modes,
		Legend: legendLines(), Labels: labelCounts(m), Cells: len(m.Cells),
		Problems: problemLines(m), CSS: matrixCSS(), JS: template.JS(asset("matrix.js")),
	}
	for _, f := range m.NotRun {
		why, _, _ := strings.Cut(f.Why, "\n")
		p.NotRun = append(p.NotRun, fmt.Sprintf("%s with lock %s: %s", f.Scenario, f.Lock, why))
	}
	var specimens []pageLink
	for _, l := range m.Locks {
		link := pageLink{l.Name, MatrixLockFile(l.Name)}
		if grid.IsSpecimen(l.Name) {
			specimens = append(specimens, link)
			continue
		}
		p.Locks = append(p.Locks, link)
	}
	p.Harm = s.harm()
	p.Rows, p.SpecimenRows = s.lines(p.Locks), s.specimenLines(specimens)
	return p
}

// lines are the rows of the scenarios that were run with some of the locks.
func (s *MatrixSite) lines(locks []pageLink) []matrixLine {
	g := grid.New(s.Matrix)
	var lines []matrixLine
	for _, row := range s.Matrix.Scenarios {
		line := newMatrixLine(row)
		for _, l := range locks {
			line.Groups = append(line.Groups, s.group(g, row.Name, l.Name))
		}
		if slices.ContainsFunc(line.Groups, matrixGroup.filled) {
			lines = append(lines, line)
		}
	}
	return lines
}

// specimenLines are a row for each specimen and scenario.
func (s *MatrixSite) specimenLines(specimens []pageLink) []matrixLine {
	g := grid.New(s.Matrix)
	var lines []matrixLine
	for _, l := range specimens {
		for _, row := range s.Matrix.Scenarios {
			if g.Has(row.Name, l.Name) {
				line := newMatrixLine(row)
				line.Specimen, line.Groups = l, []matrixGroup{s.group(g, row.Name, l.Name)}
				lines = append(lines, line)
			}
		}
	}
	return lines
}

func newMatrixLine(row matrices.Row) matrixLine {
	return matrixLine{pageLink: pageLink{row.Name, MatrixScenarioFile(row.Name)}, Title: row.Title,
		Catalogue: row.Catalogue}
}

func (p matrixGroup) filled() bool { return p.Failed || len(p.Cells) > 0 }

func (s *MatrixSite) group(g grid.Grid, scenario, lock string) matrixGroup {
	p := matrixGroup{Lock: lock, Failed: g.Failed(scenario, lock)}
	for _, c := range g.Group(scenario, lock) {
		p.Cells = append(p.Cells, s.cell("", c))
	}
	return p
}

// cell is a cell on a page. up is the relative path from the page to the folder of all
// pages.
func (s *MatrixSite) cell(up string, c matrices.Cell) matrixCell {
	sign := grid.SignOf(c)
	return matrixCell{Mode: c.Mode, Label: checker.Label(sign.Name), Glyph: sign.Glyph, Words: cellWords(c),
		Href: s.cellLink(up, c), Problem: c.Problem()}
}

// cellWords is a cell in words: "corrupted 20/20", "not felt 20/20: no client read its
// wall clock".
func cellWords(c matrices.Cell) string {
	text := strings.TrimSpace(grid.Word(c) + " " + grid.KOfN(c))
	if c.Vacuous != "" {
		text = "vacuous, " + text
	}
	if c.NotFelt != "" {
		text += ": " + c.NotFelt
	}
	return text
}

func legendLines() []legendLine {
	var lines []legendLine
	for _, s := range grid.Legend() {
		lines = append(lines, legendLine{checker.Label(s.Name), s.Glyph, s.Meaning})
	}
	return lines
}

// labelCounts count the cells by their signs, the worst first.
func labelCounts(m *matrices.Matrix) []labelCount {
	n := map[string]int{}
	for _, c := range m.Cells {
		n[grid.SignOf(c).Name]++
	}
	var out []labelCount
	for _, s := range grid.Legend() {
		if n[s.Name] > 0 {
			label := checker.Label(s.Name)
			out = append(out, labelCount{label, s.Glyph, n[s.Name], label.Severity() > checker.Safe.Severity()})
		}
	}
	return out
}

// problemLine is a problem, with the command that repeats it.
type problemLine struct{ Text, Replay string }

func problemLines(m *matrices.Matrix) []problemLine {
	var lines []problemLine
	for _, c := range grid.Complaints(m) {
		lines = append(lines, problemLine{c.String(), c.Replay})
	}
	for _, f := range m.Failures {
		why, _, _ := strings.Cut(f.Why, "\n")
		lines = append(lines, problemLine{fmt.Sprintf("%s, lock %s could not be run: %s", f.Scenario, f.Lock, why), f.Replay})
	}
	return lines
}

// harmRow is a lock with the link to its page.
type harmRow struct {
	Href string
	grid.Harm
}

// Specimen reports whether the lock is wrong on purpose.
func (r harmRow) Specimen() bool { return grid.IsSpecimen(r.Lock) }

func (s *MatrixSite) harm() []harmRow {
	var rows []harmRow
	for _, h := range grid.Harms(s.Matrix) {
		rows = append(rows, harmRow{MatrixLockFile(h.Lock), h})
	}
	return rows
}
