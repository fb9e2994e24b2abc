package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The README shows what the demo prints, to the letter.
func TestReadmeShowsTheDemo(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "<!-- demo:begin -->\n```console\n")
	block, _, ok := strings.Cut(rest, "```\n<!-- demo:end -->")
	command, want, _ := strings.Cut(block, "\n")
	if !ok || command != "$ go run ./cmd/locksim run gc-pause" {
		t.Fatalf("the README has no demo block that begins with the command; it begins with %q", command)
	}
	cmd := exec.Command("go", "run", ".", "run", "gc-pause")
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("run `make demo` and put its output into the README (-README +demo):\n%s", d)
	}
}
