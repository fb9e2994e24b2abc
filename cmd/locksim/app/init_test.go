package app

import (
	"os"
	"path/filepath"
	"testing"
)

// init raises a module to the version of Go that locksim needs.
func TestNeedsGo(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if m := goLine.FindSubmatch(text); m == nil || string(m[1]) != needsGo {
		t.Errorf("needsGo is %s, and go.mod has %q", needsGo, m)
	}
}
