package markdowntest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// The versions of the packages from the npm registry that run in node. GitHub uses a
// mermaid of the same major version.
var packages = []string{"mermaid@11.17.2", "jsdom@26.1.0"}

// parsedDiagram is a diagram as mermaid parsed it.
type parsedDiagram struct {
	Error    string
	Type     string
	Title    string
	Actors   []string
	Messages []struct {
		Type           int
		From, To, Text string
	}
}

// missing skips a test that lacks a component, or fails it with
// LOCKSIM_REQUIRE_LIVE=1.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
		t.Fatalf("%s is missing, and LOCKSIM_REQUIRE_LIVE=1", what)
	}
	t.Skipf("%s is missing; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", what)
}

// installed makes a folder with the packages and the script, once for all tests.
// TestMain removes it.
var installed = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "locksim-mermaid-"); err != nil {
		return "", err
	}
	script, err := os.ReadFile("parse.mjs")
	if err != nil {
		return dir, err
	}
	if err := os.WriteFile(filepath.Join(dir, "parse.mjs"), script, 0o600); err != nil {
		return dir, err
	}
	args := append([]string{"install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--fetch-retries=1"}, packages...)
	if out, err := exec.Command("npm", args...).CombinedOutput(); err != nil {
		return dir, &npmError{err, string(out)}
	}
	return dir, nil
})

type npmError struct {
	cause  error
	output string
}

func (e *npmError) Error() string { return "npm install: " + e.cause.Error() + "\n" + e.output }

func TestMain(m *testing.M) {
	code := m.Run()
	if used {
		if dir, _ := installed(); dir != "" {
			_ = os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// used says that a test has called installed.
var used bool

// parsed parses diagrams with mermaid, all in one process.
func parsed(t *testing.T, diagrams ...string) []parsedDiagram {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			missing(t, program)
		}
	}
	used = true
	dir, err := installed()
	if err != nil {
		t.Log(err)
		missing(t, "mermaid from the npm registry")
	}
	in, err := json.Marshal(diagrams)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "parse.mjs")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, errs.String())
	}
	var all []parsedDiagram
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return all
}
