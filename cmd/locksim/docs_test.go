package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// root is the folder of the repository.
const root = "../.."

// page is a Markdown document: the README in two languages, a page of docs, or the README of an example.
type page struct {
	name string // relative to the root, with slashes
	text string
}

// shelves are the folders of docs. Beside them are drafts of reports to the authors of other libraries, in
// docs/upstream.
var shelves = []string{"tutorial", "how-to", "reference", "explanation", "contributing"}

// pages are all pages: the READMEs, then those of docs, shelf by shelf.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	patterns := []string{"README*.md", "AGENTS.md", "docs/*.md", "examples/*/README.md"}
	for _, shelf := range shelves {
		patterns = append(patterns, "docs/"+shelf+"/*.md")
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("there is no %s: %v", pattern, err)
		}
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, page{filepath.ToSlash(name), readFile(t, file)})
		}
	}
	return all
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// block is a fenced block of a page.
type block struct {
	page   page
	marker string // the comment on the line above, if there is one
	kind   string // the word after the fence: go, console, yaml, …
	text   string
}

// codeBlocks matches the blocks of a page. A comment belongs to a block only if it is on the
// line above.
var codeBlocks = regexp.MustCompile("(?ms)^(?:<!-- ([^\n]*) -->\n)?```([a-z]*)\n(.*?)^```$")

func (p page) blocks() []block {
	var all []block
	for _, m := range codeBlocks.FindAllStringSubmatch(p.text, -1) {
		all = append(all, block{p, m[1], m[2], m[3]})
	}
	return all
}

// blocks are the blocks of one kind, of all pages.
func blocks(t *testing.T, kind string) []block {
	t.Helper()
	var all []block
	for _, p := range pages(t) {
		for _, b := range p.blocks() {
			if b.kind == kind {
				all = append(all, b)
			}
		}
	}
	if len(all) == 0 {
		t.Fatalf("no page has a %s block", kind)
	}
	return all
}

// prose is a page without its blocks.
func (p page) prose() string { return codeBlocks.ReplaceAllString(p.text, "") }

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	place   = regexp.MustCompile(`<a (?:id|name)="([^"]+)">`)
)

// anchors are the names that GitHub gives to the headings of a page, and those of its places.
func (p page) anchors() map[string]bool {
	all, times := map[string]bool{}, map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(p.prose(), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])
		if n := times[name]; n > 0 {
			all[fmt.Sprintf("%s-%d", name, n)] = true
		}
		all[name] = true
		times[name]++
	}
	for _, m := range place.FindAllStringSubmatch(p.text, -1) {
		all[m[1]] = true
	}
	return all
}

// A link of a Markdown document leads to an existing file and, with an anchor, to a heading of it.
func TestDocsLinks(t *testing.T) {
	headings := map[string]map[string]bool{}
	var all []page
	for _, name := range files(t, ".md") {
		if !strings.HasPrefix(name, templates) {
			p := page{name, readFile(t, filepath.Join(root, name))}
			headings[name], all = p.anchors(), append(all, p)
		}
	}
	for _, p := range all {
		for _, m := range link.FindAllStringSubmatch(p.prose(), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := p.name
			if target != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(p.name), target))
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", p.name, m[1], err)
			} else if anchor != "" && !headings[to][anchor] {
				t.Errorf("%s: the link %s: %s has no such heading", p.name, m[1], to)
			}
		}
	}
}

// templates have pages of reports/libraries with places to fill in. Their links are those of the filled pages.
const templates = "examples/libraries/cmd/pages/"

// files are the files of the repository with some endings of their names, but for those in testdata, of results, and of
// tools, in the order of their names.
func files(t *testing.T, endings ...string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && name != ".github" &&
			(name == "testdata" || name == "out" || name == "node_modules" || strings.HasPrefix(name, ".") && name != ".."):
			return filepath.SkipDir
		case !d.IsDir() && slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(name, end) }):
			name, err := filepath.Rel(root, path)
			all = append(all, filepath.ToSlash(name))
			return err
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%s has no %q: %v", root, endings, err)
	}
	return all
}

// namedPage is the name of a page of docs in a text that is no link: in a doc comment, or in what the program prints.
var namedPage = regexp.MustCompile("(?:^|[\\s\"'`(<>]|\\.\\./)(docs/[\\w./-]+\\.md)(#[\\w-]+)?")

// A page that a source file, a workflow or a document names is there, with its heading.
func TestDocsAreWhereTheyAreNamed(t *testing.T) {
	headings := map[string]map[string]bool{}
	for _, name := range files(t, ".md") {
		headings[name] = page{name, readFile(t, filepath.Join(root, name))}.anchors()
	}
	for _, name := range files(t, ".go", ".md", ".html", ".yaml", ".yml", ".sh", "Makefile") {
		text := readFile(t, filepath.Join(root, name))
		if !strings.Contains(text, "docs/") { // the pattern takes a second for all files
			continue
		}
		for _, m := range namedPage.FindAllStringSubmatch(text, -1) {
			switch anchors := headings[m[1]]; {
			case anchors == nil:
				t.Errorf("%s names %s, and there is no such page", name, m[1])
			case m[2] != "" && !anchors[m[2][1:]]:
				t.Errorf("%s names %s, which has no such heading", name, m[1]+m[2])
			}
		}
	}
}

