package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mechanicalGroup is the group of the mechanical mutants.
const mechanicalGroup = "mechanical"

// edit is a mechanical mutant: one place of a file of package lock, and what is there instead. The rest of the file
// stays byte for byte.
type edit struct {
	name   string // mechanical/FILE-FUNCTION-WHAT-N, the Nth such place of the function: it does not depend on the rest of the file
	file   string // relative to the root of the module
	line   int
	before string
	after  string

	function string // with its receiver: "lease.Release"; "" outside functions and in a script
	offset   int
}

// breaks says what the mutant changes, in a cell of a table.
func (e edit) breaks() string {
	if e.after == "" {
		return fmt.Sprintf("Line %d lacks %s.", e.line, code(e.before))
	}
	return fmt.Sprintf("Line %d has %s in place of %s.", e.line, code(e.after), code(e.before))
}

// code is source text in a cell of a table, on one line.
func code(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 80 {
		text = strings.ToValidUTF8(text[:77], "") + "…"
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

// mutated is the text of the file with the mistake.
func (e edit) mutated(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
	if err != nil {
		return "", err
	}
	end := e.offset + len(e.before)
	if end > len(text) || string(text[e.offset:end]) != e.before {
		return "", fmt.Errorf("%s: %s has changed since it was read", e.name, e.file)
	}
	return string(text[:e.offset]) + e.after + string(text[end:]), nil
}

// concerned are the files of package lock that have mechanical mutants, with the kinds of lock that are searched for
// them: at most two, the simplest that execute the code. An entry FILE:FUNCTION is about one function. The other
// files have no code that one of the kinds executes.
var concerned = map[string][]string{
	"acquire.go":                      {"single"},
	"acquire.go:Fenced.TryAcquire":    {"fenced"},
	"acquire.go:engine.leave":         {"fair", "single"},
	"acquire.go:engine.acquireClaim":  {"single", "fair"},
	"backoff.go":                      {"single", "redlock"},
	"defaults.go":                     {"single", "redlock"},
	"engine.go":                       {"single", "redlock"},
	"engine.go:engine.extend":         {"watchdog"},
	"engine.go:newEngine":             {"single", "watchdog"},
	"fair.go":                         {"fair", "fair-fenced"},
	"fenced.go":                       {"fenced", "watchdog-fenced"},
	"keys.go":                         {"single", "redlock"},
	"lease.go":                        {"single", "redlock"},
	"lease.go:lease.Extend":           {"single", "watchdog"},
	"lease.go:lease.extend":           {"single", "watchdog"},
	"lease.go:extendKey":              {"watchdog", "redlock-watchdog"},
	"life.go":                         {"single", "watchdog"},
	"notify.go":                       {"single", "fair"},
	"options.go":                      {"single", "redlock"},
	"outcome.go":                      {"single", "redlock"},
	"redlock.go":                      {"redlock"},
	"redlock.go:quorumLease.Extend":   {"redlock-watchdog", "redlock"},
	"redlock_fenced.go":               {"redlock-fenced"},
	"redlock_options.go":              {"redlock", "redlock-watchdog"},
	"redlock_quorum.go":               {"redlock"},
	"redlock_quorum.go:quorum.extend": {"redlock-watchdog", "redlock"},
	"redlock_votes.go":                {"redlock", "redlock-watchdog"},
	"reentrant.go":                    {"reentrant", "reentrant-fenced"},
	"scripts.go":                      {"single", "redlock"},
	"scripts.go:mint.ask":             {"fair", "fair-fenced"},
	"single.go":                       {"single"},
	"subscription.go":                 {"single", "fair"},
	"wait.go":                         {"single"},
	"watchdog.go":                     {"watchdog", "redlock-watchdog"},
	"watchdog_holder.go":              {"watchdog"},
	"watchdog_lease.go":               {"watchdog", "redlock-watchdog"},
	"watchdog_options.go":             {"watchdog", "redlock-watchdog"},
	"extend.lua":                      {"watchdog", "redlock-watchdog"},
	"extend_reentrant.lua":            {"reentrant", "reentrant-fenced"},
	"grant_fair.lua":                  {"fair", "fair-fenced"},
	"grant_fenced.lua":                {"fenced"},
	"grant_quorum_fenced.lua":         {"redlock-fenced"},
	"grant_reentrant.lua":             {"reentrant", "reentrant-fenced"},
	"raise_token.lua":                 {"redlock-fenced"},
	"release.lua":                     {"single", "redlock"},
	"release_fair.lua":                {"fair", "fair-fenced"},
	"release_reentrant.lua":           {"reentrant", "reentrant-fenced"},
}

// kinds are the kinds of lock that are searched for the mutant.
func (e edit) kinds() []string {
	base := filepath.Base(e.file)
	if kinds := concerned[base+":"+e.function]; kinds != nil {
		return kinds
	}
	return concerned[base]
}

// unconcerned are the functions without mutants. No run of a lock depends on them: they decide whether there is a lock
// at all, since a constructor refuses invalid options before any lock exists, or they word an error.
var unconcerned = []string{
	"Backoff.validate", "Options.Validate", "RedlockOptions.Validate", "Waiting.validate", "Waiting.check", "WatchdogOptions.Validate",
	"NodeError.Error", "NodeErrors.Error", "Waiting.String",
}

// listAll lists every mechanical mutant of package lock, in the order of the files and the places in them.
func listAll(root string) ([]edit, error) {
	var files []string
	for name := range concerned {
		if !strings.Contains(name, ":") {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	var all []edit
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, "lock", name))
		if err != nil {
			return nil, err
		}
		edits, err := edits("lock/"+name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, edits...)
	}
	return all, nil
}

// edits lists the mechanical mutants of one file, in the order of their places. For code in Go:
//
//   - drop: a statement is missing; not one that declares a name, since its uses would not compile;
//   - negate: the condition of an if or a for is negated;
//   - more, less: an integer is greater or less by 1;
//   - bound: < is <=, > is >=, and the reverse; so are Before and After;
//   - either, both: && is ||, and the reverse;
//   - context: an argument is context.Background() in place of a context;
//   - success: the last result is nil in place of an error.
//
// For a script: a line is missing, a comparison is turned (== and ~=, and the bounds), and is or.
func edits(file string, text []byte) ([]edit, error) { return (&lister{file: file, text: text}).list() }

// list is what [edits] returns.
func (l *lister) list() ([]edit, error) {
	if filepath.Ext(l.file) == ".lua" {
		l.script()
	} else if err := l.program(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(l.edits, func(a, b edit) int { return a.offset - b.offset })
	count := map[string]int{}
	for i, e := range l.edits {
		count[e.name]++
		l.edits[i].name = fmt.Sprintf("%s-%d", e.name, count[e.name])
	}
	return l.edits, nil
}

// lister collects the edits of a file.
type lister struct {
	further  bool // also the edits of [lister.more]
	file     string
	text     []byte
	function string
	edits    []edit
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
	l.edits = append(l.edits, edit{
		name: mechanicalGroup + "/" + strings.Join(append(parts, what), "-"),
		file: l.file, line: 1 + strings.Count(string(l.text[:from]), "\n"), function: l.function,
		before: string(l.text[from:to]), after: after, offset: from,
	})
}

// program lists the edits of a Go file.
func (l *lister) program() error {
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
