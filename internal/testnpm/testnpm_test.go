package testnpm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeNpm puts an npm in front of the real one, which runs a line of the shell. It returns the file in which each call
// leaves a line.
func fakeNpm(t *testing.T, line string) (calls string) {
	t.Helper()
	bin := t.TempDir()
	calls = filepath.Join(bin, "calls")
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\necho \"$@\" >>"+calls+"\n"+line+"\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return calls
}

// Packages are installed once; others, or another version, have a folder of their own.
func TestInstallsOnce(t *testing.T) {
	calls := fakeNpm(t, `mkdir "$3/node_modules"`) // after install --prefix
	cache := filepath.Join(t.TempDir(), "cache")
	var dirs []string
	for _, packages := range [][]string{{"a@1", "b@1"}, {"a@1", "b@1"}, {"a@2", "b@1"}} {
		dir, err := install(cache, packages)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
			t.Error(err)
		}
		dirs = append(dirs, dir)
	}
	text, err := os.ReadFile(calls)
	if n := strings.Count(string(text), "\n"); err != nil || n != 2 || dirs[0] != dirs[1] || dirs[0] == dirs[2] {
		t.Errorf("%v, %d installs, into %v", err, n, dirs)
	}
	if left, err := filepath.Glob(filepath.Join(cache, "part-*")); err != nil || len(left) > 0 {
		t.Errorf("%v, left behind: %v", err, left)
	}
}

// An install that fails leaves nothing behind, and the next one begins anew. Its error has what npm says.
func TestInstallFails(t *testing.T) {
	fakeNpm(t, `mkdir "$3/node_modules"; echo no such version; exit 1`)
	cache := t.TempDir()
	if _, err := install(cache, []string{"a@1"}); err == nil || !strings.Contains(err.Error(), "no such version") {
		t.Errorf("the error is %v", err)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
		t.Errorf("%v, left behind: %v", err, left)
	}
}

// Of two processes that install at the same time, one takes the folder of the other.
func TestInstallsAtOnce(t *testing.T) {
	cache := t.TempDir()
	fakeNpm(t, `mkdir "$3/node_modules"`)
	dir, err := install(cache, []string{"a@1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	fakeNpm(t, `mkdir "$3/node_modules"; mkdir -p "`+dir+`/node_modules"`) // the other one is done first
	if again, err := install(cache, []string{"a@1"}); err != nil || again != dir {
		t.Errorf("%s, %v", again, err)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) != 1 {
		t.Errorf("%v, there are %v", err, left)
	}
}
