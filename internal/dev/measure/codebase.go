package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sized is a thing with its size.
type sized struct {
	name string
	size int
}

// codebase is what was counted of a folder. Everything but testLines is of files that are no tests.
type codebase struct {
	folder     string
	files      []sized // their lines
	testLines  int
	packages   []sized // their files
	exported   map[string]int
	functions  []sized // their lines
	methods    map[string]int
	structs    []sized // their fields
	interfaces []sized // their methods, with those of interfaces of the same package that they embed
	long       int     // lines of more than 120 columns, also of tests
	code       int     // lines with code
	comments   int     // lines with a comment alone
	plain      int     // unexported functions
	commented  int     // those with a comment
	repeated   int     // comments of up to nine words on unexported functions that repeat the name
}

// columns is how long a line may be.
const columns = 120

func read(folder string) (*codebase, error) {
	c := &codebase{folder: folder, exported: map[string]int{}, methods: map[string]int{}}
	byFolder := map[string]int{}
	declared := map[string]*ast.InterfaceType{} // by the folder and the name
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != folder && (name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		within, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		return c.add(filepath.ToSlash(within), text, byFolder, declared)
	})
	if err != nil {
		return nil, err
	}
	for dir, n := range byFolder {
		c.packages = append(c.packages, sized{dir, n})
	}
	for name, i := range declared {
		c.interfaces = append(c.interfaces, sized{name, methodsOf(i)})
	}
	return c, nil
}

// add counts a file.
func (c *codebase) add(path string, text []byte, byFolder map[string]int,
	declared map[string]*ast.InterfaceType) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments)
	if err != nil {
		return fmt.Errorf("%s: %w", c.folder, err)
	}
	if ast.IsGenerated(file) {
		return nil
	}
	lines := bytes.Count(text, []byte("\n"))
	for line := range bytes.Lines(text) {
		if utf8.RuneCount(bytes.TrimRight(line, "\n")) > columns {
			c.long++
		}
	}
	if strings.HasSuffix(path, "_test.go") {
		c.testLines += lines
		return nil
	}
	dir := filepath.ToSlash(filepath.Dir(path))
	c.files = append(c.files, sized{path, lines})
	byFolder[dir]++
	c.countLines(text, set, file)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			c.function(set, dir, d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				c.declaration(dir, s, declared)
			}
		}
	}
	return nil
}

// countLines counts the lines with code and those that are comments.
func (c *codebase) countLines(text []byte, set *token.FileSet, file *ast.File) {
	comment := map[int]bool{}
	for _, group := range file.Comments {
		for _, one := range group.List {
			for n := set.Position(one.Pos()).Line; n <= set.Position(one.End()).Line; n++ {
				comment[n] = true
			}
		}
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		switch trimmed := bytes.TrimSpace(line); {
		case len(trimmed) == 0:
		case comment[n] && (bytes.HasPrefix(trimmed, []byte("//")) || bytes.HasPrefix(trimmed, []byte("/*"))):
			c.comments++
		default:
			c.code++
		}
	}
}

func (c *codebase) function(set *token.FileSet, dir string, d *ast.FuncDecl) {
	name := d.Name.Name
	if d.Recv != nil && len(d.Recv.List) == 1 {
		of := receiver(d.Recv.List[0].Type)
		c.methods[dir+"."+of]++
		name = of + "." + name
	} else if d.Name.IsExported() {
		c.exported[dir]++
	}
	c.functions = append(c.functions, sized{dir + "." + name, set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1})
	if d.Name.IsExported() {
		return
	}
	c.plain++
	if d.Doc == nil {
		return
	}
	c.commented++
	if repeats(d.Name.Name, d.Doc.Text()) {
		c.repeated++
	}
}

func (c *codebase) declaration(dir string, s ast.Spec, declared map[string]*ast.InterfaceType) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			c.exported[dir]++
		}
		switch t := s.Type.(type) {
		case *ast.StructType:
			c.structs = append(c.structs, sized{dir + "." + s.Name.Name, t.Fields.NumFields()})
		case *ast.InterfaceType:
			declared[dir+"."+s.Name.Name] = t
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() {
				c.exported[dir]++
			}
		}
	}
}

// receiver is the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// methodsOf are the methods that an interface writes down itself, and the interfaces that it embeds, each once: what a
// reader has to hold.
func methodsOf(i *ast.InterfaceType) int {
	n := 0
	for _, f := range i.Methods.List {
		n += max(1, len(f.Names))
	}
	return n
}

// repeats reports whether a comment of at most nine words has every word of the name.
func repeats(name, comment string) bool {
	words := strings.Fields(strings.ToLower(comment))
	if len(words) == 0 || len(words) > 9 {
		return false
	}
	rest := strings.Join(words[1:], " ") // the first is the name itself
	for _, part := range parts(name) {
		if !strings.Contains(rest, stem(part)) {
			return false
		}
	}
	return true
}

// stem is a word without the ending of its plural or of its third person.
func stem(word string) string {
	if len(word) > 3 {
		return strings.TrimSuffix(word, "s")
	}
	return word
}

// parts are the words of a name in camel case.
func parts(name string) []string {
	var out []string
	var word strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			out = append(out, word.String())
			word.Reset()
		}
		word.WriteRune(unicode.ToLower(r))
	}
	return append(out, word.String())
}
