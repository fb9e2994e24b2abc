package libraries

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// literally reports whether a text has a sentence word for word, […] standing for what is left out. Spaces, ends of
// lines and the signs of comments do not count.
func literally(text, sentence string) bool {
	plain := func(s string) string {
		lines := strings.Split(s, "\n")
		for i, line := range lines {
			lines[i] = strings.TrimPrefix(strings.TrimSpace(line), "//")
		}
		return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
	}
	text = plain(text)
	for part := range strings.SplitSeq(sentence, "[…]") {
		_, after, found := strings.Cut(text, plain(part))
		if !found {
			return false
		}
		text = after
	}
	return true
}

func TestLiterally(t *testing.T) {
	const text = "// Lock locks the mutex with a\n// cancelable context. If it ends, so does Lock. It is safe."
	for sentence, want := range map[string]bool{
		"Lock locks the mutex with a cancelable context.":       true,
		"Lock locks the mutex […] It is safe.":                  true,
		"It is safe. […] Lock locks the mutex":                  false, // in another order
		"Lock locks a mutex.":                                   false,
		"Lock locks the mutex with a cancelable context ... . ": false,
	} {
		if literally(text, sentence) != want {
			t.Errorf("%q: want %v", sentence, want)
		}
	}
}

// folderOf is the folder of a module, as this module or that of a library needs it; "" if it is not there.
func folderOf(t *testing.T, dir, module string) string {
	t.Helper()
	if module == "locksim" {
		return filepath.Join("..", "..")
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		dir = "."
	}
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("where is %s: %v", module, err)
	}
	return strings.TrimSpace(string(out))
}

// sheets are what is stored of each library.
func sheets(t *testing.T) map[string]Sheet {
	t.Helper()
	text, err := os.ReadFile("cells.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Sheet{}
	for line := range strings.Lines(string(text)) {
		var r struct{ Sheet *Sheet }
		if err := json.Unmarshal([]byte(line), &r); err == nil && r.Sheet != nil {
			out[r.Sheet.Name] = *r.Sheet
		}
	}
	return out
}

// Each sentence by which a lock is judged stands in the documentation of its library, word for word.
func TestSentencesAreLiteral(t *testing.T) {
	all := sheets(t)
	if len(all) < 15 {
		t.Fatalf("%d libraries are stored", len(all))
	}
	for name, s := range all {
		for _, l := range s.Locks {
			if len(l.Says) == 0 {
				t.Errorf("%s: no sentence of its documentation", l.Name)
			}
			for _, q := range l.Says {
				if q.File == "" {
					continue // it is not in a module
				}
				module := q.Module
				if module == "" {
					module = s.Module
				}
				dir := folderOf(t, name, module)
				if dir == "" {
					continue
				}
				text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(q.File)))
				if err != nil {
					t.Errorf("%s: %v", l.Name, err)
				} else if !literally(string(text), q.Text) {
					t.Errorf("%s: %s of %s does not say %q", l.Name, q.File, module, q.Text)
				}
			}
		}
	}
}
