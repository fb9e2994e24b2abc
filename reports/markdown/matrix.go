package markdown

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/reports/grid"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
)

// Matrix writes a matrix as one page of Markdown: its links to the scenarios are relative to a folder beside theirs,
// such as reports. It has an overview in signs and a section for each scenario, in which locks with equal results share
// a line. It has no wall times: the same matrix gives the same bytes on every machine. Matrix returns the error of the
// writer.
func Matrix(w io.Writer, m *matrices.Matrix) error {
	p := matrixFront(m, writtenBy(m), linked)
	p.Add([]string{"## Scenarios", "", howToRead})
	g := grid.New(m)
	for _, sc := range m.Scenarios {
		p.Add(append([]string{"### " + sc.Name, ""}, scenarioSection(m, g, sc, "../scenarios")...))
	}
	return p.Render(w)
}

// MatrixFolder is the folder of the pages of scenarios, from that of the index.
const MatrixFolder = "matrix"

// MatrixIndex writes the page without the sections of scenarios, of which each has a page of its own: see
// [MatrixScenario]. It returns the error of the writer.
func MatrixIndex(w io.Writer, m *matrices.Matrix) error {
	p := matrixFront(m, folderWriter, func(sc matrices.Row) string {
		return fmt.Sprintf("[%s](%s)", sc.Name, path.Join(MatrixFolder, sc.Name+".md"))
	})
	return p.Render(w)
}

// MatrixScenario writes the page of a scenario, for [MatrixFolder]. It returns the error of the writer.
func MatrixScenario(w io.Writer, m *matrices.Matrix, sc matrices.Row) error {
	p := new(prose.Page)
	p.Add([]string{"# " + sc.Name})
	p.Add([]string{"<!-- Written by " + folderWriter + ". Do not edit. -->"})
	p.Add(append(scenarioSection(m, grid.New(m), sc, "../../scenarios"), "", howToRead, "", "[The matrix](../MATRIX.md)."))
	return p.Render(w)
}

// howToRead explains the cells of a scenario.
const howToRead = "`corrupted 3/20, seed 7` means that 3 of 20 seeds show it, seed 7 first. Of a safe cell, only " +
	"those runs count\nthat tested the lock: clients contended, every fault struck, and one was felt. Where a lock " +
	"cannot feel the faults, the cell says\nnot felt."

// matrixFront is all but the scenarios, to whose name name gives a link.
func matrixFront(m *matrices.Matrix, by string, name func(matrices.Row) string) *prose.Page {
	p := new(prose.Page)
	p.Add([]string{"# The matrix"})
	p.Add([]string{"<!-- Written by " + by + ". Do not edit. -->"})
	p.Add(matrixHead(m))
	p.Add(choosing(m))
	p.Add(howOften(m))
	p.Add(legend(m))
	p.Add([]string{"## Overview"})
	p.Add(overview(m, name))
	p.Add(specimens(m, name))
	p.Add(notRun(m))
	p.Add(problems(m))
	return p
}

// folderWriter is the command that writes the index and the pages of scenarios.
const folderWriter = "locksim matrix"

// writtenBy is the command that writes the whole matrix.
func writtenBy(m *matrices.Matrix) string {
	if slices.ContainsFunc(m.Locks, func(l matrices.Column) bool { return grid.IsSpecimen(l.Name) }) {
		return "locksim matrix --broken --markdown"
	}
	return "locksim matrix --markdown"
}

func matrixHead(m *matrices.Matrix) []string {
	return []string{
		fmt.Sprintf("What became of %s with %s, under the fencing modes %s. Every cell is the worst label of %s.",
			prose.Count(len(m.Scenarios), "scenario"), prose.Count(len(m.Locks), "lock"), prose.Commas(m.Modes), m.Seeds),
		grid.Evidence(m) + " " + grid.Outcome(m),
		"That a cell is safe means that these runs showed no violation. It is not a proof.",
		"",
		"`locksim run SCENARIO --lock LOCK --seed SEED --fencing MODE` makes a run of any cell again.",
	}
}

