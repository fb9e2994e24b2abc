package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "put what the examples are and print into the README")

const (
	readmeFile = "../../README.md"
	quickstart = "../../examples/quickstart"
)

// The glue that the README shows is a file that compiles, and whose test passes
// with the other tests.
func TestReadmeShowsTheGlue(t *testing.T) {
	glue, err := os.ReadFile(filepath.Join(quickstart, "mutex_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	readmeHas(t, "glue", "go", string(glue))
}

// "Under 20 lines" is what the README promises of the way to a first verdict.
func TestTheGlueIsShort(t *testing.T) {
	glue, err := os.ReadFile(filepath.Join(quickstart, "mutex_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(glue), "\n)\n")
	lines := 0
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	if lines >= 20 {
		t.Errorf("the glue of the quick start has %d lines, want fewer than 20", lines)
	}
}

// The failure that the README shows is what the naive lock of the quick start
// ends in. It is run from a copy, beside which there is no failure of an earlier
// run, as in a module of one's own: by require and replace.
func TestReadmeShowsTheNaiveLock(t *testing.T) {
	dir := t.TempDir()
	copySources(t, quickstart, dir)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := inModule(dir, "go", "mod", "edit", "-replace=locksim="+root).CombinedOutput(); err != nil {
		t.Fatalf("go mod edit: %v\n%s", err, out)
	}
	cmd := inModule(dir, "go", "test", "-run", "TestNaive", ".")
	cmd.Env = append(cmd.Env, "NAIVE=1")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("the naive lock ends with %v, want exit code 1:\n%s", err, out)
	}
	if !strings.Contains(string(out), "overlap in mode none") {
		t.Errorf("the naive lock was not caught for two clients that held it at once:\n%s", out)
	}
	readmeHas(t, "naive", "console", "$ NAIVE=1 go test -run TestNaive .\n"+timeless(string(out)))
}

// What the README says that a sweep covers is what it covers: the exhaustive
// statement, and the headings of what was found.
func TestReadmeShowsTheSweep(t *testing.T) {
	cmd := inModule(".", "go", "run", ".", "sweep", "gc-pause", "--lock", "fenced")
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("the sweep ends with %v, want exit code 1:\n%s", err, out)
	}
	var b strings.Builder
	b.WriteString("$ go run ./cmd/locksim sweep gc-pause --lock fenced | grep -E 'placements of|VIOLATION'\n")
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "placements of") || strings.Contains(line, "VIOLATION") {
			b.WriteString(line)
		}
	}
	readmeHas(t, "sweep", "console", b.String())
}

// The timeline that the README shows is the beginning of what is printed.
func TestReadmeShowsTheTimeline(t *testing.T) {
	out, err := inModule(".", "go", "run", ".", "run", "gc-pause", "--timeline", "--fencing", "none").Output()
	if err != nil {
		t.Fatal(err)
	}
	const upToTheDecisiveStep = 29 // lines
	lines := slices.Collect(strings.Lines(string(out)))
	readmeHas(t, "timeline", "console", "$ locksim run gc-pause --timeline --fencing none | head -n 29\n"+strings.Join(lines[:upToTheDecisiveStep], ""))
}

// copySources copies a module without what its tests have stored.
func copySources(t *testing.T, from, to string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "go.*"} {
		files, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no %s: %v", from, pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(filepath.Join(to, filepath.Base(file)), data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func inModule(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "GOFLAGS=", "GOWORK=off")
	return cmd
}

var wallTime = regexp.MustCompile(`\d+\.\d\d+s\b`)

// timeless leaves out of the output of go test how long it took, in the lines
// that begin without an indent, and white space at the ends of lines.
func timeless(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, " ") {
			line = wallTime.ReplaceAllString(line, "…s")
		}
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// readmeHas compares a block of the README, or writes it anew with -update.
func readmeHas(t *testing.T, name, language, want string) {
	t.Helper()
	readme, err := os.ReadFile(readmeFile)
	if err != nil {
		t.Fatal(err)
	}
	open := fmt.Sprintf("<!-- %s:begin -->\n```%s\n", name, language)
	end := fmt.Sprintf("```\n<!-- %s:end -->", name)
	before, rest, found := strings.Cut(string(readme), open)
	got, after, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatalf("the README has no block %q", name)
	}
	if *update {
		if err := os.WriteFile(readmeFile, []byte(before+open+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("go test ./cmd/locksim -run Readme -update writes it anew (-is +README):\n%s", d)
	}
}
