// Package testpages lets tests follow pages of docs that say how to add something: it makes the changes of a page,
// without touching the sources, so that commands of Go can be run with them.
package testpages

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A step of a page is a comment that names a file, and a block: the whole of a new file, or a difference of lines. Or
// it is a comment alone, for a new file that is a copy of another one.
var (
	step   = regexp.MustCompile("(?s)<!-- (change|new) (\\S+) -->\n( *)```\\w+\n(.*?)\n *```")
	copied = regexp.MustCompile(`<!-- copy (\S+) (\S+) -->`)
)

// Page is what a page changes.
type Page struct {
	// Changed and New are the files that the page changes and adds, in its order.
	Changed, New []string
}

// Changed is the module with the changes of pages.
type Changed struct{ root, overlay string }

// Follow makes the changes of pages in the folder of the module, root, which is relative to that of the test. It is the
// module with the changes of all of them, since commands of Go compile most of it anew, and what each changes.
func Follow(t testing.TB, root string, pages ...string) (*Changed, []Page) {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	var all []Page
	for _, page := range pages {
		all = append(all, follow(t, root, page, dir, replace))
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	c := &Changed{root: root, overlay: filepath.Join(dir, "overlay.json")}
	if err := os.WriteFile(c.overlay, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return c, all
}

// follow makes the changes of a page in files of a folder, and adds to replace which files they replace.
func follow(t testing.TB, root, page, dir string, replace map[string]string) (p Page) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range copied.FindAllStringSubmatch(string(text), -1) {
		p.New = append(p.New, m[2])
		replace[filepath.Join(root, m[2])] = filepath.Join(root, m[1])
	}
	for _, m := range step.FindAllStringSubmatch(string(text), -1) {
		name, block := m[2], regexp.MustCompile("(?m)^"+m[3]).ReplaceAllString(m[4]+"\n", "")
		path := filepath.Join(root, name)
		if m[1] == "new" {
			p.New = append(p.New, name)
		} else {
			before := replace[path] // it may be changed twice
			if before == "" {
				before = path
				p.Changed = append(p.Changed, name)
			}
			block = changed(t, before, block)
		}
		if strings.HasSuffix(name, ".go") {
			if _, err := parser.ParseFile(token.NewFileSet(), name, block, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
		replace[path] = filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(replace[path], []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// changed is a file with a difference of lines, whose lines before must stand there once.
func changed(t testing.TB, file, difference string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var before, after strings.Builder
	for line := range strings.Lines(difference) {
		if line[0] != '+' {
			before.WriteString(line[1:])
		}
		if line[0] != '-' {
			after.WriteString(line[1:])
		}
	}
	if n := strings.Count(string(text), before.String()); n != 1 {
		t.Fatalf("%s has these lines %d times, and not once:\n%s", file, n, before.String())
	}
	return strings.Replace(string(text), before.String(), after.String(), 1)
}

// Go runs a command of Go with the changes, such as build or test, and returns what it prints. One that fails is an
// error of the test.
func (c *Changed) Go(t testing.TB, command string, args ...string) string {
	t.Helper()
	out, err := c.Command(t, command, args...).CombinedOutput()
	if err != nil {
		t.Errorf("go %s %s: %v\n%s", command, strings.Join(args, " "), err, out)
	}
	return string(bytes.TrimSpace(out))
}

// Command is a command of Go with the changes, in the folder of the module.
func (c *Changed) Command(t testing.TB, command string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{command, "-overlay", c.overlay}, args)...)
	cmd.Dir = c.root
	return cmd
}
