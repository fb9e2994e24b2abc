package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table fits the source: each text is there once, each test exists. The
// mutants themselves are tried by `make mutants`, which takes minutes.
func TestTableFitsTheSource(t *testing.T) {
	root := moduleRoot(t)
	tests := map[string]map[string]bool{}
	seen := map[string]bool{}
	for _, m := range all(groups()) {
		if _, err := m.source(root); err != nil {
			t.Error(err)
		}
		if tests[m.pkg] == nil {
			tests[m.pkg] = testsOf(t, filepath.Join(root, m.pkg))
		}
		if name, _, _ := strings.Cut(m.test, "/"); !tests[m.pkg][name] {
			t.Errorf("mutant %s: %s has no test %s", m.name, m.pkg, name)
		}
		if seen[m.name] || !mutantName.MatchString(m.name) || m.breaks == "" || strings.ContainsAny(m.breaks, "|\n") {
			t.Errorf("mutant %q: its name is taken or odd, or the sentence %q cannot stand in a table", m.name, m.breaks)
		}
		seen[m.name] = true
	}
}

var mutantName = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// Locks, checkers and world have ten mutants each at the least.
func TestTableIsLongEnough(t *testing.T) {
	for _, g := range groups() {
		if len(g.mutants) < 10 {
			t.Errorf("%s: %d mutants, want 10 at least", g.title, len(g.mutants))
		}
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := findRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// testsOf are the names of the test functions of a package.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}

// small is a module with one function and a test that looks at one half of it.
var small = map[string]string{
	"go.mod":      "module small\n\ngo 1.26\n",
	"double.go":   "package small\n\n// Double doubles, up to a hundred.\nfunc Double(n int) int {\n\tif n > 50 {\n\t\treturn 100\n\t}\n\treturn 2 * n\n}\n",
	"d_test.go":   "package small\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Error(Double(2))\n\t}\n}\n",
	"red_test.go": "package small\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestRed(t *testing.T) {\n\tif os.Getenv(\"RED\") != \"\" {\n\t\tt.Error(\"red\")\n\t}\n}\n",
}

var smallMutants = []group{{"Small", []mutant{
	{"three-times", "a double is triple", "double.go", "2 * n", "3 * n", ".", "TestDouble"},
	{"no-limit", "nothing stops at a hundred", "double.go", "return 100", "return 2 * n", ".", "TestDouble"},
	{"nonsense", "it is not Go", "double.go", "2 * n", "2 * m", ".", "TestDouble"},
	{"gone", "its text is not there", "double.go", "4 * n", "5 * n", ".", "TestDouble"},
}}}

// inSmall makes the small module the working directory.
func inSmall(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range small {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// Each fate is told from the others, and the source stays as it is.
func TestFates(t *testing.T) {
	inSmall(t)
	for _, jobs := range []string{"1", "3"} {
		var out, progress strings.Builder
		code := command(t.Context(), []string{"-j", jobs}, smallMutants, &out, &progress)
		want := `Small
  three-times  a double is triple             killed by TestDouble
  no-limit     nothing stops at a hundred     SURVIVED
  nonsense     it is not Go                   does not compile
  gone         its text is not there          out of date

4 mutants: 1 killed, 1 survived, 2 that the table has wrong.
`
		if squeeze(out.String()) != squeeze(want) || code != exitSurvived {
			t.Errorf("exit code %d, got\n%s\nwant\n%s\n%s", code, out.String(), want, progress.String())
		}
	}
	if text, _ := os.ReadFile("double.go"); string(text) != small["double.go"] {
		t.Errorf("the source was changed:\n%s", text)
	}
}

// squeeze makes runs of spaces one.
func squeeze(s string) string { return regexp.MustCompile(` +`).ReplaceAllString(s, " ") }

func TestMarkdownIsStable(t *testing.T) {
	inSmall(t)
	var first, second, progress strings.Builder
	for _, out := range []*strings.Builder{&first, &second} {
		if code := command(t.Context(), []string{"-markdown", "-run", "^three"}, smallMutants, out, &progress); code != exitOK {
			t.Fatalf("exit code %d\n%s", code, progress.String())
		}
	}
	line := "| three-times | `double.go` | a double is triple | `TestDouble` |\n"
	if first.String() != second.String() || !strings.HasSuffix(first.String(), line) || strings.Contains(first.String(), "no-limit") {
		t.Errorf("got\n%s\nthen\n%s", first.String(), second.String())
	}
}

// A named test that fails without a mutant would seem to kill them all.
func TestRedTestsAreNoEvidence(t *testing.T) {
	inSmall(t)
	t.Setenv("RED", "1")
	red := []group{{"Small", []mutant{{"three-times", "a double is triple", "double.go", "2 * n", "3 * n", ".", "TestRed"}}}}
	var out, progress strings.Builder
	if code := command(t.Context(), nil, red, &out, &progress); code != exitSurvived || !strings.Contains(progress.String(), "fail without a mutant") {
		t.Errorf("exit code %d\n%s%s", code, out.String(), progress.String())
	}
}

// A test that is not there kills nothing, and must not seem to pass.
func TestMissingTest(t *testing.T) {
	inSmall(t)
	missing := []group{{"Small", []mutant{{"three-times", "a double is triple", "double.go", "2 * n", "3 * n", ".", "TestNobody"}}}}
	var out, progress strings.Builder
	if code := command(t.Context(), nil, missing, &out, &progress); code != exitSurvived || !strings.Contains(progress.String(), "has no test") {
		t.Errorf("exit code %d\n%s%s", code, out.String(), progress.String())
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-run", "("}, {"-j", "0"}, {"word"}, {"-unknown"}} {
		var out, progress strings.Builder
		if code := command(t.Context(), args, smallMutants, &out, &progress); code != exitUsage || progress.Len() == 0 {
			t.Errorf("%v: exit code %d, message %q", args, code, progress.String())
		}
	}
}
