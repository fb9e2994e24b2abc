package overlay_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksim/internal/overlay"
	"locksim/internal/soak"
)

func find(t *testing.T) overlay.Toolchain {
	t.Helper()
	found, err := overlay.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
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
	files := replaced(t, path)
	if len(files) < 10 {
		t.Fatalf("only %d files: %v", len(files), files)
	}
	for from, to := range files {
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
			err = os.WriteFile(filepath.Join(other, "src", file),
				[]byte(strings.ReplaceAll(string(b), "func Sleep(", "func Rest(")), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	_, err := overlay.Make(dir, overlay.Toolchain{GOROOT: other, GOVERSION: "go9.9.9"})
	if !errors.Is(err, overlay.ErrUnfit) || !strings.Contains(err.Error(), "time/sleep.go") ||
		!strings.Contains(err.Error(), "go9.9.9") {
		t.Errorf("got %v", err)
	}
	if written, _ := os.ReadDir(dir); len(written) > 0 {
		t.Errorf("%v was written", written)
	}
}

// A Go in the module cache is refused, and its copy is not. It is copied once.
func TestCached(t *testing.T) {
	found, dir := find(t), t.TempDir()
	cached := overlay.Toolchain{GOROOT: filepath.Join(dir, "mod", "golang.org", "toolchain"), GOVERSION: "go9.9.9",
		GOMODCACHE: filepath.Join(dir, "mod")}
	path, err := overlay.Make(t.TempDir(), found)
	if err != nil {
		t.Fatal(err)
	}
	for from := range replaced(t, path) {
		name, err := filepath.Rel(found.GOROOT, from)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is added
		}
		to := filepath.Join(cached.GOROOT, name)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o444)); err != nil {
			t.Fatal(err)
		}
	}
	if !cached.Cached() || found.Cached() {
		t.Fatalf("cached is %t of %+v, and %t of %+v", cached.Cached(), cached, found.Cached(), found)
	}
	if _, err := overlay.Make(t.TempDir(), cached); !errors.Is(err, overlay.ErrCached) ||
		!strings.Contains(err.Error(), cached.GOROOT) {
		t.Errorf("got %v", err)
	}
	to := t.TempDir()
	copied, err := overlay.Copy(to, cached)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := overlay.Make(to, copied); err != nil {
		t.Error(err)
	}
	first, err := os.Stat(copied.GOROOT)
	if err != nil {
		t.Fatal(err)
	}
	again, err := overlay.Copy(to, cached)
	if second, _ := os.Stat(again.GOROOT); err != nil || again != copied || !os.SameFile(first, second) {
		t.Errorf("%+v, then %+v: %v", copied, again, err)
	}
	if left, _ := filepath.Glob(filepath.Join(to, ".new-*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// replaced are the replacements of an overlay.
func replaced(t *testing.T, path string) map[string]string {
	t.Helper()
	var list struct{ Replace map[string]string }
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list.Replace
}

// Other versions of Go, as they are fetched into the module cache, build the overlay, and what package sim says of it
// is true there.
func TestOtherGos(t *testing.T) {
	soak.Only(t, "it fetches other versions of Go, and compiles the standard library with each")
	for _, version := range []string{"go1.26.7", "go1.27.2"} {
		t.Run(version, func(t *testing.T) {
			t.Setenv("GOTOOLCHAIN", version)
			if out, err := exec.CommandContext(t.Context(), "go", "version").CombinedOutput(); err != nil {
				t.Skipf("it is not served: %v: %s", err, out)
			}
			dir, found := t.TempDir(), find(t)
			if !found.Cached() {
				t.Skipf("%s is installed, and not in the module cache", version)
			}
			copied, err := overlay.Copy(dir, found)
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", filepath.Join(copied.GOROOT, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
			t.Setenv("GOROOT", copied.GOROOT)
			if got := find(t); got.GOVERSION != version || got.Cached() {
				t.Fatalf("with the copy first in PATH: %+v", got)
			}
			testsInWorld(t, dir, copied)
		})
	}
}

// In a program with the overlay, what package sim says of it is true.
func TestSimulatedProcesses(t *testing.T) {
	soak.Only(t, "it compiles the standard library")
	testsInWorld(t, t.TempDir(), find(t))
}

func testsInWorld(t *testing.T, dir string, with overlay.Toolchain) {
	t.Helper()
	path, err := overlay.Make(dir, with)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay="+path, "-run=^TestOverlay", "-v",
		"locksim/sim").CombinedOutput()
	if passed := strings.Count(string(out), "--- PASS: TestOverlay"); err != nil || passed < 11 ||
		strings.Contains(string(out), "--- SKIP") {
		t.Errorf("%d tests passed: %v\n%s", passed, err, out)
	}
}
