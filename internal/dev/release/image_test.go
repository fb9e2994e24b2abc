package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locksim/internal/soak"
)

// instructions are the lines of the Dockerfile, without its comments.
func instructions(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "cmd", "locksim", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if word, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && word != "#" {
			all[word] = append(all[word], rest)
		}
	}
	return all
}

// The image is built with a Go that go.mod accepts, what it runs to build is one script, and it runs as nobody.
func TestDockerfile(t *testing.T) {
	goMod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	minor := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(goMod)[1]
	lines := instructions(t)
	if from := lines["FROM"]; len(from) != 2 || from[0] != "golang:"+string(minor)+" AS build" {
		t.Errorf("FROM %q, and go.mod needs Go %s", from, minor)
	}
	if run := lines["RUN"]; len(run) != 1 || run[0] != "sh cmd/locksim/image.sh /image" {
		t.Errorf("RUN %q", run)
	}
	if user := lines["USER"]; len(user) != 1 || user[0] != "65534:65534" {
		t.Errorf("USER %q", user)
	}
	if out, err := script(t).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "usage: sh cmd/locksim/image.sh DIR") {
		t.Errorf("without a folder: %v: %s", err, out)
	}
}

// script is what the image runs to build, with arguments of its own.
func script(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"cmd/locksim/image.sh"}, args...)...)
	cmd.Dir = root
	return cmd
}

// The script writes a program that runs without anything else. Images cannot be pulled or built here: what is left out
// is the container.
func TestImage(t *testing.T) {
	soak.Only(t, "it builds the command once more")
	dir := t.TempDir()
	if out, err := script(t, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"playground.html", "LICENSE", "LICENSES-OF-DEPENDENCIES", "tmp"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "locksim"), "run", "gc-pause")
	cmd.Dir, cmd.Env = dir, []string{}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "corrupted") {
		t.Errorf("%v\n%s", err, out)
	}
}
