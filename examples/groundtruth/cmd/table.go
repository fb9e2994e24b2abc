package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"locksim/examples/articles"
	"locksim/examples/groundtruth"
	"locksim/internal/findings"
	"locksim/internal/journal"
	"locksim/lock"
)

// seconds is the CPU time of one Check at most.
const seconds = 20

// kept is what is kept of a text: a failure with its schedule, and not where it was stored, or the first line of a
// verdict.
func kept(text string) string {
	if !strings.HasPrefix(text, "seed ") {
		text, _, _ = strings.Cut(text, "\n")
	}
	text, _, _ = strings.Cut(text, "\nstored in ")
	const longest = 5000 // bytes
	return strings.TrimSpace(text[:min(len(text), longest)])
}

// result is one Check, a line of the journal.
type result struct {
	Bug     string `json:"bug"`
	Version string `json:"version"`
	Seed    uint64 `json:"seed"`
	Helped  bool   `json:"helped,omitempty"`
	// Program identifies the program that was played, Commit the state of locksim.
	Program string `json:"program"`
	Commit  string `json:"commit"`

	Found     bool    `json:"found"`
	Runs      int     `json:"runs"`
	CPU       float64 `json:"cpu_seconds"`
	OutOfTime bool    `json:"out_of_time,omitempty"`
	// NoVerdict says that a run had none, which tells nothing of the lock: Text says why.
	NoVerdict bool `json:"no_verdict,omitempty"`
	// Build is how many seconds of CPU time the program took to build, in the first result that needed it.
	Build float64 `json:"build_seconds,omitempty"`
	Text  string  `json:"text"`
}

// lasts reports whether a result may be kept although the program is another one now: it is that of a commit, and of as
// many schedules as there are.
func (r result) lasts() bool {
	const all = 2000 // the default of Check
	return r.Program != "" && !strings.HasSuffix(r.Commit, dirty) && (r.Found || r.NoVerdict || r.OutOfTime ||
		r.Runs >= all)
}

// measurement has the results of the journal and those that it makes.
type measurement struct {
	*builder
	journal *journal.Journal[result]
	earlier bool

	mu   sync.Mutex // of made
	made []result
}

// check is one Check to be played.
type check struct {
	bug     groundtruth.Bug
	version string
	seed    uint64
	helped  bool
}

// checksOf are those of a bug: of the version with it, of the fixed one and, where it needs help, of both with it.
func checksOf(bug groundtruth.Bug) (all []check) {
	for i, version := range []string{bug.Has, bug.HasNot} {
		for _, helped := range []bool{false, true} {
			if i > 0 && version == "" || helped && bug.Helped == nil {
				continue
			}
			for _, seed := range groundtruth.FirstSeeds {
				all = append(all, check{bug, version, seed, helped})
			}
		}
	}
	return all
}

// measure plays bugs, as many Checks at a time as there are processors. What fails in one does not stop the others.
func (m *measurement) measure(bugs []groundtruth.Bug) error {
	var all []check
	for _, bug := range bugs {
		all = append(all, checksOf(bug)...)
	}
	todo, failed := make(chan check), make([]error, 0)
	var workers sync.WaitGroup
	var mu sync.Mutex
	for range runtime.NumCPU() {
		workers.Go(func() {
			for c := range todo {
				r, err := m.result(c)
				if err == nil && r.NoVerdict && c.bug.Missed == "" && c.bug.Frozen == "" {
					err = fmt.Errorf("%s %s from seed %d, a defect of locksim or of the adapter: %s", c.bug.ID, c.version, c.seed,
						r.Text)
				}
				mu.Lock()
				if err != nil {
					failed = append(failed, err)
				}
				first, _, _ := strings.Cut(r.Text, "\n")
				fmt.Printf("%s %s seed %d helped %v: found %v, %d runs, %.1f s: %.120s\n", c.bug.ID, c.version, c.seed, c.helped,
					r.Found, r.Runs, r.CPU, first)
				mu.Unlock()
			}
		})
	}
	for _, c := range all {
		todo <- c
	}
	close(todo)
	workers.Wait()
	return errors.Join(failed...)
}

