package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksim/internal/soak"
)

// environment is a machine that is not ours. The rows of docs/how-to/install.md have the same names, in the same order.
type environment struct {
	name string
	// set prepares the machine; nil changes nothing.
	set func(m *machine)
	// without are programs that are not in PATH.
	without []string
	// overlay matches what locksim overlay prints; "" for its flag.
	overlay string
	// overlayCode is its exit code.
	overlayCode int
}

var environments = []environment{
	{name: "`GOFLAGS=-mod=mod`", set: func(m *machine) { m.setenv("GOFLAGS", "-mod=mod") }},
	{name: "`GOFLAGS=-mod=vendor`", set: func(m *machine) { m.setenv("GOFLAGS", "-mod=vendor"); m.vendor() }},
	{name: "an older Go, with `GOTOOLCHAIN=auto`", set: (*machine).olderGo, overlayCode: 2,
		overlay: `go build replaces no files in the module cache, and go\S+ is there.*: copy it once, put the copy first in PATH`},
	{name: "a module cache that is read-only", set: (*machine).readOnlyCache},
	{name: "`TMPDIR` with a space", set: func(m *machine) { m.setenv("TMPDIR", m.folder("my tmp")) }},
	{name: "no `HOME`", set: func(m *machine) { m.unset("HOME", "XDG_CACHE_HOME") }, overlayCode: 2,
		overlay: `neither .*HOME.* name a folder with --dir`},
	{name: "no Git", without: []string{"git"}},
	{name: "no C compiler", without: []string{"cc", "gcc", "clang", "c++", "g++"}},
	{name: "a path with spaces and letters such as ü", set: (*machine).strangePath, overlayCode: 2,
		overlay: `has a space in its name, .*--dir`},
	{name: "a user who is not root, another `TZ` and `LANG`", set: (*machine).otherUser},
}

// The page says what a person sees on each of these machines.
func TestEnvironmentsAreInTheDocs(t *testing.T) {
	_, table, _ := strings.Cut(readFile(t, filepath.Join(root, "docs/how-to/install.md")), "<!-- environments -->\n")
	table, _, _ = strings.Cut(table, "\n\n")
	want := []string{"the machine"}
	for _, e := range environments {
		want = append(want, e.name)
	}
	var rows []string
	for _, m := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllStringSubmatch(table, -1) {
		rows = append(rows, m[1])
	}
	if !slices.Equal(rows, want) {
		t.Errorf("docs/how-to/install.md has the rows %q, want %q", rows, want)
	}
}

// On each machine init writes a test, which passes; overlay and run do what they do here, or say what to do.
func TestEnvironments(t *testing.T) {
	soak.Only(t, "it builds a module on ten machines")
	for _, e := range environments {
		t.Run(e.name, func(t *testing.T) {
			m := newMachine(t, e.without)
			if e.set != nil {
				e.set(m)
			}
			m.succeeds(`wrote go\.mod, locksimtest/lock\.go`, "locksim",
				slices.Concat([]string{"init", "--checkout", m.checkout}, m.init)...)
			if m.vendored {
				m.succeeds("", "go", "mod", "vendor")
			}
			m.succeeds(`shop: no violation in 100 runs`, "go", "test", "-count=1", "-vet=off", "-ldflags=-w", "-v",
				"./locksimtest", "-rapid.checks=5")
			if code, out := m.run("locksim", "overlay"); code != e.overlayCode ||
				!regexp.MustCompile(e.overlay).MatchString(out) || e.overlay == "" && !strings.Contains(out, "-overlay=") {
				t.Errorf("locksim overlay: exit code %d\n%s", code, out)
			}
			m.succeeds(`"trace_hash": "`+hashHere(t)+`"`, "locksim", "run", "gc-pause", "--fencing", "none", "--once", "--json")
			if m.last != nil {
				m.last()
			}
		})
	}
}

