package runfolder_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"locksim/internal/runfolder"
)

func TestName(t *testing.T) {
	for want, parts := range map[string][]string{
		"run-gc-pause-fenced-s1":               {"run", "gc-pause", "fenced", "s1"},
		"explore-broken.del-without-owner":     {"explore", "broken/del-without-owner"},
		"matrix":                               {"matrix"},
		"sweep-late-write-redlock-s18-promise": {"sweep", "late-write", "redlock", "s18", "promise"},
	} {
		if got := runfolder.Name(parts...); got != want {
			t.Errorf("Name(%q) is %s, want %s", parts, got, want)
		}
	}
}

var safe = regexp.MustCompile(`^run-[A-Za-z0-9._-]{1,80}$`)

// The folder of a lock of any name is in the right place, not hidden, and
// different from others.
func TestNameIsSafe(t *testing.T) {
	seen := map[string]string{}
	for _, part := range []string{"", ".", "..", "../x", "..x", "/etc/passwd", "a/b", "a.b", "a-b", "a b", "a_b", "a/b/c", `a\b`, "<script>", "a:b", "COM1:", "-rf",
		"naïve", "наивный", "наивнай", "x\x00y", "x\ny", "\xff", string(make([]byte, 300)), string(make([]byte, 301))} {
		name := runfolder.Name("run", part)
		if !safe.MatchString(name) || !filepath.IsLocal(name) {
			t.Errorf("%q has the folder %q", part, name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%q and %q both have the folder %q", part, other, name)
		}
		seen[name] = part
	}
}

// FuzzName searches for a part that makes an unsafe name.
func FuzzName(f *testing.F) {
	f.Add("gc-pause")
	f.Add("../\x00")
	f.Fuzz(func(t *testing.T, part string) {
		if name := runfolder.Name("run", part); !safe.MatchString(name) {
			t.Errorf("%q has the folder %q", part, name)
		}
	})
}

// PointLatest replaces a link, and nothing else.
func TestPointLatest(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, runfolder.Latest)
	for _, name := range []string{"run-one", "run-two", "run-two"} {
		if err := runfolder.PointLatest(dir, name); err != nil {
			t.Fatal(err)
		}
		if got, err := os.Readlink(link); got != name || err != nil {
			t.Errorf("the target of the link is %q, %v; want %q", got, err, name)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("entries %v, want only the link", entries)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(link, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := runfolder.PointLatest(dir, "run-one"); err == nil {
		t.Error("a file was replaced")
	}
	if b, _ := os.ReadFile(link); string(b) != "mine" {
		t.Errorf("the file has %q", b)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("entries %v, want only the file", entries)
	}
}
