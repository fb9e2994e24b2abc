package starter

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// init raises a module to the version of Go that locksim needs.
func TestNeedsGo(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if m := goLine.FindSubmatch(text); m == nil || string(m[1]) != needsGo {
		t.Errorf("needsGo is %s, and go.mod has %q", needsGo, m)
	}
}

// init names the lock after the module.
func TestLockName(t *testing.T) {
	for _, c := range []struct{ asked, module, want string }{
		{"", "example.org/you/stock", "stock"},
		{"", "example.org/you/stock/v2", "stock"},
		{"", "stock", "stock"},
		{"", "example.org/you/redlock", "my-redlock"},
		{"", "example.org/you/sql-table", "my-sql-table"},
		{"mutex", "example.org/you/stock", "mutex"},
	} {
		if got, err := lockName(c.asked, c.module); got != c.want || err != nil {
			t.Errorf("lock %q in module %s is named %q (%v), want %q", c.asked, c.module, got, err, c.want)
		}
	}
	for _, asked := range []string{"two words", "single", "broken/mine", "sql-table"} {
		if got, err := lockName(asked, "example.org/you/stock"); err == nil {
			t.Errorf("lock %q is accepted as %q", asked, got)
		}
	}
}

// A program of a release names the version of its tag, if others can get the module.
func TestReleasedVersion(t *testing.T) {
	const own = "example.org/you/sim"
	for _, c := range []struct{ own, path, version, want string }{
		{own, own, "v1.2.3", "v1.2.3"},
		{own, own, "v1.2.3-rc.1", "v1.2.3-rc.1"},
		{"sim", "sim", "v1.2.3", ""}, // nobody can get a module of this name
		{own, "example.org/you/other", "v1.2.3", ""},
		{own, own, "v1.2.3+dirty", ""},
		{own, own, "v0.0.0-20261128095028-24e9acb0aaaa", ""},
		{own, own, "(devel)", ""},
	} {
		if got := releasedVersion(c.own, debug.Module{Path: c.path, Version: c.version}); got != c.want {
			t.Errorf("%s, %s %s: %q, want %q", c.own, c.path, c.version, got, c.want)
		}
	}
}

// A module gets the checksums that the checkout knows, and keeps its own.
func TestMergedSums(t *testing.T) {
	const known = "a v1.0.0 h1:A=\na v1.0.0/go.mod h1:AM=\nb v1.0.0/go.mod h1:BM=\n"
	for _, c := range []struct{ own, want string }{
		{"", known},
		{known, known},
		{"a v1.0.0 h1:OTHER=\nc v1.0.0 h1:C=", "a v1.0.0 h1:OTHER=\nc v1.0.0 h1:C=\na v1.0.0/go.mod h1:AM=\nb " +
			"v1.0.0/go.mod h1:BM=\n"},
	} {
		if got := string(mergedSums([]byte(c.own), []byte(known))); got != c.want {
			t.Errorf("%q: got\n%swant\n%s", c.own, got, c.want)
		}
	}
}