// howOften is a table of the shares of runs that did harm, with a row for each cell.
func howOften(m *matrices.Matrix) []string {
	all := grid.HowOften(m)
	if len(all) == 0 {
		return nil
	}
	head := []string{"scenario", "lock", "mode", "runs", "two have the lock", "an update is lost"}
	lines := []string{"## " + grid.OftenTitle, "", rowOf(head), ruler(len(head))}
	for _, o := range all {
		lines = append(lines, rowOf([]string{escape(o.Cell.Scenario), escape(o.Cell.Lock), string(o.Cell.Mode),
			prose.Thousands(o.Cell.Seeds), o.TwoClaims, o.Lost}))
	}
	return lines
}

// choosing is the table for choosing a lock, without the specimens.
func choosing(m *matrices.Matrix) []string {
	head := []string{"lock", "scenarios"}
	for _, mode := range m.Modes {
		head = append(head, string(mode))
	}
	lines := []string{"## Choosing a lock", "", grid.HarmNote, "", rowOf(head), ruler(len(head))}
	none := len(lines)
	for _, h := range grid.Harms(m) {
		if grid.IsSpecimen(h.Lock) {
			continue
		}
		row := []string{escape(h.Lock), fmt.Sprint(h.Scenarios)}
		for _, c := range h.Modes {
			if c.Ran {
				row = append(row, fmt.Sprint(c.N))
				continue
			}
			row = append(row, "n/a")
		}
		lines = append(lines, rowOf(row))
	}
	if len(lines) == none {
		return nil
	}
	return lines
}

func legend(m *matrices.Matrix) []string {
	lines := []string{
		"## Legend", "",
		fmt.Sprintf("A group of signs has one for each mode, in the order %s. An empty place was not run: the scenario is "+
			"not about the lock.", prose.Commas(m.Modes)),
		"", "| sign | label | meaning |", "|---|---|---|",
	}
	for _, s := range grid.Legend() {
		lines = append(lines, fmt.Sprintf("| `%s` | %s | %s |", s.Glyph, s.Name, s.Meaning))
	}
	return append(lines, fmt.Sprintf("| `%s` | | after a group: one of its cells is not as expected, or is vacuous |",
		grid.Flag))
}

// overview is the table of groups, without the specimens.
func overview(m *matrices.Matrix, name func(matrices.Row) string) []string {
	var locks []string
	for _, l := range m.Locks {
		if !grid.IsSpecimen(l.Name) {
			locks = append(locks, l.Name)
		}
	}
	g := grid.New(m)
	lines := []string{rowOf(append([]string{"scenario"}, locks...)), ruler(1 + len(locks))}
	for _, sc := range m.Scenarios {
		row := []string{name(sc)}
		for _, l := range locks {
			row = append(row, signsOf(g, sc.Name, l))
		}
		if slices.ContainsFunc(row[1:], func(s string) bool { return s != "" }) {
			lines = append(lines, rowOf(row))
		}
	}
	return lines
}

