package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"locksim/internal/soak"
)

const root = "../../.."

func TestWrongFlags(t *testing.T) {
	for _, c := range []struct{ targets, out, files, arg, want string }{
		{"linux", "", "", "", "-targets linux: "},
		{"linux/amd64,/arm64", "", "", "", "-targets /arm64: "},
		{"linux/amd64", "a", "b", "", "-files and -out"},
		{"linux/amd64,linux/arm64", "", "b", "", "-files: name one system"},
		{"linux/amd64", "", "", "more", "only flags"},
	} {
		var args []string
		if c.arg != "" {
			args = []string{c.arg}
		}
		if err := validate(c.targets, c.out, c.files, args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := validate(strings.Join(systems, ","), "", "", nil); err != nil {
		t.Error(err)
	}
}

// A program whose version is not known makes no release: the name of an archive has it.
func TestVersioned(t *testing.T) {
	for version, ok := range map[string]bool{"v1.2.3": true, "v0.0.0-20261128164235-a904c31d4921": true, "(devel)": false,
		"": false} {
		if err := versioned(version); (err == nil) != ok {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// An archive has its files with their modes, and is the same when it is made again.
func TestArchives(t *testing.T) {
	files := []entry{{"locksim", 0o755, []byte("program")}, {"LICENSE", 0o644, []byte("free")}}
	at := time.Date(2026, 11, 28, 9, 35, 0, 0, time.FixedZone("here", 3600))
	want := "locksim -rwxr-xr-x program\nLICENSE -rw-r--r-- free\n"
	for name, read := range map[string]func(*testing.T, []byte) string{"a.tar.gz": readTar, "a.zip": readZip} {
		path := filepath.Join(t.TempDir(), name)
		if err := archived(path, at, files); err != nil {
			t.Fatal(err)
		}
		first, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, first); got != want {
			t.Errorf("%s has\n%s", name, got)
		}
		if err := archived(path, at.UTC(), files); err != nil {
			t.Fatal(err)
		}
		if second, _ := os.ReadFile(path); !bytes.Equal(first, second) {
			t.Errorf("%s is another one when it is made again", name)
		}
	}
}

func readTar(t *testing.T, data []byte) string {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r)
		b.WriteString(h.Name + " " + h.FileInfo().Mode().String() + " " + string(text) + "\n")
	}
}

func readZip(t *testing.T, data []byte) string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(in)
		b.WriteString(f.Name + " " + f.Mode().String() + " " + string(text) + "\n")
	}
	return b.String()
}

// The notices have the licence of Go and of each module, and a module without one is an error.
func TestNotices(t *testing.T) {
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v1.2.3"},
		Deps: []*debug.Module{{Path: "github.com/google/go-cmp", Version: "v0.7.0"}}}
	text, err := notices(t.Context(), root, info)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"linked into locksim v1.2.3", "Go go1.26.8, LICENSE",
		"github.com/google/go-cmp v0.7.0, LICENSE", "Redistribution"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %q", want)
		}
	}
	if err := licence(io.Discard, "x v1", t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "x v1 has no file with its licence") {
		t.Errorf("got %v", err)
	}
}

// A release of this system has a program that says its commit, plays a scenario and shows the playground in an empty
// folder, without Go.
func TestRelease(t *testing.T) {
	soak.Only(t, "it builds the command once more")
	dir := t.TempDir()
	if err := release(t.Context(), root, []string{"linux/amd64"}, dir, ""); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "locksim_v*_linux_amd64.tar.gz"))
	if len(names) != 1 {
		t.Fatalf("archives: %v", names)
	}
	for _, line := range []struct {
		args []string
		want string
	}{
		{[]string{"sha256sum", "-c", "SHA256SUMS"}, ": OK\n"},
		{[]string{"tar", "-xzf", names[0]}, ""},
		{[]string{"./locksim", "--version"}, `locksim v\S+\ncommit [0-9a-f]{40}`},
		{[]string{"./locksim", "run", "gc-pause", "--out", "page"}, "corrupted"},
		{[]string{"./locksim", "playground", "--out", "shown.html"}, `shown\.html: \d+\.\d MB`},
	} {
		cmd := exec.CommandContext(t.Context(), line.args[0], line.args[1:]...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if err != nil || !regexp.MustCompile(line.want).Match(out) {
			t.Errorf("%v: %v\n%s", line.args, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "page", "report.html")); err != nil {
		t.Error(err)
	}
}
