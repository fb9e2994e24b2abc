package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module whose test fits Unix alone, and returns its folder.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.26\n",
		"m.go": "// Package m has a number.\npackage m\n\nimport \"os\"\n\n// N is the number.\nvar N = " +
			"os.Getpid()\n",
		"m_test.go": "package m\n\nimport (\n\t\"syscall\"\n\t\"testing\"\n)\n\nfunc TestN(t *testing.T) {\n\tif err := " +
			"syscall.Kill(N, 0); err != nil {\n\t\tt.Error(err)\n\t}\n}\n",
		"m_windows.go": "package m\n\nvar _ = N\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Each mistake is said once, for the systems that have it, tests and files for one system
// alone included.
func TestCheck(t *testing.T) {
	dir := module(t)
	var out strings.Builder
	code, err := check(&out, dir, []string{"darwin/arm64", "windows/amd64"}, []string{"./..."})
	if code != exitWrong || err != nil {
		t.Errorf("code %d, %v", code, err)
	}
	said := out.String()
	if !strings.Contains(said, "packages, 0 mistakes\nwindows/amd64: ") ||
		strings.Count(said, "undefined: syscall.Kill") != 1 {
		t.Errorf("said:\n%s", said)
	}
	if !strings.Contains(said, "m_test.go:9:20: undefined") || !strings.HasSuffix(said, "packages, 1 mistake\n") {
		t.Errorf("said:\n%s", said)
	}

	out.Reset()
	if err := os.WriteFile(filepath.Join(dir, "m_windows.go"), []byte("package m\n\nvar _ = M\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "m_test.go")); err != nil {
		t.Fatal(err)
	}
	code, err = check(&out, dir, []string{"darwin/arm64", "windows/amd64"}, []string{"./..."})
	if code != exitWrong || err != nil || strings.Count(out.String(), "m_windows.go:3:9: undefined: M") != 1 {
		t.Errorf("code %d, %v, said:\n%s", code, err, out.String())
	}
}

func TestNothingToCheck(t *testing.T) {
	dir := module(t)
	for _, c := range []struct{ system, pattern, want string }{
		{"windows", "./...", "windows: name a system and an architecture"},
		{"plan9/vax", "./...", "unsupported GOOS/GOARCH pair plan9/vax"},
	} {
		code, err := check(new(strings.Builder), dir, []string{c.system}, []string{c.pattern})
		if code != exitUsage || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: code %d, %v; want %q", c.system, c.pattern, code, err, c.want)
		}
	}
	var out strings.Builder
	if code, err := check(&out, dir, []string{"darwin/arm64"}, []string{"./none/..."}); code == exitOK {
		t.Errorf("a pattern without packages passes: %v\n%s", err, out.String())
	}
}
