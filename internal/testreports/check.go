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

var update = flag.Bool("update", false, "write the golden files anew")

// Golden compares a text with the file of a name in testdata, which begins with what
// it shows, or writes that file with -update. ESC stands for the escape character.
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
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", file, diff)
	}
}

// Wants demands that a text has some texts, and lacks others.
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

// Full is a file on a full disk.
type FullDisk struct{}

// ErrFull is returned for each write to [Full].
var ErrDiskFull = errors.New("the disk is full")

// Write implements io.Writer.
func (FullDisk) Write([]byte) (int, error) { return 0, ErrDiskFull }
