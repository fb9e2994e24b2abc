package app

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/lock/fence"
	"locksim/reports/html"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/subject"
)

// tree is all files of a folder, by their paths with slashes.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var linkOf = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// linked checks that each link of each page leads to an existing file and anchor.
func linked(t *testing.T, files map[string]string) {
	t.Helper()
	for name, html := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, link := range linkOf.FindAllStringSubmatch(html, -1) {
			to, anchor, _ := strings.Cut(link[1], "#")
			target := path.Join(path.Dir(name), to)
			switch there, ok := files[target]; {
			case link[1] == "data:,":
			case to == "" && strings.Contains(html, `id="`+anchor+`"`):
			case !ok || anchor != "" && !strings.Contains(there, ` id="`+anchor+`"`):
				t.Errorf("%s links to %s, which does not exist", name, link[1])
			}
		}
	}
}

// --out writes all pages: one for each scenario and lock, and the reports to which cells
// link. Every link resolves, and no other file is written. That another command writes the same bytes,
// TestKilledAndResumed shows.
func TestMatrixPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many runs")
	}
	dir := t.TempDir()
	code, _, errs := matrixOf(t, "--lock", "mylock,fenced", "--fencing", "none,seal", "--out", dir)
	if code != console.ExitExpected || errs != "" {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	files := tree(t, dir)
	linked(t, files)
	for _, name := range []string{"index.html", "locks/mylock.html", "locks/fenced.html", "scenarios/calm.html",
		"scenarios/gc-pause.html",
		"runs/calm/fenced/seed-1.html", "runs/gc-pause/mylock/seed-1.html", "runs/gc-pause/fenced/seed-1.html"} {
		if files[name] == "" {
			t.Errorf("%s does not exist", name)
		}
	}
	if n := len(files); n != 5+4+4+2 {
		t.Errorf("%d files, want 5 pages, 4 reports, 4 forms of the matrix and 2 scenarios in Markdown", n)
	}
	if index := files["index.html"]; !strings.Contains(index, `href="runs/gc-pause/fenced/seed-1.html#mode-seal"`) ||
		!strings.Contains(index, "<code>mysim matrix --seeds 2 --scenario calm,gc-pause --lock mylock,fenced --fencing "+
			"none,seal</code>") {
		t.Error("the index does not link to the report, or does not have its command")
	}
	var m matrices.Matrix
	readJSON(t, files["matrix.json"], &m)
	for _, c := range m.Cells {
		if c.CellRuns != nil && !strings.Contains(files[html.MatrixRunFile(c.Scenario, c.Lock, c.Seed)], c.TraceHash) {
			t.Errorf("the report of %s with %s lacks the hash of mode %s", c.Scenario, c.Lock, c.Mode)
		}
	}
}

// --no-runs leaves out the reports: cells link to the page of their scenario. Other files
// in the folder do not change.
func TestMatrixPagesWithoutRuns(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "scenarios"), 0o755); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "scenarios", "mine.yaml")
	if err := os.WriteFile(mine, []byte("name: mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := matrixOf(t, "--lock", "fenced", "--fencing", "none", "--out", dir, "--no-runs")
	if code != console.ExitExpected || errs != "" {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	files := tree(t, dir)
	linked(t, files)
	if len(files) != 1+4+4+2 || files["scenarios/mine.yaml"] != "name: mine\n" ||
		!strings.Contains(files["index.html"], `href="scenarios/gc-pause.html#row-fenced"`) {
		t.Errorf("%d files, or the link is missing", len(files))
	}
}

// A report whose child exits is left out: its cells link to the page of the scenario,
// all other files are written, and the exit code is that of a failure.
func TestMatrixReportFails(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := lateMatrix(t, "late-kill", dir)
	if code != console.ExitBroken ||
		!strings.Contains(errs, "1 reports of runs could not be made, and their cells link to the pages of their "+
			"scenarios; the last: runs/calm/mylock/seed-1.html: ") || !strings.Contains(out, "2 runs in 1 cell, ") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	files := tree(t, dir)
	linked(t, files)
	if files["runs/calm/mylock/seed-1.html"] != "" ||
		!strings.Contains(files["index.html"], `href="scenarios/calm.html#row-mylock"`) {
		t.Error("a report that could not be made exists, or a cell links to it")
	}
}

// Ctrl-C while the reports are made keeps the results, and writes no page.
func TestMatrixReportsInterrupted(t *testing.T) {
	dir := t.TempDir()
	code, _, errs := lateMatrix(t, "late-interrupt", dir)
	if want := "mysim: interrupted, with 1 of 1 jobs done, which are in " + dir + ": continue with the same command and " +
		"--resume\n"; code != console.ExitBroken || errs != want {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	if files := tree(t, dir); len(files) != 1 || files["matrix.jsonl"] == "" {
		t.Errorf("the folder has %v, want the journal alone", slices.Sorted(maps.Keys(files)))
	}
}

// lateMatrix is a matrix of calm with mylock, whose sabotage takes effect when the report
// is made: after the three clients and the probe of seed 1, twice, and of seed 2.
func lateMatrix(t *testing.T, how, dir string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv(misbehaving, "yes")
	t.Setenv(sabotage, how+":14:"+filepath.Join(t.TempDir(), "clients"))
	t.Setenv(asChild, "1")
	return call(t, []subject.Lock{sabotagedLock()}, "matrix", "--scenario", "calm", "--seeds", "2", "--lock", "mylock",
		"--workers", "1", "--fencing", "none", "--out", dir, "--quiet")
}

// The command on the index makes the same matrix, and does not depend on the folder.
func TestMatrixAsked(t *testing.T) {
	all := runfiles.JoinModes(fence.Modes())
	for want, f := range map[string]matrixFlags{
		"matrix --seeds 20": {seeds: 20, from: 1, fencing: all,
			campaignFlags: campaignFlags{crewFlags: crewFlags{out: "somewhere", workers: 3}}},
		"matrix --seeds 5 --from-seed 7 --scenario 'late-*' --scenario gc-pause --lock 'broken/*' --fencing none --broken": {
			seeds: 5, from: 7, scenarios: []string{"late-*", "gc-pause"}, locks: []string{"broken/*"}, fencing: "none",
			broken: true},
	} {
		if diff := cmp.Diff(want, f.asked()); diff != "" {
			t.Error(diff)
		}
	}
}

func readJSON(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatal(err)
	}
}
