package main

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"locksim/internal/soak"
)

// The path of the module is renamed, and the name of the command is not.
func TestTexts(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"lock", "cmd", ".git"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	r, err := newRenaming(root, "locksim", "example.org/you/locksim")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"a.go", "package a\n\nimport (\n\t\"locksim/lock\"\n\n\t\"locksim/cmd/locksim/app\"\n)\n",
			"package a\n\nimport (\n\t\"example.org/you/locksim/lock\"\n\n\t\"example.org/you/locksim/cmd/locksim/app\"\n)\n"},
		{"sorted.go", "package a\n\nimport (\n\t\"github.com/x/y\"\n\t\"locksim/lock\"\n)\n",
			"package a\n\nimport (\n\t\"example.org/you/locksim/lock\"\n\t\"github.com/x/y\"\n)\n"},
		{"go.mod", "module locksim\n\nreplace locksim => ../..\n\nrequire locksim v0.0.0\n\ntool locksim/cmd/locksim\n",
			"module example.org/you/locksim\n\nreplace example.org/you/locksim => ../..\n\nrequire example.org/you/locksim " +
				"v0.0.0\n\ntool example.org/you/locksim/cmd/locksim\n"},
		{"sub/go.mod", "module locksim/lock/peers\n", "module example.org/you/locksim/lock/peers\n"},
		{"a.md", "go doc locksim/lock, `locksim/cmd`: [locksim/lock.Locker]; -require=locksim@v0.0.0 " +
			"-replace=locksim=../locksim\n",
			"go doc example.org/you/locksim/lock, `example.org/you/locksim/cmd`: [example.org/you/locksim/lock.Locker]; " +
				"-require=example.org/you/locksim@v0.0.0 -replace=example.org/you/locksim=../locksim\n"},
		{"escaped.go", "package a\n\nconst stack = \"panic\\nlocksim/lock.Release\"\n",
			"package a\n\nconst stack = \"panic\\nexample.org/you/locksim/lock.Release\"\n"},
		{"a.yml", "{pkg: locksim/, desc: x}\n", "{pkg: example.org/you/locksim/, desc: x}\n"},
		{"kept.md", "locksim run gc-pause; go run ./cmd/locksim list; testdata/locksim/lock.json; ../locksim/lock; " +
			"locksim/other; mylocksim/lock; urn:locksim:schema\n", ""},
		{"picture.png", "locksim/lock\x00", ""},
	} {
		file := filepath.Join(root, filepath.FromSlash(tt.name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		changed, err := r.file(file)
		if err != nil {
			t.Fatal(err)
		}
		want := tt.want
		if want == "" {
			want = tt.text
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, string(got)); d != "" || changed != (tt.want != "") {
			t.Errorf("%s, changed %v (-want +got):\n%s", tt.name, changed, d)
		}
	}
}

func TestWrongPathsAreRefused(t *testing.T) {
	for _, to := range []string{"", "/locksim", "a b", "https://example.org/locksim", "example.org/you/"} {
		if n, err := rename("../../..", to); err == nil || n != 0 {
			t.Errorf("%q: %d files changed, and the error %v", to, n, err)
		}
	}
}

// A copy of this checkout under another path is formatted, finds all of its packages in every
// module and, with LOCKSIM_SOAK=1, has the schemas of its types, and its command makes the same run as this one: that
// compiles everything once more.
func TestTheCheckoutUnderAnotherPath(t *testing.T) {
	soak.Only(t, "it builds the command once more")
	const root, to = "../../..", "example.org/you/locksim"
	files, err := tracked(root)
	if err != nil {
		t.Skipf("this is no Git checkout: %v", err)
	}
	dir := t.TempDir()
	for _, name := range files {
		from := filepath.Join(root, filepath.FromSlash(name))
		info, err := os.Lstat(from)
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "git", "init", "-q")
	run(t, dir, "git", "add", "-A")
	if changed, err := rename(dir, to); err != nil || changed < 500 {
		t.Fatalf("%d files changed: %v", changed, err)
	}
	if changed, err := rename(dir, to); err != nil || changed != 0 {
		t.Errorf("a second time %d files changed: %v", changed, err)
	}
	if out := run(t, dir, "gofmt", "-l", "."); out != "" {
		t.Errorf("not formatted:\n%s", out)
	}
	for _, name := range files {
		if filepath.Base(name) == "go.mod" && !strings.Contains(name, "testdata/") {
			module := filepath.Join(dir, filepath.FromSlash(filepath.Dir(name)))
			// Each import of the module and of its tests leads to a package that is there.
			out := run(t, module, "go", "list", "-deps", "-test", "-f", "{{if not .DepOnly}}{{.ImportPath}}{{end}}", "./...")
			if !strings.HasPrefix(out, to) {
				t.Errorf("%s has the packages %s", name, out)
			}
		}
	}
	if os.Getenv("LOCKSIM_SOAK") != "1" {
		return
	}
	schema := filepath.Join("reports", "schema", "run.schema.json")
	before, err := os.ReadFile(filepath.Join(dir, schema))
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, "go", "-C", "internal/dev", "run", "./schemas")
	if after, err := os.ReadFile(filepath.Join(dir, schema)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the schema of a run has changed: %v", err)
	}
	if d := cmp.Diff(run(t, root, "go", "run", "./cmd/locksim", "run", "gc-pause"),
		run(t, dir, "go", "run", "./cmd/locksim", "run", "gc-pause")); d != "" {
		t.Errorf("the run differs (-here +there):\n%s", d)
	}
	installed(t, dir, to)
}

