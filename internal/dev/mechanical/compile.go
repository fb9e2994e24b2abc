package mechanical

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	lua "github.com/yuin/gopher-lua/parse"
)

// Compiler tells whether a package compiles with a mutant, without a run of the go command for each. It is not safe for
// concurrent use.
type Compiler struct {
	path    string // of the package
	fset    *token.FileSet
	parsed  map[string]*ast.File // by name, relative to the root of the checkout
	imports types.Importer
}

// NewCompiler reads the package in a folder, which is relative to the root of the checkout. It is an error if the
// package or what it imports does not compile.
func NewCompiler(ctx context.Context, root, folder string) (*Compiler, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./"+folder)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the source of package %s: %w", folder, err)
	}
	c := &Compiler{fset: token.NewFileSet(), parsed: map[string]*ast.File{}}
	exports := map[string]string{}
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("list the source of package %s: %w", folder, err)
		}
		exports[p.ImportPath] = p.Export
		if p.Dir != filepath.Join(root, filepath.FromSlash(folder)) {
			continue
		}
		c.path = p.ImportPath
		for _, name := range p.GoFiles {
			if c.parsed[folder+"/"+name], err = parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, 0); err != nil {
				return nil, err
			}
		}
	}
	c.imports = importer.ForCompiler(c.fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c, nil
}

// Check type-checks the package with another text of one of its files. A script is parsed. The error is
// the first mistake.
func (c *Compiler) Check(file, text string) error {
	if filepath.Ext(file) == ".lua" {
		_, err := lua.Parse(strings.NewReader(text), file)
		return err
	}
	if c.parsed[file] == nil {
		return fmt.Errorf("%s is not compiled", file)
	}
	return c.CheckAll(map[string]string{file: text})
}

// CheckAll type-checks the package with other texts of some of its files, or with more files. The error is the
// first mistake.
func (c *Compiler) CheckAll(texts map[string]string) error {
	var all []*ast.File
	for file, text := range texts {
		changed, err := parser.ParseFile(c.fset, file, text, 0)
		if err != nil {
			return err
		}
		all = append(all, changed)
	}
	for name, f := range c.parsed {
		if _, ok := texts[name]; !ok {
			all = append(all, f)
		}
	}
	_, err := (&types.Config{Importer: c.imports}).Check(c.path, c.fset, all, nil)
	return err
}
