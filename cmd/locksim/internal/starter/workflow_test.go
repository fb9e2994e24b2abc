package starter

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"locksim/cmd/locksim/internal/console"
)

// A CI job clones locksim by an address that it can reach, without the credentials of this machine.
func TestPublicAddress(t *testing.T) {
	for remote, want := range map[string]string{
		"https://git.example.org/you/locksim.git":        "https://git.example.org/you/locksim.git",
		"https://you:secret@git.example.org/you/locksim": "https://git.example.org/you/locksim",
		"git@git.example.org:you/locksim.git":            "https://git.example.org/you/locksim.git",
		"ssh://git@git.example.org:2222/you/locksim.git": "https://git.example.org/you/locksim.git",
		"git://git.example.org/locksim":                  "https://git.example.org/locksim",
		"/home/me/locksim":                               "",
		"../locksim":                                     "",
		"file:///home/me/locksim":                        "",
		`C:\me\locksim`:                                  "",
		"":                                               "",
	} {
		got, err := publicAddress(remote)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", remote, got, err, want)
		}
	}
}

// The workflow gets locksim where a CI job can get it, and there is none where it cannot.
func TestWorkflow(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	top := t.TempDir()
	elsewhere := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		args = append([]string{"-C", elsewhere, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	at := repository{top: top, folder: "locks/"}
	checkout := origin{version: "v0.0.0", replace: "../locksim", checkout: elsewhere}
	wants := func(o origin, parts ...string) {
		t.Helper()
		w, err := o.workflow(at, true)
		if err != nil {
			t.Fatal(err)
		}
		text, err := filled("workflow.yml.txt", w)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, new(any)); err != nil {
			t.Error(err)
		}
		for _, part := range append(parts, "'locks/") {
			if !strings.Contains(string(text), part) {
				t.Errorf("no %q in\n%s", part, text)
			}
		}
		if strings.Contains(string(text), "OWNER") {
			t.Errorf("a name is left to be filled in:\n%s", text)
		}
	}
	refused := func(part string) {
		t.Helper()
		if _, err := checkout.workflow(at, false); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, and want %q", err, part)
		}
	}
	refused("has no remote")
	run("init", "-q")
	refused("has no remote")
	run("remote", "add", "origin", "/srv/locksim")
	refused("is a folder of this machine")
	run("remote", "set-url", "origin", "git@git.example.org:you/locksim.git")
	refused("has no commit")
	run("commit", "-q", "--allow-empty", "-m", "first")
	wants(checkout, "git clone --quiet 'https://git.example.org/you/locksim.git'", "checkout --quiet ",
		"/.github/action/test.sh", "LOCKSIM_OVERLAY: true")
	if err := os.Mkdir(filepath.Join(top, "third party"), 0o755); err != nil {
		t.Fatal(err)
	}
	wants(origin{replace: "../third party", checkout: filepath.Join(top, "third party")}, "submodules: recursive",
		"/.github/action/test.sh")
	wants(origin{version: "v1.2.3"}, "/.github/action")
	t.Setenv("PATH", t.TempDir())
	refused("there is no git in PATH")
}

// Write puts the workflow at the top of the repository, and does not overwrite one. Here locksim is an empty module, so
// that go mod tidy fails after all files are written.
func TestWriteWorkflow(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	top := t.TempDir()
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	for name, text := range map[string]string{"locksim/go.mod": "module " + console.OwnModule() + "\n",
		"locks/go.mod": "module example.org/you/shop\n\ngo 1.26.0\n"} {
		file := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", top).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Chdir(filepath.Join(top, "locks"))
	o := Options{CI: true, Checkout: filepath.Join(top, "locksim")}
	_, err := Write(o)
	if broken, ok := errors.AsType[*console.BrokenError](err); !ok ||
		!strings.Contains(broken.Error(), workflowName+" are written, but go mod tidy fails") {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(workflowName)))
	if err != nil || !strings.Contains(string(text), "working-directory: 'locks/'") {
		t.Errorf("%v: %s", err, text)
	}
	if err := os.RemoveAll("locksimtest"); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(o); err == nil || !strings.Contains(err.Error(), workflowName+" exists") {
		t.Error(err)
	}
}

// A module at the top of a repository of GitHub has an Action there.
func TestOnGitHub(t *testing.T) {
	for path, want := range map[string]string{
		"github.com/you/locksim":      "you/locksim",
		"github.com/you/locksim/v2":   "you/locksim",
		"github.com/you/mono/locksim": "",
		"git.example.org/you/locksim": "",
		"locksim":                     "",
	} {
		got := ""
		if m := onGitHub.FindStringSubmatch(path); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
