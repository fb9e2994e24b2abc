package findings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No two findings have one id. A published one has a thread and no library, one of our own the other way round.
func TestAll(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		if seen[f.ID] {
			t.Errorf("two findings are called %s", f.ID)
		}
		seen[f.ID] = true
		if own := f.Class == Own; own != (f.Thread == "") || own != (f.Library != "") || f.Class == "" || f.State == "" {
			t.Errorf("%+v lacks something, or has too much", f)
		}
	}
}

// The page of the drafts says of each finding of our own what this package says, and has no others.
func TestDrafts(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "upstream")
	page, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	drafts := 0
	for _, f := range All() {
		if f.Class != Own {
			continue
		}
		drafts++
		row := fmt.Sprintf("| [%s](%[1]s.md) | %s %s | %s |", f.ID, f.Library, f.Version, f.Status())
		if !strings.Contains(string(page), row) {
			t.Errorf("the page has no line %q", row)
		}
		text, err := os.ReadFile(filepath.Join(folder, f.ID+".md"))
		if err != nil {
			t.Error(err)
			continue
		}
		flat := strings.Join(strings.Fields(string(text)), " ")
		for _, part := range []string{"**Window under the usual settings.**", "**What is public.**", "**Told**: "} {
			if !strings.Contains(flat, part) {
				t.Errorf("%s.md has no part %q", f.ID, part)
			}
		}
		if strings.Contains(flat, "**Told**: not told yet.") != (f.Told == "") {
			t.Errorf("%s.md says otherwise when its authors were told: %q", f.ID, f.Told)
		}
	}
	if all, err := filepath.Glob(filepath.Join(folder, "*.md")); err != nil || len(all) != drafts+1 {
		t.Errorf("%d pages for %d drafts and their list: %v", len(all), drafts, err)
	}
}
