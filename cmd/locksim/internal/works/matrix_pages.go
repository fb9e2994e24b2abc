package works

import (
	"bytes"
	"fmt"
	"io"
	"path"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/lock/fence"
	"locksim/reports/html"
	"locksim/reports/markdown"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/matrices"
)

// pages adds the pages of a matrix: the table, a page for each scenario and each lock,
// and the reports of the runs of cells, which child processes write. A cell whose
// report could not be written links to the page of its scenario.
func (x *Matrix) pages(r *publish.Results, m *matrices.Matrix, add func(string, []byte) error) (problem, err error) {
	modes, err := file.Catalogue()
	if err != nil {
		return nil, err
	}
	written := map[string]bool{}
	site := html.MatrixSite{Matrix: m, Scenarios: x.Plan.Scenarios(), Locks: x.Plan.Columns(), FailureModes: modes,
		Replay: x.PublicName() + " " + x.Asked,
		HasReport: func(scenario, lock string, seed uint64) bool {
			return written[html.MatrixRunFile(scenario, lock, seed)]
		}}
	if !x.NoRuns {
		failed := 0
		err := r.WritePages(runPagesOf(site), func(name string, made publish.Page) error {
			written[name] = true
			return add(name, made.HTML)
		}, func(name string, err error) {
			failed++
			problem = &console.BrokenError{Cause: fmt.Errorf("%d reports of runs could not be made, and their cells link to "+
				"the pages of their scenarios; the last: %s: %w", failed, name, err)}
		})
		if err != nil {
			return nil, err
		}
	}
	render := func(name string, to func(w io.Writer) error) {
		var b bytes.Buffer
		if err == nil {
			err = to(&b)
		}
		if err == nil {
			err = add(name, b.Bytes())
		}
	}
	for _, sc := range m.Scenarios {
		render(html.MatrixScenarioFile(sc.Name), func(w io.Writer) error { return html.MatrixScenario(w, site, sc.Name) })
	}
	for _, sc := range m.Scenarios {
		render(path.Join(markdown.MatrixFolder, sc.Name+".md"), func(w io.Writer) error {
			return markdown.MatrixScenario(w, m, sc)
		})
	}
	for _, l := range m.Locks {
		render(html.MatrixLockFile(l.Name), func(w io.Writer) error { return html.MatrixLock(w, site, l.Name) })
	}
	render(html.MatrixIndexFile, func(w io.Writer) error { return html.Matrix(w, site) })
	return problem, err
}

// runPagesOf are the reports to which the cells of a matrix link, each once, in the
// order of the cells.
func runPagesOf(site html.MatrixSite) []publish.PageJob {
	var todo []publish.PageJob
	var jobs []runPageJob
	at := map[string]int{}
	sources := map[string]*file.Scenario{}
	for _, sc := range site.Scenarios {
		sources[sc.Name] = sc
	}
	for _, c := range site.Matrix.Cells {
		if c.CellRuns == nil {
			continue
		}
		name := html.MatrixRunFile(c.Scenario, c.Lock, c.Seed)
		i, known := at[name]
		if !known {
			i, at[name] = len(jobs), len(jobs)
			sc := sources[c.Scenario]
			todo = append(todo, publish.PageJob{Name: name})
			jobs = append(jobs, runPageJob{File: sc.File, Source: string(sc.Source), Lock: c.Lock, Seed: c.Seed,
				Modes:  site.Matrix.Modes,
				Hashes: map[fence.Mode]string{}, Links: html.MatrixRunLinks(c.Scenario, c.Lock)})
		}
		jobs[i].Hashes[c.Mode] = c.TraceHash
	}
	for i := range todo {
		todo[i].Job = runPageTask.Job(jobs[i])
	}
	return todo
}
