package html

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"slices"

	"locksim/lock/fence"
	"locksim/reports/grid"
	"locksim/reports/scene"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/matrices"
)

// MatrixScenario writes the page of a scenario: its title and reason, the result of
// each lock, and its text. Its errors are those of [Matrix], and one for a scenario
// that the matrix does not have.
func MatrixScenario(w io.Writer, s MatrixSite, scenario string) error {
	row, ok := s.row(scenario)
	if !ok {
		return fmt.Errorf("html: the matrix has no scenario %q", scenario)
	}
	return render(w, "page", scenarioTemplate, newScenarioPage(&s, row))
}

var scenarioTemplate = page("matrix_scenario.html")

// scenarioPage is the data of the template.
type scenarioPage struct {
	Name, Title, Headline, Why string
	Index                      string
	FailureModes               []file.FailureMode
	File                       string
	Modes                      []fence.Mode
	Rows                       []cellRow
	NotRun                     []problemLine
	Schedule                   string
	Before, After              *pageLink
	CSS                        template.CSS
}

func newScenarioPage(s *MatrixSite, row matrices.Row) *scenarioPage {
	p := &scenarioPage{Name: row.Name, Title: cmp.Or(row.Title, row.Name), Index: upFromPage + MatrixIndexFile,
		FailureModes: s.failureModes(row),
		File:         row.File, Modes: s.Matrix.Modes, CSS: matrixCSS()}
	sc := s.scenario(row.Name)
	if sc != nil {
		p.Schedule, p.Why = scene.Schedule(sc), sc.Why
	}
	var groups []grid.Group
	all := grid.New(s.Matrix)
	for _, l := range s.Matrix.Locks {
		if g := all.Group(row.Name, l.Name); len(g) > 0 {
			groups = append(groups, g)
			p.Rows = append(p.Rows, s.scenarioRow(g, sc))
		}
	}
	p.Headline = grid.ScenarioBalance(groups)
	p.NotRun = gapLines(s.Matrix, func(g matrices.Gap) bool { return g.Scenario == row.Name },
		func(g matrices.Gap) string { return "lock " + g.Lock })
	p.Before, p.After = s.neighbours(row.Name)
	return p
}

func (s *MatrixSite) scenarioRow(g grid.Group, sc *file.Scenario) cellRow {
	name := g[0].Lock
	r := s.cellRow(g, sc, s.lock(name))
	r.pageLink, r.ID = pageLink{name, upFromPage + MatrixLockFile(name)}, rowID(name)
	return r
}

// neighbours are the pages of the scenarios before and after one.
func (s *MatrixSite) neighbours(name string) (before, after *pageLink) {
	all := s.Matrix.Scenarios
	i := slices.IndexFunc(all, func(r matrices.Row) bool { return r.Name == name })
	link := func(i int) *pageLink {
		if i < 0 || i >= len(all) {
			return nil
		}
		return &pageLink{all[i].Name, upFromPage + MatrixScenarioFile(all[i].Name)}
	}
	return link(i - 1), link(i + 1)
}

// failureModes are the failure modes of the catalogue that a scenario shows.
func (s *MatrixSite) failureModes(row matrices.Row) []file.FailureMode {
	var out []file.FailureMode
	for _, id := range row.Catalogue {
		mode := file.FailureMode{ID: id}
		if i := slices.IndexFunc(s.FailureModes, func(f file.FailureMode) bool { return f.ID == id }); i >= 0 {
			mode = s.FailureModes[i]
		}
		out = append(out, mode)
	}
	return out
}
