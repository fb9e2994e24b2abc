package starter

import (
	"os"
	"path/filepath"
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
