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
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"locksim/examples/articles"
	"locksim/examples/groundtruth"
	"locksim/internal/book"
	"locksim/internal/findings"
	"locksim/lock"
)

// seconds is the CPU time of one Check at most.
const seconds = 60

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

// key is what a result is of. Of the results with the same one the latest counts.
type key struct {
	bug, version string
	seed         uint64
	helped       bool
}

func (r result) key() key { return key{r.Bug, r.Version, r.Seed, r.Helped} }

func (r result) commit() string { return r.Commit }

// lasts reports whether a result may be kept although the program is another one now: it is that of a commit, and of as
// many schedules as there are.
func (r result) lasts() bool {
	const all = 2000 // the default of Check
	return r.Program != "" && !book.Dirty(r.Commit) && (r.Found || r.NoVerdict || r.OutOfTime ||
		r.Runs >= all)
}

// measurement has the stored results and those that it makes.
type measurement struct {
	*builder
	results *book.Book[key, result]
}

// reports is the folder of the pages, from here.
const reports = "../../reports"

// makeTable plays what is missing of some bugs, and writes the pages of all.
func makeTable(b *builder, bugs []groundtruth.Bug, choices *book.Choices) (err error) {
	m := &measurement{builder: b}
	if m.results, err = book.Chosen(choices, result.key, result.commit); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.results.Close()) }()
	if !choices.Stored {
		err = m.measure(bugs)
	}
	pages, failed := m.pages(groundtruth.Bugs())
	if failed == nil {
		failed = book.Publish(reports, folder, pages)
	}
	book.TellAge(os.Stderr, m.commits())
	return errors.Join(err, failed)
}

// commits are those of the results that the pages have.
func (m *measurement) commits() (all []string) {
	for _, bug := range groundtruth.All() {
		for _, c := range checksOf(bug) {
			if r, ok := m.results.Latest(c.key()); ok {
				all = append(all, r.Commit)
			}
		}
	}
	return all
}

// check is one Check to be played.
type check struct {
	bug     groundtruth.Bug
	version string
	seed    uint64
	helped  bool
}

func (c check) key() key { return key{c.bug.ID, c.version, c.seed, c.helped} }

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
	var jobs []func() error
	for _, bug := range bugs {
		for _, c := range checksOf(bug) {
			jobs = append(jobs, func() error {
				r, err := m.result(c)
				if err == nil && r.NoVerdict && c.bug.Missed == "" && c.bug.Frozen == "" {
					err = fmt.Errorf("%s %s from seed %d, a defect of locksim or of the adapter: %s", c.bug.ID, c.version, c.seed,
						r.Text)
				}
				first, _, _ := strings.Cut(r.Text, "\n")
				fmt.Fprintf(os.Stderr, "%s %s seed %d helped %v: found %v, %d runs, %.1f s: %.120s\n", c.bug.ID, c.version, c.seed,
					c.helped, r.Found, r.Runs, r.CPU, first)
				return err
			})
		}
	}
	err := book.Do(runtime.NumCPU(), jobs)
	fmt.Fprintf(os.Stderr, "the builds took %.0f s of CPU time\n", m.Took().Seconds())
	return err
}

// result is the stored one, or a new one. One that the same program has made, byte for byte, is not made anew, and gets
// the commit of that program.
func (m *measurement) result(c check) (result, error) {
	stays, ok, err := m.results.Kept(c.key())
	if err != nil || ok && stays.lasts() {
		return stays, err
	}
	old, known := m.results.Latest(c.key())
	program, err := m.build(c.bug, c.version)
	if err != nil {
		return result{}, err
	}
	text, err := os.ReadFile(program.File)
	if err != nil {
		return result{}, err
	}
	sum := sha256.Sum256(text)
	r := result{Bug: c.bug.ID, Version: c.version, Seed: c.seed, Helped: c.helped, Program: hex.EncodeToString(sum[:8]),
		Commit: program.Commit}
	if known && old.Program == r.Program {
		if old.Commit == r.Commit || book.Dirty(r.Commit) {
			return old, nil
		}
		old.Commit = r.Commit
		return old, m.results.Add(old)
	}
	r.Build = program.Took().Round(100 * time.Millisecond).Seconds()
	p, err := play(program.File, groundtruth.Play{Bug: c.bug.ID, Version: c.version, Seed: c.seed, Helped: c.helped,
		Seconds: seconds}, m.Dir)
	if err != nil {
		return result{}, err
	}
	r.Found, r.NoVerdict, r.Runs, r.OutOfTime = p.Found, p.NoVerdict, p.Runs, p.OutOfTime
	r.CPU, r.Text = p.cpu.Round(10*time.Millisecond).Seconds(), kept(p.Text)
	return r, m.results.Add(r)
}

// checks are the results of a version, one for each first seed; fewer if some are missing.
func (m *measurement) checks(bug, version string, helped bool) []result {
	var out []result
	for _, seed := range groundtruth.FirstSeeds {
		if r, ok := m.results.Latest(key{bug, version, seed, helped}); ok {
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

Of the %d, %d are found with a change that the row names, the others at the defaults.%s %d more rows are
bugs that locksim found itself, and are not counted here. How threads stand is as of November 2026.

Play one of them, with its story; the build takes longer than the play:

`+"```console\n$ cd examples/groundtruth\n$ go run ./cmd redsync-151\n```"+`

| bug | how it stands | version with it | version without | at commit |
|---|---|---|---|---|
`, seconds, published.all, published.found, mended.all, mended.found, standing.all, standing.found, others.all,
		others.found,
		inHouse.all, inHouse.found, published.found, helped.found, notPlayed(unplayed.all), ours)
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
// notPlayed says how many rows were not played yet, where there are some.
func notPlayed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %d more rows were not played yet, and are not counted.", n)
}

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
	fmt.Fprintf(w, "| [%s](%s/%s.md) | %s | %s: %s | %s | %s |\n", b.ID, folder, b.ID, b.Finding().Status(), b.Has, is,
		fixed, at)
}

// folder is that of the pages of single rows, beside the index.
const folder = "groundtruth"

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

// pages are the index, and a page for each row, by their names from the folder of the pages.
func (m *measurement) pages(bugs []groundtruth.Bug) (map[string][]byte, error) {
	index, err := m.page(bugs)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{"GROUNDTRUTH.md": index}
	for _, b := range bugs {
		all[path.Join(folder, b.ID+".md")] = m.row(b)
	}
	for _, r := range articles.Recipes() {
		all[path.Join(folder, r.ID+".md")] = m.recipe(r)
	}
	return all, nil
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
		for _, r := range m.results.All() {
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
