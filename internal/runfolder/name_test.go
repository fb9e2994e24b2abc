package runfolder_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"locksim/internal/runfolder"
)

func TestNameReadsWell(t *testing.T) {
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

// For every name of a lock, the folder is in the folder of all, is not hidden, and
// differs from that of any other lock.
func TestNameIsSafe(t *testing.T) {
	seen := map[string]string{}
	for _, part := range []string{"", ".", "..", "../x", "..x", "/etc/passwd", "a/b", "a.b", "a-b", "a b", "a_b", "a/b/c",
		`a\b`, "<script>", "a:b", "COM1:", "-rf",
		"naïve", "наивный", "наивнай", "x\x00y", "x\ny", "\xff", string(make([]byte, 300)), string(make([]byte, 301))} {
		name := runfolder.Name("run", part)
		if !safe.MatchString(name) || !filepath.IsLocal(name) {
			t.Errorf("%q gives the name %q", part, name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%q and %q both give the name %q", part, other, name)
		}
		seen[name] = part
	}
}

// FuzzName looks for a name that is not safe.
func FuzzName(f *testing.F) {
	f.Add("gc-pause")
	f.Add("../\x00")
	f.Fuzz(func(t *testing.T, part string) {
		if name := runfolder.Name("run", part); !safe.MatchString(name) {
			t.Errorf("%q gives the name %q", part, name)
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
			t.Errorf("the link points to %q, %v; want %q", got, err, name)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("there is more than the link: %v", entries)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(link, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := runfolder.PointLatest(dir, "run-one"); err == nil {
		t.Error("a regular file was replaced")
	}
	if b, _ := os.ReadFile(link); string(b) != "mine" {
		t.Errorf("the file holds %q", b)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("temporary files remain: %v", entries)
	}
}