// The checkout is a module that a registry accepts: the names and sizes of its files.
func TestModuleZip(t *testing.T) {
	const root = "../../.."
	files, err := tracked(root)
	if err != nil {
		t.Skipf("this is no Git checkout: %v", err)
	}
	checked, err := zip.CheckDir(root)
	if err != nil && checked.SizeError != nil {
		t.Error(checked.SizeError)
	}
	for _, wrong := range checked.Invalid {
		name, err := filepath.Rel(root, wrong.Path)
		if err == nil && slices.Contains(files, filepath.ToSlash(name)) {
			t.Error(wrong)
		}
	}
	for _, name := range []string{".github/action/test.sh", "AGENTS.md", "LICENSE"} {
		if !slices.Contains(checked.Valid, filepath.Join(root, filepath.FromSlash(name))) {
			t.Errorf("%s is not part of the module", name)
		}
	}
}

// installed serves the checkout in a folder as a version of the module, and installs the command from there, as a user
// does. A module that init makes requires this version.
func installed(t *testing.T, dir, path string) {
	t.Helper()
	proxy, bin := t.TempDir(), t.TempDir()
	versions := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	// Each test has a version of its own, since the module cache keeps it, and takes it out again.
	version := "v0.1.0-test" + strings.ToLower(rand.Text())
	cache := strings.TrimSpace(run(t, dir, "go", "env", "GOMODCACHE"))
	t.Cleanup(func() {
		_ = os.RemoveAll(filepath.Join(cache, filepath.FromSlash(path)+"@"+version))
		_ = os.RemoveAll(filepath.Join(cache, "cache", "download", filepath.FromSlash(path)))
	})
	var packed bytes.Buffer
	goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err == nil {
		err = zip.CreateFromDir(&packed, module.Version{Path: path, Version: version}, dir)
	}
	if err == nil {
		err = os.MkdirAll(versions, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"list": []byte(version + "\n"), version + ".mod": goMod,
		version + ".zip":  packed.Bytes(),
		version + ".info": []byte(`{"Version": "` + version + `"}`)} {
		if err := os.WriteFile(filepath.Join(versions, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy)+","+strings.TrimSpace(run(t, dir, "go", "env", "GOPROXY")))
	t.Setenv("GONOSUMDB", path)
	t.Setenv("GOBIN", bin)
	t.Setenv("GOFLAGS", "-modcacherw")
	empty := t.TempDir()
	run(t, empty, "go", "install", path+"/cmd/locksim@"+version)
	command := filepath.Join(bin, "locksim")
	if out := run(t, empty, command, "--version"); !strings.HasPrefix(out, "locksim "+version+"\n") {
		t.Errorf("it is %s", out)
	}
	run(t, empty, command, "init", "--module", "example.org/you/shop", "--ci")
	text, err := os.ReadFile(filepath.Join(empty, "go.mod"))
	if err != nil || !strings.Contains(string(text), path+" "+version) || strings.Contains(string(text), "replace") {
		t.Errorf("%v: %s", err, text)
	}
	run(t, empty, "go", "vet", "./locksimtest")
	folder := strings.TrimSpace(run(t, empty, "go", "list", "-m", "-f", "{{.Dir}}", path))
	if _, err := os.Stat(filepath.Join(folder, ".github", "action", "test.sh")); err != nil {
		t.Error(err)
	}
}

// run is the standard output of a command, which must succeed.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v in %s: %v\n%s", name, args, dir, err, stderr.String())
	}
	return string(out)
}
