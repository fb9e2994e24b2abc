package mechanical

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Chooser is the variable of the environment that chooses a mutant in a program that has many of them. Without it the
// program has no mistake.
const Chooser = "LOCKSIM_MUTANT"

// Schemata are the files of package lock with many mutants in them, by their names relative to the root of the
// checkout, and the mutants that they have. A function with mutants has a copy for each, which it calls if that one is
// chosen; nothing else of it changes. The scripts of a program are replaced when it starts. Mutants outside functions
// and scripts are left out: a constant cannot be chosen when the program runs.
func Schemata(root string, all []Edit) (files map[string]string, has map[string]bool, err error) {
	files, has = map[string]string{}, map[string]bool{}
	byFile := map[string][]Edit{}
	for _, e := range all {
		byFile[e.File] = append(byFile[e.File], e)
	}
	var scripts strings.Builder
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		edits := byFile[file]
		if filepath.Ext(file) == ".lua" {
			for _, e := range edits {
				text, err := e.Mutated(root)
				if err != nil {
					return nil, nil, err
				}
				fmt.Fprintf(&scripts, "\tcase %q:\n\t\t%s = redis.NewScript(%q)\n", e.Name, scriptVariable(file), text)
				has[e.Name] = true
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return nil, nil, err
		}
		if files[file], err = withCopies(root, file, text, edits, has); err != nil {
			return nil, nil, err
		}
	}
	var names strings.Builder
	for _, e := range all {
		if has[e.Name] {
			fmt.Fprintf(&names, ", %q", e.Name)
		}
	}
	files["lock/chosen_mutant.go"] = fmt.Sprintf(choice, Chooser, scripts.String(), names.String())
	return files, has, nil
}

const choice = `package lock

import (
	"os"

	"github.com/redis/go-redis/v9"
)

var (
	chosenMutant = os.Getenv(%q)
	_            = redis.NewScript
)

func init() {
	switch chosenMutant {
%s	}
	switch chosenMutant {
	case ""%s:
	default:
		panic("this program does not have the mutant " + chosenMutant)
	}
}
`

// scriptVariable is the variable of package lock with the script of a file: releaseFairScript for release_fair.lua.
func scriptVariable(file string) string {
	parts := strings.Split(strings.TrimSuffix(filepath.Base(file), ".lua"), "_")
	for i, p := range parts[1:] {
		parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "") + "Script"
}

// withCopies is the text of a Go file with mutants of its functions, whose names it adds to has.
func withCopies(root, file string, text []byte, edits []Edit, has map[string]bool) (string, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	var out, copies strings.Builder
	done := 0 // how much of the text out has
	for _, decl := range parsed.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		call, ok := callOf(f)
		var cases strings.Builder
		for i, e := range edits {
			if !ok || e.offset <= at(f.Body.Lbrace) || e.offset >= at(f.Body.Rbrace) {
				continue
			}
			mutated, err := e.Mutated(root)
			if err != nil {
				return "", err
			}
			end := at(f.End()) + len(e.After) - len(e.Before)
			suffix := fmt.Sprintf("Mutant%d", i)
			fmt.Fprintf(&copies, "\n%s%s%s\n", text[at(f.Pos()):at(f.Name.End())], suffix, mutated[at(f.Name.End()):end])
			fmt.Fprintf(&cases, "\tcase %q:\n\t\t%s\n", e.Name, fmt.Sprintf(call, suffix))
			has[e.Name] = true
		}
		if cases.Len() > 0 {
			out.Write(text[done : at(f.Body.Lbrace)+1])
			fmt.Fprintf(&out, "\n\tswitch chosenMutant {\n%s\t}\n", cases.String())
			done = at(f.Body.Lbrace) + 1
		}
	}
	out.Write(text[done:])
	return out.String() + copies.String(), nil
}

// callOf is a format for the call of a copy of a function, with the arguments of the function, and a return. ok is
// false for a function whose receiver or arguments have no names, and for a generic one.
func callOf(f *ast.FuncDecl) (format string, ok bool) {
	callee := f.Name.Name + "%s"
	if f.Recv != nil {
		if len(f.Recv.List[0].Names) == 0 {
			return "", false
		}
		callee = f.Recv.List[0].Names[0].Name + "." + callee
	}
	var args []string
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			arg := name.Name
			if _, ok := field.Type.(*ast.Ellipsis); ok {
				arg += "..."
			}
			args = append(args, arg)
		}
		if len(field.Names) == 0 {
			return "", false
		}
	}
	if f.Type.TypeParams != nil || slices.Contains(args, "_") || strings.HasPrefix(callee, "_.") {
		return "", false
	}
	callee += "(" + strings.Join(args, ", ") + ")"
	if f.Type.Results == nil {
		return callee + "\n\t\treturn", true
	}
	return "return " + callee, true
}
