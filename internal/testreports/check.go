package testreports

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// Golden compares a text with the file NAME.txt of testdata, whose first line says
// what the file shows. With -update it writes the file. ESC stands for the escape
// character.
func Golden(t *testing.T, name, shows, got string) {
	t.Helper()
	GoldenFile(t, name+".txt", "# "+shows+"\n"+strings.ReplaceAll(got, "\x1b", "ESC"))
}

// GoldenFile compares a text with a file of testdata, or writes it with -update.
func GoldenFile(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it):\n%s", file, diff)
	}
}

// CheckTexts reports an error for each text of has that got lacks, and for each text
// of lacks that it has.
func CheckTexts(t *testing.T, got string, has, lacks []string) {
	t.Helper()
	for _, text := range has {
		if !strings.Contains(got, text) {
			t.Errorf("the text lacks %q", text)
		}
	}
	for _, text := range lacks {
		if strings.Contains(got, text) {
			t.Errorf("the text has %q", text)
		}
	}
}

// FullDisk is a file on a full disk.
type FullDisk struct{}

// ErrDiskFull is returned for each write to [FullDisk].
var ErrDiskFull = errors.New("the disk is full")

// Write implements io.Writer.
func (FullDisk) Write([]byte) (int, error) { return 0, ErrDiskFull }