// Other versions of Go give the same traces.
func TestOtherGos(t *testing.T) {
	soak.Only(t, "it fetches other versions of Go, and builds the command with each")
	traces := regexp.MustCompile(`"trace_hash": "(\w+)"`)
	for _, version := range []string{"go1.26.7", "go1.27.2"} {
		t.Run(version, func(t *testing.T) {
			command := filepath.Join(t.TempDir(), "locksim")
			build := exec.CommandContext(t.Context(), "go", "build", "-o", command, ".")
			build.Env = append(os.Environ(), "GOTOOLCHAIN="+version)
			if out, err := build.CombinedOutput(); err != nil {
				if strings.Contains(string(out), "toolchain not available") {
					t.Skipf("it is not served: %s", out)
				}
				t.Fatalf("%v\n%s", err, out)
			}
			for _, scenario := range []string{"calm", "gc-pause", "failover-before-replication", "redlock-clock-jump",
				"etcd-watch-lost", "zk-session-expiry"} {
				var hashes []string
				for _, name := range []string{"locksim", command} {
					out, err := exec.CommandContext(t.Context(), name, "run", scenario, "--once", "--json").Output()
					if err != nil {
						t.Fatalf("%s run %s: %v", name, scenario, err)
					}
					var all []string
					for _, m := range traces.FindAllSubmatch(out, -1) {
						all = append(all, string(m[1]))
					}
					hashes = append(hashes, strings.Join(all, " "))
				}
				if hashes[0] == "" || hashes[0] != hashes[1] {
					t.Errorf("%s: %s here, and %s with %s", scenario, hashes[0], hashes[1], version)
				}
			}
		})
	}
}

// hashHere is the hash of the trace of gc-pause on this machine.
func hashHere(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "locksim", "run", "gc-pause", "--fencing", "none", "--once",
		"--json").Output()
	hash := regexp.MustCompile(`"trace_hash": "(\w+)"`).FindSubmatch(out)
	if err != nil || hash == nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(hash[1])
}

// machine is where commands are called.
type machine struct {
	t        *testing.T
	env      map[string]string
	dir      string   // the folder of the user's module
	checkout string   // the folder of locksim
	init     []string // more arguments of init
	wrap     []string // what a command is called by
	vendored bool
	last     func() // what is done at the end
}