// result is the one of the journal, or a new one.
func (m *measurement) result(c check) (result, error) {
	old, known := m.stored(c.bug.ID, c.version, c.seed, c.helped)
	if m.earlier && known && old.lasts() {
		return old, nil
	}
	program, err := m.build(c.bug, c.version)
	if err != nil {
		return result{}, err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return result{}, err
	}
	sum := sha256.Sum256(text)
	r := result{Bug: c.bug.ID, Version: c.version, Seed: c.seed, Helped: c.helped, Program: hex.EncodeToString(sum[:8])}
	if known && old.Program == r.Program {
		return old, nil
	}
	r.Build = m.tookToBuild(program).Round(100 * time.Millisecond).Seconds()
	if r.Commit, err = commit(); err != nil {
		return result{}, err
	}
	p, err := play(program, groundtruth.Play{Bug: c.bug.ID, Version: c.version, Seed: c.seed, Helped: c.helped,
		Seconds: seconds}, m.dir)
	if err != nil {
		return result{}, err
	}
	r.Found, r.NoVerdict, r.Runs, r.OutOfTime = p.Found, p.NoVerdict, p.Runs, p.OutOfTime
	r.CPU, r.Text = p.cpu.Round(10*time.Millisecond).Seconds(), kept(p.Text)
	m.mu.Lock()
	m.made = append(m.made, r)
	m.mu.Unlock()
	return r, m.journal.Add(r)
}

// stored is the latest result of one Check.
func (m *measurement) stored(bug, version string, seed uint64, helped bool) (result, bool) {
	for _, r := range slices.Backward(m.results()) {
		if r.Bug == bug && r.Version == version && r.Seed == seed && r.Helped == helped {
			return r, true
		}
	}
	return result{}, false
}

// results are those of the journal, and those that were made.
func (m *measurement) results() []result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Concat(m.journal.Made(), m.made)
}

// dirty is the mark of a commit since which locksim has changed.
const dirty = "-dirty"

// commit is the state of locksim. What this command writes itself is no change of it.
func commit() (string, error) {
	id, _, err := command("git", "rev-parse", "--short", "HEAD")
	if err != nil {
		return "", err
	}
	changed, _, err := command("git", "status", "--porcelain", "--untracked-files=no", "../..",
		":!../../reports/GROUNDTRUTH.md", ":!../../reports/groundtruth", ":!results.jsonl", ":!versions.sum")
	if err != nil {
		return "", err
	}
	id = strings.TrimSpace(id)
	if changed != "" {
		id += dirty
	}
	return id, nil
}

// checks are the results of a version, one for each first seed; fewer if some are missing.
func (m *measurement) checks(bug, version string, helped bool) []result {
	var out []result
	for _, seed := range groundtruth.FirstSeeds {
		if r, ok := m.stored(bug, version, seed, helped); ok {
			out = append(out, r)
		}
	}
	return out
}

// outcome says in a cell how checks ended: the median of the runs, and of the CPU seconds. want is the word for a find.
func outcome(checks []result, want string) string {
	if len(checks) == 0 {
		return "not measured"
	}
	found, unjudged := 0, 0
	var runs []int
	var cpu []float64
	for _, r := range checks {
		switch {
		case r.Found:
			found++
		case r.NoVerdict:
			unjudged++
		}
		runs, cpu = append(runs, r.Runs), append(cpu, r.CPU)
	}
	slices.Sort(runs)
	slices.Sort(cpu)
	half := len(runs) / 2
	text := "passes"
	switch {
	case found == len(checks):
		text = want
	case unjudged == len(checks):
		text = "ends"
	case found > 0:
		text = fmt.Sprintf("%s from %d of %d seeds", want, found, len(checks))
	}
	if found > 0 && runs[half] == 0 {
		text += " without a fault"
	} else {
		text += fmt.Sprintf(" in %d runs", runs[half])
	}
	text += fmt.Sprintf(", %.1f s", cpu[half])
	if unjudged > 0 {
		text += fmt.Sprintf("; **no verdict** from %d of %d seeds", unjudged, len(checks))
	}
	if len(checks) < len(groundtruth.FirstSeeds) {
		text += fmt.Sprintf(", of %d first seed", len(checks))
	}
	return text
}