// The index names each page of docs once, and the README links to the index.
func TestDocsIndex(t *testing.T) {
	index := readFile(t, filepath.Join(root, "docs/README.md"))
	for _, p := range pages(t) {
		file, inDocs := strings.CutPrefix(p.name, "docs/")
		if inDocs && file != "README.md" && strings.Count(index, "]("+file+")") != 1 {
			t.Errorf("docs/README.md does not name %s once", file)
		}
	}
	if !strings.Contains(readFile(t, filepath.Join(root, "README.md")), "](docs/README.md)") {
		t.Error("README.md does not link to docs/README.md")
	}
}

// exists reports whether there is such a file or folder.
func exists(path string) bool {
	_, err := os.Stat(filepath.Join(root, strings.TrimSuffix(path, "/")))
	return err == nil
}

var code = regexp.MustCompile("`([^`\n]+)`")

var (
	pathForm = regexp.MustCompile(`^(?:locksim/)?([\w.-]+(?:/[\w.-]+)+/?|[a-z]+/)$`)
	nameForm = regexp.MustCompile(`^([a-z]+)\.([A-Z]\w*)(?:[.(].*)?$`)
)

// packages are the folders of the packages that the pages name.
var packages = map[string]string{
	"app": "cmd/locksim/app", "broken": "lock/broken", "checker": "checker", "faults": "faults", "fence": "lock/fence",
	"lock": "lock", "locktest": "lock/locktest", "metrics": "lock/metrics", "scenarios": "scenarios", "sim": "sim",
	"simredis": "sim/redis", "redisserver": "lock/locktest/redisserver", "trace": "sim/trace",
	"reports": "reports", "scene": "reports/scene", "grid": "reports/grid", "reviewpage": "reports/reviewpage",
	"index":    "reports/index",
	"terminal": "reports/terminal", "prose": "internal/prose",
}

// A word in backquotes that looks like a path of the repository, or like an exported name
// of one of its packages, exists.
func TestDocsNames(t *testing.T) {
	exported := map[string]map[string]bool{}
	for name, dir := range packages {
		exported[name] = exportedNames(t, filepath.Join(root, dir))
	}
	for _, p := range pages(t) {
		for _, m := range code.FindAllStringSubmatch(p.prose(), -1) {
			if path := pathForm.FindStringSubmatch(m[1]); path != nil && ours(path[1]) && !exists(path[1]) {
				t.Errorf("%s: there is no %s", p.name, m[1])
			}
			if name := nameForm.FindStringSubmatch(m[1]); name != nil && packages[name[1]] != "" && !exported[name[1]][name[2]] {
				t.Errorf("%s: package %s has no %s", p.name, packages[name[1]], name[2])
			}
		}
	}
}

// ours reports whether a path begins in the root. Other paths are those of modules, of
// results, or of a user's folders.
func ours(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	entries, err := os.ReadDir(root)
	return err == nil && !strings.HasPrefix(path, "reports/out") &&
		slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.IsDir() && e.Name() == first })
}

// exportedNames are the top-level names of a package.
func exportedNames(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s is no package: %v", dir, err)
	}
	names := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range s.Names {
							names[name.Name] = true
						}
					}
				}
			}
		}
	}
	return names
}

// The picture of the folders names only existing folders, and every folder with Go files
// or a folder above it.
func TestDocsPicture(t *testing.T) {
	var picture string
	for _, b := range (page{"docs/README.md", readFile(t, filepath.Join(root, "docs/README.md"))}).blocks() {
		if b.marker == "folders" {
			picture = b.text
		}
	}
	shown := map[string]bool{}
	for line := range strings.Lines(picture) {
		for _, word := range strings.Fields(line) {
			dir, isFolder := strings.CutSuffix(strings.TrimSuffix(word, ","), "/")
			if !isFolder {
				break // the rest is the description
			}
			if shown[dir] {
				t.Errorf("the picture has %s twice", dir)
			}
			shown[dir] = true
			if !exists(dir) {
				t.Errorf("the picture has a folder %s, which does not exist", dir)
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(packageFolders(t))) {
		above := dir
		for !shown[above] && strings.Contains(above, "/") {
			above = filepath.ToSlash(filepath.Dir(above))
		}
		if !shown[above] || above != dir && rooms[above] {
			t.Errorf("the picture leaves out %s", dir)
		}
	}
}

// rooms are the folders whose line in the picture says nothing of the packages within them.
var rooms = map[string]bool{"checker": true, "sim": true, "faults": true, "scenarios": true, "reports": true,
	"lock":        true,
	"cmd/locksim": true, "internal": true, "examples": true}

// packageFolders are the folders with Go files.
func packageFolders(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || name == "out" || strings.HasPrefix(name, ".") && name != ".."):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go"):
			dir, err := filepath.Rel(root, filepath.Dir(path))
			all[filepath.ToSlash(dir)] = true
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
