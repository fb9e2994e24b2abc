package main

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// source has the comments and constants of the types of a module, which reflection does
// not have. It reads a package when it is first needed.
type source struct {
	root     string
	packages map[string]*declarations
}

// declarations are those of a package.
type declarations struct {
	comments  map[string]string   // of types and, as "Type.Field", of fields
	constants map[string][]string // of the string types, in order
}

// of are the declarations of the package of a type; none for a type of another module.
func (s *source) of(t reflect.Type) (*declarations, error) {
	path, ours := strings.CutPrefix(t.PkgPath(), "locksim/")
	if !ours {
		return &declarations{}, nil
	}
	if d := s.packages[path]; d != nil {
		return d, nil
	}
	d := &declarations{map[string]string{}, map[string][]string{}}
	files, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(path), "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := d.read(name, text); err != nil {
			return nil, err
		}
	}
	s.packages[path] = d
	return d, nil
}

func (d *declarations) read(name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				d.readType(group, spec)
			case *ast.ValueSpec:
				if err := d.readConstants(group, spec); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	return nil
}

func (d *declarations) readType(group *ast.GenDecl, spec *ast.TypeSpec) {
	text := spec.Doc
	if text == nil {
		text = group.Doc
	}
	d.comments[spec.Name.Name] = description(spec.Name.Name, text.Text())
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range fields.Fields.List {
		for _, n := range f.Names {
			d.comments[spec.Name.Name+"."+n.Name] = description(n.Name, f.Doc.Text())
		}
	}
}

func (d *declarations) readConstants(group *ast.GenDecl, spec *ast.ValueSpec) error {
	of, named := spec.Type.(*ast.Ident)
	if group.Tok != token.CONST || !named {
		return nil
	}
	for _, v := range spec.Values {
		text, ok := v.(*ast.BasicLit)
		if !ok || text.Kind != token.STRING {
			continue
		}
		value, err := strconv.Unquote(text.Value)
		if err != nil {
			return err
		}
		d.constants[of.Name] = append(d.constants[of.Name], value)
	}
	return nil
}

// description is a doc comment as plain text, without the Go name, which a reader of JSON
// does not know.
func description(name, text string) string {
	links := comment.Parser{
		LookupSym:     func(string, string) bool { return true },
		LookupPackage: func(name string) (string, bool) { return name, true },
	}
	text = strings.TrimSpace(string((&comment.Printer{TextWidth: -1}).Text(links.Parse(text))))
	for _, verb := range []struct{ old, new string }{
		{"is ", ""}, {"are ", ""}, {"says ", ""}, {"lists ", ""}, {"counts the ", "The number of "},
		{"counts ", "The number of "},
	} {
		if rest, ok := strings.CutPrefix(text, name+" "+verb.old); ok {
			rest = verb.new + rest
			first, size := utf8.DecodeRuneInString(rest)
			return string(unicode.ToUpper(first)) + rest[size:]
		}
	}
	return text
}