// shown is the check whose text the page has: the first that found something, or else the first. ok is false for none.
func shown(checks []result) (r result, ok bool) {
	if len(checks) == 0 {
		return result{}, false
	}
	i := slices.IndexFunc(checks, func(r result) bool { return r.Found })
	return checks[max(i, 0)], true
}

// tally is how many rows of a kind there are, and how many of them are found.
type tally struct{ all, found int }

func (t *tally) count(found bool) {
	t.all++
	if found {
		t.found++
	}
}

// found reports whether a Check found a bug as itself, at the defaults or with help, and whether one was played.
func (m *measurement) found(b groundtruth.Bug) (byDefault, helped, played bool) {
	plain := m.checks(b.ID, b.Has, false)
	is := func(r result) bool { return r.Found }
	byDefault = b.Missed == "" && b.Otherwise == "" && slices.ContainsFunc(plain, is)
	return byDefault, slices.ContainsFunc(m.checks(b.ID, b.Has, true), is), len(plain) > 0
}

// page is the index, with the recipes.
func (m *measurement) page(bugs []groundtruth.Bug) ([]byte, error) {
	var w bytes.Buffer
	var published, mended, standing, others, inHouse, helped, unplayed tally
	ours := 0
	for _, b := range bugs {
		f := b.Finding()
		byDefault, withHelp, played := m.found(b)
		switch {
		case f.Class == findings.Own:
			ours++
			continue
		case !played:
			unplayed.count(false)
			continue
		}
		if f.Class == findings.InHouse {
			inHouse.count(byDefault || withHelp)
			continue
		}
		if f.Class != findings.Bug {
			others.count(byDefault || withHelp)
			continue
		}
		published.count(byDefault || withHelp)
		helped.count(!byDefault && withHelp)
		if f.State == findings.Mended {
			mended.count(byDefault || withHelp)
		} else {
			standing.count(byDefault || withHelp)
		}
	}
	fmt.Fprintf(&w, `<!-- Written by make groundtruth. Do not edit. -->

# Ground truth

Bugs that others found and published, in their unmodified libraries, and whether `+"`scenarios.Check`"+
		` finds them again. Each
program is built with exactly the version that the row names, and looks at its build information before it begins. The lock is judged by
what the documentation of the library says, from three first seeds, with all other options at their defaults: at most 2,000
schedules and %d seconds of CPU time each. The version without the bug plays the same seeds within the same limits. Where it fails, it fails
by another bug, which was read in its code: the page of the row names it. Runs and seconds are medians, the latter of one processor.

A bug counts as found only as itself. A run that fails by another bug, by another way to the same, or by what the adapter counts for a
library that does not tell it, is no find. Feature requests, and what the maintainers declined, are counted apart.

| what | rows | found as themselves |
|---|---|---|
| published bugs | %d | %d |
| – of them mended by a later version | %d | %d |
| – of them open, or closed without a change | %d | %d |
| feature requests, and declined | %d | %d |
| locks that applications have written for themselves, anew in the form with the bug and in the mended one | %d | %d |

Of the %d, %d are found with a change that the row names, the others at the defaults. %d more rows were not played yet, and are not counted. %d more rows are
bugs that locksim found itself, and are not counted here. How threads stand is as of November 2026.

Play one of them, with its story; the build takes longer than the play:

`+"```console\n$ cd examples/groundtruth\n$ go run ./cmd redsync-151\n```"+`

| bug | how it stands | version with it | version without | at commit |
|---|---|---|---|---|
`, seconds, published.all, published.found, mended.all, mended.found, standing.all, standing.found, others.all,
		others.found,
		inHouse.all, inHouse.found, published.found, helped.found, unplayed.all, ours)
	for _, b := range bugs {
		m.line(&w, b)
	}
	fmt.Fprint(&w, "\n## Not played yet\n\n")
	for _, u := range groundtruth.Unplayed {
		fmt.Fprintf(&w, "- [%s](%s). %s\n", u.What, u.Source, u.Why)
	}
	if err := m.glue(&w, bugs); err != nil {
		return nil, err
	}
	m.recipes(&w)
	return w.Bytes(), nil
}

