package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"locksim/lock/fence"
	"locksim/reports/html"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
)

// pages are those of a matrix, as they are written: into a folder beside their
// places first.
type pages struct {
	*shell
	site  html.MatrixSite
	dir   string // where they belong
	stage string // a folder in dir, which is gone in the end
	files []string
	made  map[string]bool // the reports that there are, by their files
}

// savePages writes the pages of a matrix into a folder. The index comes last:
// where it is new, the others are. Where the reports of some runs could not be
// made, that is the error, and all else has been written; after every other error
// nothing has.
func (s matrices) savePages(plan *matrix.Plan, m *matrix.Matrix, f matrixFlags) error {
	modes, err := file.Catalogue()
	if err != nil {
		return err
	}
	p := &pages{shell: s.shell, dir: filepath.Clean(f.out), made: map[string]bool{}, site: html.MatrixSite{
		Matrix: m, Scenarios: plan.Scenarios(), Locks: plan.Locks(), FailureModes: modes, Replay: s.matrixAgain(f)}}
	p.site.HasReport = func(scenario, lock string, seed uint64) bool {
		return p.made[html.MatrixRunFile(scenario, lock, seed)]
	}
	if p.stage, err = os.MkdirTemp(p.dir, ".matrix-*"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(p.stage) }() // what was moved is gone from here
	var missing error
	if !f.noRuns {
		if missing, err = p.runs(f.children()); err != nil {
			return err
		}
	}
	if err := p.render(); err != nil {
		return err
	}
	return errors.Join(p.move(), missing)
}

// render writes all pages but the reports.
func (p *pages) render() error {
	for _, sc := range p.site.Matrix.Scenarios {
		if err := p.add(html.MatrixScenarioFile(sc.Name), func(w io.Writer) error { return html.MatrixScenario(w, p.site, sc.Name) }); err != nil {
			return err
		}
	}
	for _, l := range p.site.Matrix.Locks {
		if err := p.add(html.MatrixLockFile(l.Name), func(w io.Writer) error { return html.MatrixLock(w, p.site, l.Name) }); err != nil {
			return err
		}
	}
	return p.add(html.MatrixIndexFile, func(w io.Writer) error { return html.Matrix(w, p.site) })
}

// add renders a page.
func (p *pages) add(name string, render func(io.Writer) error) error {
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return err
	}
	return p.write(name, b.Bytes())
}

// write writes a page beside its place.
func (p *pages) write(name string, data []byte) error {
	file := filepath.Join(p.stage, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	p.files = append(p.files, name)
	return os.WriteFile(file, data, 0o644)
}

// move moves all pages into their places. It replaces pages of the same names and
// leaves other files alone.
func (p *pages) move() error {
	for _, name := range p.files {
		to := filepath.Join(p.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(p.stage, filepath.FromSlash(name)), to); err != nil {
			return fmt.Errorf("move %s into its place: %w", name, err)
		}
	}
	return nil
}

// pageJobs are the reports that the cells of a matrix lead to, each once, in the
// order of the cells.
func (p *pages) pageJobs() (jobs []pageJob, names []string) {
	at := map[string]int{}
	sources := map[string]*file.Scenario{}
	for _, sc := range p.site.Scenarios {
		sources[sc.Name] = sc
	}
	for _, c := range p.site.Matrix.Cells {
		if c.CellRuns == nil {
			continue
		}
		name := html.MatrixRunFile(c.Scenario, c.Lock, c.Seed)
		i, known := at[name]
		if !known {
			i, at[name] = len(jobs), len(jobs)
			sc := sources[c.Scenario]
			names = append(names, name)
			jobs = append(jobs, pageJob{File: sc.File, Source: string(sc.Source), Lock: c.Lock, Seed: c.Seed, Modes: p.site.Matrix.Modes,
				Hashes: map[fence.Mode]string{}, Links: html.MatrixRunLinks(c.Scenario, c.Lock)})
		}
		jobs[i].Hashes[c.Mode] = c.TraceHash
	}
	return jobs, names
}

// matrixAgain is the command that makes the same matrix anywhere. It says nothing
// of the folder that the pages lie in.
func (s matrices) matrixAgain(f matrixFlags) string {
	words := []string{s.publicName(), "matrix", "--seeds", fmt.Sprint(f.seeds)}
	if f.from != 1 {
		words = append(words, "--from-seed", fmt.Sprint(f.from))
	}
	for _, list := range []struct {
		flag   string
		values []string
	}{{"--scenario", f.scenarios}, {"--lock", f.locks}} {
		for _, v := range list.values {
			words = append(words, list.flag, quote(v))
		}
	}
	if f.fencing != joinModes(fence.Modes()) {
		words = append(words, "--fencing", quote(f.fencing))
	}
	if f.broken {
		words = append(words, "--broken")
	}
	return strings.Join(words, " ")
}