func specimens(m *matrices.Matrix, name func(matrices.Row) string) []string {
	g := grid.New(m)
	var rows []string
	for _, l := range m.Locks {
		for _, sc := range m.Scenarios {
			if grid.IsSpecimen(l.Name) && g.Has(sc.Name, l.Name) {
				rows = append(rows, rowOf([]string{l.Name, name(sc), signsOf(g, sc.Name, l.Name)}))
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return append([]string{"## Specimens", "", "Locks that are wrong on purpose.", "",
		rowOf([]string{"specimen", "scenario", "modes"}), ruler(3)}, rows...)
}

// notRun are the pairs without cells, and why.
func notRun(m *matrices.Matrix) []string {
	if len(m.NotRun) == 0 {
		return nil
	}
	lines := []string{"## Not run", ""}
	for _, g := range m.NotRun {
		why, _, _ := strings.Cut(g.Why, "\n")
		lines = append(lines, "- "+escape(fmt.Sprintf("%s with lock %s: %s", g.Scenario, g.Lock, why))+".")
	}
	return lines
}

func problems(m *matrices.Matrix) []string {
	lines := []string{"## Not as expected", ""}
	for _, p := range grid.Complaints(m) {
		line := "- " + escape(p.String()) + "."
		if p.Replay != "" {
			line += " `" + p.Replay + "`"
		}
		lines = append(lines, line)
	}
	for _, f := range m.Failures {
		why, _, _ := strings.Cut(f.Why, "\n")
		lines = append(lines, escape(fmt.Sprintf("- %s, lock %s could not be run: %s.", f.Scenario, f.Lock, why))+" `"+
			f.Replay+"`")
	}
	if len(lines) == 2 {
		return nil
	}
	return lines
}

// scenarioSection is the section of one scenario, whose file is below a folder.
func scenarioSection(m *matrices.Matrix, g grid.Grid, sc matrices.Row, folder string) (lines []string) {
	about := []string{escape(sc.Title)}
	if len(sc.Catalogue) > 0 {
		about = append(about, strings.Join(sc.Catalogue, ", "))
	}
	about = append(about, fileLink(sc, path.Base(sc.File), folder))
	lines = append(lines, strings.Join(slices.DeleteFunc(about, func(s string) bool { return s == "" }), " · "), "")
	head := []string{"lock"}
	for _, mode := range m.Modes {
		head = append(head, string(mode))
	}
	lines = append(lines, rowOf(head), ruler(len(head)))
	return append(lines, sectionRows(m, g, sc)...)
}

// sectionRows are the rows of a section. Locks whose cells have the same text share a
// row.
func sectionRows(m *matrices.Matrix, g grid.Grid, sc matrices.Row) []string {
	var texts, locks []string
	for _, l := range m.Locks {
		group := g.Group(sc.Name, l.Name)
		if len(group) == 0 {
			continue
		}
		var row []string
		for _, c := range group {
			row = append(row, inWords(c, m.Seeds))
		}
		text := rowOf(row)
		if i := slices.Index(texts, text); i >= 0 {
			locks[i] += ", " + l.Name
			continue
		}
		texts, locks = append(texts, text), append(locks, l.Name)
	}
	for i := range texts {
		texts[i] = "| " + locks[i] + " " + texts[i]
	}
	return texts
}

// inWords is a cell as a section shows it: "corrupted 3/20, seed 7".
func inWords(c matrices.Cell, seeds outcome.Seeds) string {
	if c.CellRuns == nil {
		return string(c.Label)
	}
	text := fmt.Sprintf("%s %s", grid.Word(c), grid.KOfN(c))
	if c.Seed != seeds.First {
		text += fmt.Sprintf(", seed %d", c.Seed)
	}
	if c.Problem() != "" {
		text = "**" + text + "** " + grid.Flag
	}
	return text
}

// signsOf is the signs of a group, as code, so that they are of equal width.
func signsOf(g grid.Grid, scenario, lock string) string {
	if g.Failed(scenario, lock) {
		return "`FAILED`"
	}
	group, text := g.Group(scenario, lock), ""
	for _, c := range group {
		text += grid.SignOf(c).Glyph
	}
	if group.Flagged() {
		text += grid.Flag
	}
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// linked is the name of a scenario, with a link to its file.
func linked(sc matrices.Row) string { return fileLink(sc, sc.Name, "../scenarios") }

// fileLink is a link to the file of a scenario of the library. For another scenario it
// is the text alone: its path relative to the report is not known.
func fileLink(sc matrices.Row, text, folder string) string {
	if !sc.InLibrary {
		return text
	}
	return fmt.Sprintf("[%s](%s)", text, path.Join(folder, sc.File))
}

func rowOf(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

func ruler(n int) string { return strings.Repeat("|---", n) + "|" }

// escape escapes a text so that it does not become markup.
func escape(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`).Replace(prose.Visible(text))
}