// line is the line of a bug in the index.
func (m *measurement) line(w *bytes.Buffer, b groundtruth.Bug) {
	plain := m.checks(b.ID, b.Has, false)
	fixed := "–"
	if b.HasNot != "" {
		fixed = b.HasNot + ": " + outcome(m.checks(b.ID, b.HasNot, false), "**fails**")
	}
	at := ""
	if len(plain) > 0 {
		at = plain[len(plain)-1].Commit
	}
	is := outcome(plain, "found")
	if b.Missed != "" || b.Otherwise != "" {
		is = "**missed**; " + strings.Replace(is, "found", "fails otherwise", 1)
		if len(plain) == 0 {
			is = "not measured; expected to be missed"
		}
	}
	if b.Helped != nil {
		is += "; helped: " + outcome(m.checks(b.ID, b.Has, true), "found")
		if b.HasNot != "" {
			fixed += "; helped: " + outcome(m.checks(b.ID, b.HasNot, true), "**fails**")
		}
	}
	fmt.Fprintf(w, "| [%s](%s/%s.md) | %s | %s: %s | %s | %s |\n", b.ID, pages, b.ID, b.Finding().Status(), b.Has, is,
		fixed, at)
}

// pages is the folder of the pages of single rows, beside the index.
const pages = "groundtruth"

// row is the page of a bug.
func (m *measurement) row(b groundtruth.Bug) []byte {
	var w bytes.Buffer
	f := b.Finding()
	fmt.Fprintf(&w, "<!-- Written by make groundtruth. Do not edit. -->\n\n# %s\n\n%s ([source](%s); %s", b.ID,
		b.Mechanism, b.Source, moduleOf(b))
	if b.Kind != "" {
		fmt.Fprintf(&w, "; kind %s", b.Kind)
	}
	fmt.Fprintf(&w, ")\n\n- How it stands: %s: %s.\n", f.Class, f.Status())
	fmt.Fprintf(&w, "- Promise: \"%s\" (%s). Judged under: %s.\n", b.Quote, b.Where, promised(b.Promise))
	if b.Expected != "" {
		fmt.Fprintf(&w, "- Expected before the first run: %s.\n", b.Expected)
	}
	fmt.Fprintf(&w, "- %s: %s.\n", b.Has, outcome(m.checks(b.ID, b.Has, false), "fails"))
	if b.HasNot != "" {
		fmt.Fprintf(&w, "- %s, without it: %s.\n", b.HasNot, outcome(m.checks(b.ID, b.HasNot, false), "**fails**"))
	}
	if r, ok := shown(m.checks(b.ID, b.Has, false)); ok && r.Found && b.Missed == "" {
		word := "Found as"
		if b.Otherwise != "" {
			word = "Fails as"
		}
		fmt.Fprintf(&w, "- %s: %s\n", word, story(r.Text))
	}
	if b.Otherwise != "" {
		fmt.Fprintf(&w, "- Not found as itself: %s\n", b.Otherwise)
	}
	if b.Missed != "" {
		fmt.Fprintf(&w, "- Missed: %s\n", b.Missed)
	}
	if b.Helped != nil {
		fmt.Fprintf(&w, "- Found with: %s\n", b.Helped.What)
		if r, ok := shown(m.checks(b.ID, b.Has, true)); ok && r.Found {
			fmt.Fprintf(&w, "- Found as: %s\n", story(r.Text))
		}
	}
	if b.Frozen != "" {
		fmt.Fprintf(&w, "- Some runs have no verdict: %s\n", b.Frozen)
	}
	if b.Also != "" {
		fmt.Fprintf(&w, "- %s\n", b.Also)
	}
	help := ""
	if b.Helped != nil {
		help = "-helped "
	}
	fmt.Fprintf(&w, "- Play it, in `examples/groundtruth`: `go run ./cmd %s%s`\n\n[All rows](../GROUNDTRUTH.md)\n", help,
		b.ID)
	return w.Bytes()
}

