package overlay_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksim/internal/overlay"
)

func find(t *testing.T) overlay.Toolchain {
	t.Helper()
	found, err := overlay.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// This Go is one that the overlay is made for. If the test fails after an update, look at
// what has changed in the files of edits.go, run the tests of this package, and add the
// version to Supported.
func TestThisGoIsSupported(t *testing.T) {
	version := find(t).GOVERSION
	minor := regexp.MustCompile(`^go\d+\.\d+`).FindString(version)
	if !slices.Contains(overlay.Supported(), minor) {
		t.Errorf("%s is not one of %v", version, overlay.Supported())
	}
}

// The overlay of one Go is always the same, and is not written anew, so that Go's build
// cache holds.
func TestMake(t *testing.T) {
	dir, found := t.TempDir(), find(t)
	path, err := overlay.Make(dir, found)
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := overlay.Make(dir, found)
	if err != nil || again != path {
		t.Fatalf("%s, then %s: %v", path, again, err)
	}
	if second, _ := os.Stat(path); !second.ModTime().Equal(first.ModTime()) {
		t.Error("the file was written anew")
	}
	var list struct{ Replace map[string]string }
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil || len(list.Replace) < 10 {
		t.Fatalf("%v: %s", err, b)
	}
	for from, to := range list.Replace {
		if _, err := os.Stat(to); err != nil || !strings.HasPrefix(from, filepath.Join(found.GOROOT, "src")) {
			t.Errorf("%s by %s: %v", from, to, err)
		}
	}
}

// A Go whose files are different is an error that names the file, and nothing is written.
func TestUnfit(t *testing.T) {
	found, other := find(t), t.TempDir()
	for _, file := range []string{"time/time.go", "time/sleep.go"} {
		b, err := os.ReadFile(filepath.Join(found.GOROOT, "src", file))
		if err == nil {
			err = os.MkdirAll(filepath.Join(other, "src", "time"), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(other, "src", file), []byte(strings.ReplaceAll(string(b), "func Sleep(", "func Rest(")), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	_, err := overlay.Make(dir, overlay.Toolchain{GOROOT: other, GOVERSION: "go9.9.9"})
	if !errors.Is(err, overlay.ErrUnfit) || !strings.Contains(err.Error(), "time/sleep.go") || !strings.Contains(err.Error(), "go9.9.9") {
		t.Errorf("got %v", err)
	}
	if written, _ := os.ReadDir(dir); len(written) > 0 {
		t.Errorf("%v was written", written)
	}
}

// In a program with the overlay, what package sim says of it is true.
func TestSimulatedProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the standard library")
	}
	path, err := overlay.Make(t.TempDir(), find(t))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay="+path, "-run=^TestOverlay", "-v", "locksim/sim").CombinedOutput()
	if passed := strings.Count(string(out), "--- PASS: TestOverlay"); err != nil || passed < 11 || strings.Contains(string(out), "--- SKIP") {
		t.Errorf("%d tests passed: %v\n%s", passed, err, out)
	}
}
