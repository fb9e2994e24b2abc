package markdowntest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"locksim/internal/testnpm"
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

// parsed parses diagrams with mermaid, all in one process.
func parsed(t *testing.T, diagrams ...string) []parsedDiagram {
	t.Helper()
	dir := t.TempDir()
	script, err := os.ReadFile("parse.mjs")
	if err != nil {
		t.Fatal(err)
	}
	// node looks for packages beside the script.
	err = errors.Join(os.Symlink(testnpm.Modules(t, packages...), filepath.Join(dir, "node_modules")),
		os.WriteFile(filepath.Join(dir, "parse.mjs"), script, 0o600))
	if err != nil {
		t.Fatal(err)
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