// write writes the index to a file, and the pages of the rows beside it. A page of a row that is no more is removed.
func (m *measurement) write(index string, bugs []groundtruth.Bug) error {
	text, err := m.page(bugs)
	if err != nil {
		return err
	}
	folder := filepath.Join(filepath.Dir(index), pages)
	if err := errors.Join(os.WriteFile(index, text, 0o644), os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return err
	}
	put := func(id string, text []byte) error { return os.WriteFile(filepath.Join(folder, id+".md"), text, 0o644) }
	var failed []error
	for _, b := range bugs {
		failed = append(failed, put(b.ID, m.row(b)))
	}
	for _, r := range articles.Recipes() {
		failed = append(failed, put(r.ID, m.recipe(r)))
	}
	return errors.Join(failed...)
}

// story is the sentences of a failure that come before its story, in one line.
func story(text string) string {
	head, _, _ := strings.Cut(text, "\n\n")
	head, _, _ = strings.Cut(head, " Remedy: ")
	lines := strings.Split(head, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	_, lines[0], _ = strings.Cut(lines[0], ": ")
	lines[0] += "."
	return strings.Join(lines, " ")
}

// promised is what a promise says, in words.
func promised(p lock.Promise) string {
	var parts []string
	for _, f := range p.Exclusion {
		parts = append(parts, string(f))
	}
	text := strings.Join(parts, ", ")
	if p.Data != "" {
		text += "; data behind the fence " + p.Data
	}
	if len(p.Duties) > 0 {
		var duties []string
		for _, d := range p.Duties {
			duties = append(duties, string(d))
		}
		text += "; duties " + strings.Join(duties, ", ")
	}
	return text
}

// glue is the table of the adapters.
func (m *measurement) glue(w *bytes.Buffer, bugs []groundtruth.Bug) error {
	type adapter struct {
		name        string
		bugs, lines int
		build       float64
	}
	var all []adapter
	for _, b := range bugs {
		i := slices.IndexFunc(all, func(a adapter) bool { return a.name == b.Adapter })
		if i < 0 {
			lines, err := codeLines(b.Adapter)
			if err != nil {
				return err
			}
			all, i = append(all, adapter{name: b.Adapter, lines: lines}), len(all)
		}
		all[i].bugs++
		for _, r := range m.results() {
			if r.Bug == b.ID {
				all[i].build = max(all[i].build, r.Build)
			}
		}
	}
	var lines []int
	for _, a := range all {
		lines = append(lines, a.lines)
	}
	slices.Sort(lines)
	fmt.Fprintf(w, `
## The adapters

Lines of code in the folder of each, without comments and imports: the median is %d. What they share is in kit.go and the folders pools
and tables. The build is the CPU time that the longest one took, with what had been built before.

| adapter | bugs | lines | build | obstacles |
|---|---|---|---|---|
`, lines[len(lines)/2])
	for _, a := range all {
		fmt.Fprintf(w, "| %s | %d | %d | %s | %s |\n", a.name, a.bugs, a.lines, built(a.build), groundtruth.Obstacles[a.name])
	}
	return nil
}

// codeLines counts the lines of the Go files in a folder that have code, without those of imports.
func codeLines(folder string) (n int, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines, err := linesOf(text)
		n += lines
		return err
	})
	return n, err
}

// linesOf counts those of a file.
func linesOf(text []byte) (n int, err error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	code := map[int]bool{} // the lines of declarations
	for _, d := range parsed.Decls {
		if of, ok := d.(*ast.GenDecl); ok && of.Tok == token.IMPORT {
			continue
		}
		for line := files.Position(d.Pos()).Line; line <= files.Position(d.End()).Line; line++ {
			code[line] = true
		}
	}
	var tokens scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	tokens.Init(file, text, nil, 0)
	for {
		pos, kind, literal := tokens.Scan()
		if kind == token.EOF {
			return n, nil
		}
		if line := file.Line(pos); code[line] && literal != "\n" {
			n++
			delete(code, line)
		}
	}
}

// built is the time of a build in a cell.
func built(seconds float64) string {
	if seconds == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%.0f s", seconds)
}

// moduleOf names the module of a bug in the text of its page.
func moduleOf(b groundtruth.Bug) string {
	if b.Module == "" {
		return "written anew"
	}
	return "`" + b.Module + "`"
}
