package markdowntest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// mermaid is the process that parses diagrams, once the first test needs it: node takes seconds to load the packages.
var mermaid struct {
	dir    string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors bytes.Buffer
}

func TestMain(m *testing.M) {
	code := m.Run()
	if mermaid.cmd != nil {
		_ = mermaid.in.Close() // it ends with its input
		if err := errors.Join(mermaid.cmd.Wait(), os.RemoveAll(mermaid.dir)); err != nil && code == 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// startMermaid starts the process.
func startMermaid(t *testing.T) {
	t.Helper()
	modules := testnpm.Modules(t, packages...)
	script, err := os.ReadFile("parse.mjs")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "locksim-mermaid-")
	if err != nil {
		t.Fatal(err)
	}
	// node looks for packages beside the script.
	err = errors.Join(os.Symlink(modules, filepath.Join(dir, "node_modules")),
		os.WriteFile(filepath.Join(dir, "parse.mjs"), script, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "parse.mjs")
	cmd.Dir, cmd.Stderr = dir, &mermaid.errors
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	mermaid.dir, mermaid.cmd, mermaid.in, mermaid.out = dir, cmd, in, bufio.NewReader(out)
}

// parsed parses diagrams with mermaid, those of all tests in one process.
func parsed(t *testing.T, diagrams ...string) []parsedDiagram {
	t.Helper()
	if mermaid.cmd == nil {
		startMermaid(t)
	}
	if err := json.NewEncoder(mermaid.in).Encode(diagrams); err != nil {
		t.Fatal(err)
	}
	line, err := mermaid.out.ReadBytes('\n')
	if err != nil { // it has ended, or is about to: it writes no more
		_ = mermaid.cmd.Wait()
		t.Fatalf("node: %v\n%s", err, mermaid.errors.String())
	}
	var all []parsedDiagram
	if err := json.Unmarshal(line, &all); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return all
}
