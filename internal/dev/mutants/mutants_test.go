package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"locksim/internal/dev/checkout"
)

// In a script, mutants is the test program.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mutants": main})
}

func TestScripts(t *testing.T) {
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"await":   await,
			"refuses": refuses,
			"empty":   empty,
		},
	})
}

// exits CODE COMMAND ARGS… runs a command that must end with that exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError) //nolint:errorlint // testscript returns what exec returns
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		code = exit.ExitCode()
	}
	if args[0] != strconv.Itoa(code) {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// await FILE waits until a file exists.
func await(ts *testscript.TestScript, _ bool, args []string) {
	until(ts, args[0]+" is not there", func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// refuses FILE waits until the address in a file refuses connections.
func refuses(ts *testscript.TestScript, _ bool, args []string) {
	until(ts, "a process still listens", func() bool {
		conn, err := net.Dial("tcp", ts.ReadFile(args[0]))
		if err == nil {
			ts.Check(conn.Close())
		}
		return err != nil
	})
}

// until waits for a condition, for longer than a slow machine needs.
func until(ts *testscript.TestScript, complaint string, holds func() bool) {
	for end := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s after five minutes", complaint)
		}
	}
}

// empty DIR fails if a directory is not empty.
func empty(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, e := range entries {
		ts.Fatalf("%s is in %s", e.Name(), args[0])
	}
}

// Each patch fits the source, and names a test that exists. make mutants tries the mutants
// themselves, which takes minutes.
func TestPatchesFitTheSource(t *testing.T) {
	root, mutants := committed(t)
	tests := map[string]map[string]bool{}
	groups, names := map[string]int{}, map[string]string{}
	for _, m := range mutants {
		if _, err := m.Mutated(root); err != nil {
			t.Error(err)
		}
		if tests[m.pkg] == nil {
			tests[m.pkg] = testsOf(t, filepath.Join(root, m.pkg))
		}
		if name, _, _ := strings.Cut(m.test, "/"); !tests[m.pkg][name] {
			t.Error(m.Errorf(2, "%s has no test %s", m.pkg, name))
		}
		if !sentence.MatchString(m.Breaks) {
			t.Error(m.Errorf(1, "%q is no sentence", m.Breaks))
		}
		name := path.Base(m.Name)
		if other, taken := names[name]; taken || !mutantName.MatchString(m.Name) {
			t.Errorf("%s: its name is odd, or taken by %s", m.Path, other)
		}
		names[name] = m.Path
		groups[m.Group()]++
	}
	for _, g := range []string{"checker", "driver", "evidence", "lock", "world"} {
		if groups[g] < 10 {
			t.Errorf("%s: %d mutants, want 10 at least", g, groups[g])
		}
	}
}

var (
	sentence   = regexp.MustCompile(`^[A-Z].* .*\.$`)
	mutantName = regexp.MustCompile(`^[a-z]+/[a-z]+(-[a-z]+)*$`)
)

// committed are the root of the module and its mutants.
func committed(t *testing.T) (root string, mutants []mutant) {
	t.Helper()
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	mutants, err = readMutants(root, regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	return root, mutants
}

// The committed table has every mutant, and each is killed.
func TestReportIsUpToDate(t *testing.T) {
	root, mutants := committed(t)
	var all []result
	for _, m := range mutants {
		all = append(all, result{m, killed, ""})
	}
	kept, err := os.ReadFile(filepath.Join(root, "reports", "MUTANTS.md"))
	if err != nil || string(kept) != markdownText(all) {
		t.Errorf("reports/MUTANTS.md is out of date, run make mutants: %v\n%s", err,
			cmp.Diff(markdownText(all), string(kept)))
	}
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
