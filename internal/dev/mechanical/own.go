package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"locksim/internal/dev/gotest"
)

// ownTests asks what the tests of a package make of a sample of its mechanical mutants.
type ownTests struct {
	folder string // of the package, relative to the root of the module
	size   int
	seed   uint64
}

// unseen has a line "FOLDER/NAME `CODE`: REASON" for each mutant of a package that no run can show, with the code that it
// changes: a mutant of that name after a change of the function may be another. It is relative to the root of the module.
const unseen = "internal/dev/reach/unseen.txt"

// afterCode separates the name and the code of a mutant from the reason.
const afterCode = "`: "

// run draws the sample, runs the tests with each of its mutants, and writes those that they do not detect to stdout.
func (o ownTests) run(ctx context.Context, root, dir string, stdout, progress io.Writer) error {
	o.folder = path.Clean(filepath.ToSlash(o.folder))
	reasons, err := readReasons(root, unseen, afterCode)
	if err != nil {
		return err
	}
	drawn, possible, err := o.draw(ctx, root)
	if err != nil {
		return err
	}
	shop := gotest.Workshop{Root: root, Dir: dir, Limit: testLimit}
	if t, err := shop.Run(ctx, "./"+o.folder, ".", unitTests...); err != nil || !t.Passed {
		return fmt.Errorf("the tests of %s without a mutant: %w\n%s", o.folder, cmp.Or(err, errors.New("they fail")), t.Output)
	}
	passed := 0
	for i, e := range drawn {
		u, err := unitTestOf(ctx, shop, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		_, _ = fmt.Fprintf(progress, "%d of %d: %s: killed: %v %s\n", i+1, len(drawn), e.name, u.Killed, u.By)
		if u.Killed {
			continue
		}
		passed++
		name := o.nameOf(e)
		if _, err := fmt.Fprintf(stdout, "%s: %s %s\n", name, e.breaks(), reasons[strings.TrimSuffix(name, "`")]); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(stdout, "%s: of %d mutants %d were tried, and the tests pass with %d.\n", o.folder, possible, len(drawn), passed)
	return err
}

// nameOf is the name of a mutant in the file unseen.
func (o ownTests) nameOf(e edit) string {
	return o.folder + "/" + strings.TrimPrefix(e.name, mechanicalGroup+"/") + " " + code(e.before)
}

// draw draws mutants of the package that compile, and tells how many there are.
func (o ownTests) draw(ctx context.Context, root string) (drawn []edit, possible int, err error) {
	compile, err := newCompiler(ctx, root, o.folder)
	if err != nil {
		return nil, 0, err
	}
	var files []string
	for file := range compile.parsed {
		files = append(files, file)
	}
	slices.Sort(files)
	var all []edit
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return nil, 0, err
		}
		edits, err := (&lister{file: file, text: text, further: true}).list()
		if err != nil {
			return nil, 0, err
		}
		all = append(all, edits...)
	}
	var failure error
	drawn, _ = sample(all, o.size, o.seed, func(e edit) bool {
		text, err := e.mutated(root)
		failure = errors.Join(failure, err)
		return err == nil && compile.check(e.file, text) == nil
	})
	return drawn, len(all), failure
}

// more adds edits of an expression that the sample of package lock does not have:
//
//   - equal: == is !=, and the reverse;
//   - sign, factor: + is -, * is /, and the reverse;
//   - extreme: min is max, and the reverse;
//   - first: cmp.Or is its first argument;
//   - lack: a composite literal, or a case, lacks an element.
func (l *lister) more(n ast.Node, at func(token.Pos) int) {
	turned := map[token.Token]struct{ what, after string }{
		token.EQL: {"equal", "!="}, token.NEQ: {"equal", "=="}, token.ADD: {"sign", "-"}, token.SUB: {"sign", "+"},
		token.MUL: {"factor", "/"}, token.QUO: {"factor", "*"},
	}
	lack := func(list []ast.Expr) {
		for i, x := range list {
			switch {
			case i+1 < len(list):
				l.add("lack", at(x.Pos()), at(list[i+1].Pos()), "")
			case i > 0:
				l.add("lack", at(list[i-1].End()), at(x.End()), "")
			}
		}
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if t, ok := turned[n.Op]; ok {
			l.add(t.what, at(n.OpPos), at(n.OpPos)+len(n.Op.String()), t.after)
		}
	case *ast.CompositeLit:
		lack(n.Elts)
	case *ast.CaseClause:
		lack(n.List)
	case *ast.CallExpr:
		switch {
		case isName(n.Fun, "", "min"):
			l.add("extreme", at(n.Fun.Pos()), at(n.Fun.End()), "max")
		case isName(n.Fun, "", "max"):
			l.add("extreme", at(n.Fun.Pos()), at(n.Fun.End()), "min")
		case isName(n.Fun, "cmp", "Or"):
			first := n.Args[0]
			l.add("first", at(n.Pos()), at(n.End()), string(l.text[at(first.Pos()):at(first.End())]))
		}
	}
}