// newMachine has the programs of this one but for some, in a PATH of their own, and the caches of Go.
func newMachine(t *testing.T, without []string) *machine {
	t.Helper()
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	m := &machine{t: t, env: map[string]string{}, checkout: checkout, init: []string{"--module", "example.org/you/shop"}}
	m.dir = filepath.Join(top, "shop")
	bin := filepath.Join(top, "bin")
	if err := errors.Join(os.Mkdir(m.dir, 0o755), os.Mkdir(bin, 0o755), os.Chmod(filepath.Dir(top), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"locksim", "go", "git", "sh", "cc", "gcc", "as", "ld", "chmod", "touch", "mount",
		"setpriv", "unshare"} {
		if slices.Contains(without, name) {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	m.env["PATH"] = bin
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN"} {
		out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		m.env[name] = strings.TrimSpace(string(out))
	}
	m.env["HOME"] = m.folder("home")
	return m
}

func (m *machine) setenv(name, value string) { m.env[name] = value }

func (m *machine) unset(names ...string) {
	for _, name := range names {
		delete(m.env, name)
	}
}

// folder is a new folder beside that of the module.
func (m *machine) folder(name string) string {
	m.t.Helper()
	dir := filepath.Join(filepath.Dir(m.dir), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		m.t.Fatal(err)
	}
	return dir
}

// run calls a command in the folder of the module.
func (m *machine) run(name string, args ...string) (code int, out string) {
	m.t.Helper()
	line := append(slices.Clone(m.wrap), append([]string{name}, args...)...)
	path := ""
	for _, dir := range filepath.SplitList(m.env["PATH"]) {
		if file := filepath.Join(dir, line[0]); path == "" && executable(file) {
			path = file
		}
	}
	cmd := exec.CommandContext(m.t.Context(), path, line[1:]...)
	cmd.Args[0] = line[0]
	cmd.Dir = m.dir
	cmd.Env = []string{} // nil is the environment of this program
	for name, value := range m.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	b, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		m.t.Fatalf("%v: %v", line, err)
	}
	return cmd.ProcessState.ExitCode(), string(b)
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode()&0o111 != 0
}

// succeeds calls a command that must end with exit code 0, and print what matches a pattern.
func (m *machine) succeeds(pattern, name string, args ...string) {
	m.t.Helper()
	if code, out := m.run(name, args...); code != 0 || !regexp.MustCompile(pattern).MatchString(out) {
		m.t.Fatalf("%s %v: exit code %d\n%s", name, args, code, out)
	}
}

// vendor makes the module one with a vendor folder.
func (m *machine) vendor() {
	m.t.Helper()
	m.init, m.vendored = nil, true
	for name, text := range map[string]string{"go.mod": "module example.org/you/shop\n\ngo 1.26.0\n",
		"vendor/modules.txt": ""} {
		file := filepath.Join(m.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			m.t.Fatal(err)
		}
	}
}

// olderGo puts a Go into PATH that is older than the one that the go.mod asks for, which is that of this machine: it is
// fetched then.
func (m *machine) olderGo() {
	m.t.Helper()
	const older = "go1.25.1"
	cmd := exec.CommandContext(m.t.Context(), "go", "env", "GOROOT")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+older)
	goroot, err := cmd.Output()
	if err != nil {
		m.t.Skipf("%s is not served: %v", older, err)
	}
	version, err := exec.CommandContext(m.t.Context(), "go", "env", "GOVERSION").Output()
	if err != nil {
		m.t.Fatal(err)
	}
	m.init = nil
	text := "module example.org/you/shop\n\ngo 1.26.0\n\ntoolchain " + strings.TrimSpace(string(version)) + "\n"
	if err := os.WriteFile(filepath.Join(m.dir, "go.mod"), []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
	m.env["PATH"] = filepath.Join(strings.TrimSpace(string(goroot)), "bin") + string(os.PathListSeparator) + m.env["PATH"]
	m.env["GOTOOLCHAIN"] = "auto"
	m.last = func() {
		code, out := m.run("locksim", "overlay", "--copy-go")
		if code != 0 {
			m.t.Fatalf("exit code %d\n%s", code, out)
		}
		m.env["PATH"] = filepath.Join(strings.TrimSpace(out), "bin") + string(os.PathListSeparator) +
			strings.Split(m.env["PATH"], string(os.PathListSeparator))[1]
		m.succeeds("^-overlay=", "locksim", "overlay")
	}
}

// readOnlyCache mounts the module cache read-only, for the commands of this machine.
func (m *machine) readOnlyCache() {
	m.t.Helper()
	cache := m.env["GOMODCACHE"]
	m.wrap = []string{"unshare", "-m", "sh", "-c", `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`,
		cache}
	if code, out := m.run("sh", "-c", "! touch "+cache+"/x 2>/dev/null"); code != 0 {
		m.t.Skipf("it takes root to mount: %s", out)
	}
}

// strangePath has the module, the checkout and the cache of the user in folders with spaces and other letters.
func (m *machine) strangePath() {
	m.t.Helper()
	top := m.folder("Schlösser von mir")
	m.dir = filepath.Join(top, "mein schloß")
	m.env["HOME"] = filepath.Join(top, "zu hause")
	clone := filepath.Join(top, "lock sim ü")
	if err := errors.Join(os.Mkdir(m.dir, 0o755), os.Mkdir(m.env["HOME"], 0o755),
		os.Symlink(m.checkout, clone)); err != nil {
		m.t.Fatal(err)
	}
	m.checkout = clone
}

// otherUser calls commands as nobody, in another time zone and language. A cache of builds of their own would be empty:
// they share this one, by a folder that they may write to.
func (m *machine) otherUser() {
	m.t.Helper()
	if os.Getuid() != 0 {
		m.t.Skip("this user is not root already")
	}
	self, err := exec.LookPath("locksim")
	if err != nil {
		m.t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	copied := filepath.Join(m.env["PATH"], "locksim")
	if err := errors.Join(err, os.Remove(copied), os.WriteFile(copied, text, 0o755)); err != nil {
		m.t.Fatal(err)
	}
	mod, cache, clone := m.folder("mod"), m.folder("cache"), m.folder("clone")
	lower, upper := m.env["GOCACHE"], m.folder("upper")
	m.folder("work")
	for _, dir := range []string{cache, upper, m.dir, m.env["HOME"], filepath.Dir(m.dir)} {
		if err := os.Chown(dir, 65534, 65534); err != nil {
			m.t.Fatal(err)
		}
	}
	// The folder of a test has the name of the test, whose comma would end an option of mount: upper and work are named
	// from there.
	m.wrap = []string{"unshare", "-m", "sh", "-c", `mount --bind "$1" "$2" && mount --bind "$3" "$4" &&
(cd "$6" && mount -t overlay overlay -o "lowerdir=$5,upperdir=upper,workdir=work" "$7") &&
chmod 777 "$7" "$7"/?? && shift 7 && exec setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"`, "sh",
		m.env["GOMODCACHE"], mod, m.checkout, clone, lower, filepath.Dir(upper), cache}
	m.checkout = clone
	for name, value := range map[string]string{"GOMODCACHE": mod, "GOCACHE": cache, "TZ": "Asia/Kathmandu",
		"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"} {
		m.env[name] = value
	}
	if code, out := m.run("sh", "-c", "! touch "+clone+"/go.mod 2>/dev/null"); code != 0 {
		m.t.Skipf("it takes root to mount: %s", out)
	}
}
