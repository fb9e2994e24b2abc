package mechanical

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// list is what [edits] returns.
func (l *lister) list() ([]Edit, error) {
	if filepath.Ext(l.file) == ".lua" {
		l.script()
	} else if err := l.program(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(l.edits, func(a, b Edit) int { return a.offset - b.offset })
	count := map[string]int{}
	for i, e := range l.edits {
		count[e.Name]++
		l.edits[i].Name = fmt.Sprintf("%s-%d", e.Name, count[e.Name])
	}
	return l.edits, nil
}

// lister collects the edits of a file.
type lister struct {
	further  bool // also the edits of [lister.more]
	file     string
	text     []byte
	function string
	edits    []Edit
}

// add adds an edit, but for the number in its name.
func (l *lister) add(what string, from, to int, after string) {
	base := filepath.Base(l.file)
	if filepath.Ext(base) == ".go" {
		base = strings.TrimSuffix(base, ".go")
	}
	parts := []string{base}
	if l.function != "" {
		parts = append(parts, l.function)
	}
	l.edits = append(l.edits, Edit{
		Name: Group + "/" + strings.Join(append(parts, what), "-"),
		File: l.file, Line: 1 + strings.Count(string(l.text[:from]), "\n"), Function: l.function,
		Before: string(l.text[from:to]), After: after, offset: from,
	})
}

// program lists the edits of a Go file.
func (l *lister) program() error { //nolint:funlen // a case for each kind of node
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, l.file, l.text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	edit := func(what string, n ast.Node, after string) { l.add(what, at(n.Pos()), at(n.End()), after) }
	source := func(n ast.Node) string { return string(l.text[at(n.Pos()):at(n.End())]) }
	replace := func(what string, from token.Pos, before, after string) {
		l.add(what, at(from), at(from)+len(before), after)
	}
	contexts := map[string]bool{} // the names that the file gives to contexts
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				if isName(n.Type, "context", "Context") {
					contexts[name.Name] = true
				}
			}
		case *ast.AssignStmt: // of context.WithCancel and its kin
			if call, ok := n.Rhs[0].(*ast.CallExpr); ok && n.Tok == token.DEFINE {
				if f, ok := call.Fun.(*ast.SelectorExpr); ok && isName(f.X, "", "context") {
					contexts[n.Lhs[0].(*ast.Ident).Name] = true
				}
			}
		}
		return true
	})
	isContext := func(x ast.Expr) bool {
		switch x := x.(type) {
		case *ast.Ident:
			return contexts[x.Name]
		case *ast.SelectorExpr:
			return contexts[x.Sel.Name]
		}
		return false
	}
	drop := func(list []ast.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *ast.DeclStmt, *ast.BlockStmt, *ast.EmptyStmt:
			case *ast.AssignStmt:
				if s.Tok != token.DEFINE {
					edit("drop", s, "")
				}
			default:
				edit("drop", s, "")
			}
		}
	}
	negate := func(cond ast.Expr) {
		if cond != nil {
			edit("negate", cond, "!("+source(cond)+")")
		}
	}
	var results []*ast.FieldList // of the functions around a statement, the innermost last
	visit := func(n ast.Node) bool {
		if l.further {
			l.more(n, at)
		}
		switch n := n.(type) {
		case *ast.BlockStmt:
			drop(n.List)
		case *ast.CaseClause:
			drop(n.Body)
		case *ast.CommClause:
			drop(n.Body)
		case *ast.IfStmt:
			negate(n.Cond)
		case *ast.ForStmt:
			negate(n.Cond)
		case *ast.BasicLit:
			if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil && n.Kind == token.INT {
				edit("more", n, strconv.FormatInt(v+1, 10))
				if v == 0 {
					edit("less", n, "(-1)")
				} else {
					edit("less", n, strconv.FormatInt(v-1, 10))
				}
			}
		case *ast.BinaryExpr:
			switch op := n.Op.String(); n.Op {
			case token.LSS, token.GTR:
				replace("bound", n.OpPos, op, op+"=")
			case token.LEQ, token.GEQ:
				replace("bound", n.OpPos, op, op[:1])
			case token.LAND:
				replace("either", n.OpPos, op, "||")
			case token.LOR:
				replace("both", n.OpPos, op, "&&")
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 1 && (f.Sel.Name == "Before" || f.Sel.Name == "After") {
				other := map[string]string{"Before": "After", "After": "Before"}[f.Sel.Name]
				edit("bound", n, fmt.Sprintf("(!%s.%s(%s))", source(f.X), other, source(n.Args[0])))
			}
			for _, arg := range n.Args {
				if isContext(arg) {
					edit("context", arg, "context.Background()")
				}
			}
		case *ast.ReturnStmt:
			of := results[len(results)-1]
			if of == nil || len(n.Results) == 0 || !isName(of.List[len(of.List)-1].Type, "", "error") {
				break
			}
			if last := n.Results[len(n.Results)-1]; len(n.Results) == of.NumFields() && !isName(last, "", "nil") {
				edit("success", last, "nil")
			}
		}
		return true
	}
	for _, decl := range file.Decls {
		l.function = ""
		if f, ok := decl.(*ast.FuncDecl); ok {
			l.function = f.Name.Name
			if f.Recv != nil {
				t := f.Recv.List[0].Type
				if star, ok := t.(*ast.StarExpr); ok {
					t = star.X
				}
				l.function = source(t) + "." + l.function
			}
		}
		if slices.Contains(unconcerned, l.function) {
			continue
		}
		var open []ast.Node
		ast.Inspect(decl, func(n ast.Node) bool {
			if n == nil {
				if last := open[len(open)-1]; isFunction(last) {
					results = results[:len(results)-1]
				}
				open = open[:len(open)-1]
				return true
			}
			open = append(open, n)
			switch f := n.(type) {
			case *ast.FuncDecl:
				results = append(results, f.Type.Results)
			case *ast.FuncLit:
				results = append(results, f.Type.Results)
			}
			return visit(n)
		})
	}
	return nil
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

func isFunction(n ast.Node) bool {
	switch n.(type) {
	case *ast.FuncDecl, *ast.FuncLit:
		return true
	}
	return false
}

// isName reports whether an expression is a name, of a package if that is not empty.
func isName(x ast.Expr, pkg, name string) bool {
	if s, ok := x.(*ast.SelectorExpr); ok {
		return pkg != "" && isName(s.X, "", pkg) && s.Sel.Name == name
	}
	id, ok := x.(*ast.Ident)
	return ok && pkg == "" && id.Name == name
}

var (
	// luaToken finds what may be turned, and what hides it: strings and comments.
	luaToken = regexp.MustCompile(`'[^']*'|--[^\n]*|==|~=|<=|>=|<|>|\band\b|\bor\b`)
	// luaStatement is a statement that is one line, with its comment; not one that declares a name.
	luaStatement = regexp.MustCompile(`(?m)^ *((?:redis\.|return\b|[a-z]+ = ).*)$`)
	turned       = map[string]struct{ what, after string }{
		"==": {"negate", "~="}, "~=": {"negate", "=="},
		"<": {"bound", "<="}, "<=": {"bound", "<"}, ">": {"bound", ">="}, ">=": {"bound", ">"},
		"and": {"either", "or"}, "or": {"both", "and"},
	}
)

// script lists the edits of a Lua file.
func (l *lister) script() {
	for _, at := range luaStatement.FindAllSubmatchIndex(l.text, -1) {
		l.add("drop", at[2], at[3], "")
	}
	for _, at := range luaToken.FindAllIndex(l.text, -1) {
		if t, ok := turned[string(l.text[at[0]:at[1]])]; ok {
			l.add(t.what, at[0], at[1], t.after)
		}
	}
}
