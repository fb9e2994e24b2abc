package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A release has its page beside the program, also where a link leads to the program.
func TestThePageOfARelease(t *testing.T) {
	dir, links := t.TempDir(), t.TempDir()
	program, link := filepath.Join(dir, "locksim"), filepath.Join(links, "locksim")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, link); err != nil {
		t.Skipf("links take rights that this user lacks: %v", err)
	}
	if b, err := madePage(link); b != nil || err != nil {
		t.Errorf("without a page: %q, %v", b, err)
	}
	page := filepath.Join(dir, "playground.html")
	if err := os.WriteFile(page, []byte("the page"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{program, link, filepath.Join(dir, "removed")} {
		if b, err := madePage(path); string(b) != "the page" || err != nil {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(page, 0o755); err != nil { // which nobody can read as a file
		t.Fatal(err)
	}
	if _, err := madePage(program); err == nil || !strings.Contains(err.Error(), "build another with --checkout DIR") {
		t.Errorf("a page that cannot be read: %v", err)
	}
}
