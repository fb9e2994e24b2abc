package file_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"locksim/scenarios/file"
)

// together are the settings without which a value of a key is refused.
var together = map[string]func(*file.Scenario){
	"deadline": func(s *file.Scenario) { s.Workload.Request = time.Second },
	"look":     func(s *file.Scenario) { s.Workload.Kind = file.WorkloadFill },
}

// Another value of each key is written and read back, and is plainer after the changes that make it so. A value outside
// the limits is refused, by the name of the key.
func TestKeys(t *testing.T) {
	for _, k := range file.Keys() {
		t.Run(k.Name, func(t *testing.T) {
			s := file.Defaults()
			s.Name = "key"
			if set := together[k.Name]; set != nil {
				set(s)
			}
			plain := *s
			wrong := s.Clone()
			switch v := k.Value.(type) {
			case file.Number:
				*v.Of(s), *v.Of(wrong) = v.Most, v.Most+1
			case file.Length:
				*v.Of(s), *v.Of(wrong) = 7*time.Second, -1
			case file.Span:
				*v.Of(s), *v.Of(wrong) = file.Range{Min: 7 * time.Second, Max: 8 * time.Second}, file.Range{Min: 2, Max: 1}
			case file.Flag:
				*v.Of(s), wrong = true, nil
			case file.Word:
				v.Set(s, v.Words[len(v.Words)-1])
				v.Set(wrong, "unheard-of")
			case file.Names:
				*v.Of(s), *v.Of(wrong) = []string{"a", "b"}, nil
			}
			text, err := file.Format(s)
			if err != nil {
				t.Fatal(err)
			}
			read, err := file.Parse("key.yaml", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if again, err := file.Format(read); err != nil || !bytes.Equal(again, text) || !bytes.Contains(text, []byte(k.Name+": ")) {
				t.Errorf("read back it is\n%s, %v\nand was\n%s", again, err, text)
			}
			if wrong != nil {
				if err := wrong.Validate(); err == nil || !strings.Contains(err.Error(), k.Group+"."+k.Name) {
					t.Errorf("a value outside the limits: %v", err)
				}
			}
			for _, change := range k.Value.Plainer() {
				c := s.Clone()
				if change(c); c.Validate() != nil {
					t.Errorf("a plainer value is refused: %v", c.Validate())
				}
			}
			if first := k.Value.Plainer(); len(first) > 0 {
				first[0](s)
				first[0](&plain)
				a, err := file.Format(s)
				if b, err2 := file.Format(&plain); err != nil || err2 != nil || !bytes.Equal(a, b) {
					t.Errorf("its plainest value is\n%s, %v\nwant\n%s, %v", a, err, b, err2)
				}
			}
		})
	}
}

// change is a change that a page describes: a file, and a difference of its lines.
var change = regexp.MustCompile("(?s)<!-- change (\\S+) -->\n *```diff\n(.*?)\n *```")

// The changes of the page give a key that is read, written, checked, and played.
func TestPageOfKeys(t *testing.T) {
	const root = "../.."
	page, err := os.ReadFile(filepath.Join(root, "docs/adding-a-scenario-key.md"))
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for i, m := range change.FindAllStringSubmatch(string(page), -1) {
		path, err := filepath.Abs(filepath.Join(root, m[1]))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var before, after strings.Builder
		for line := range strings.Lines(m[2] + "\n") {
			line = strings.TrimPrefix(line, "   ")
			if line[0] != '+' {
				before.WriteString(line[1:])
			}
			if line[0] != '-' {
				after.WriteString(line[1:])
			}
		}
		if n := strings.Count(string(text), before.String()); n != 1 {
			t.Fatalf("%s has these lines %d times, and not once:\n%s", m[1], n, before.String())
		}
		to := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := os.WriteFile(to, []byte(strings.Replace(string(text), before.String(), after.String(), 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if overlay.Replace[path] = to; i > 5 {
			t.Fatal("there are more changes than a key needs")
		}
	}
	if len(overlay.Replace) != 3 {
		t.Fatalf("the page changes %d files, and not 3", len(overlay.Replace))
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"test", "-vet=off", "-overlay", file, "./scenarios/file", "-run", "^TestKeys$/^warmup$", "-v"},
		{"build", "-overlay", file, "./scenarios/play"},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil || args[0] == "test" && !bytes.Contains(out, []byte("--- PASS: TestKeys/warmup")) {
			t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
