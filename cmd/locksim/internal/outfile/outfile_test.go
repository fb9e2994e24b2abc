package outfile

import (
	"os"
	"path/filepath"
	"testing"
)

// Each file is readable for every user: the folder decides who has access.
func TestSaveMode(t *testing.T) {
	dir := t.TempDir()
	if err := WriteAll(dir, []Document{{"run.json", []byte("{}")}}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got&0o044 != 0o044 {
		t.Errorf("mode %v", got)
	}
}
