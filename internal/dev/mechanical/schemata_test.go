package mechanical

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksim/internal/dev/checkout"
)

// lockSource is a small package lock. Its functions have what a copy of a function must keep: results that := does not
// declare anew, deferred changes of them, labels, variadic arguments, functions in functions. No mutant makes a loop
// endless.
const lockSource = `package lock

import (
	"errors"
	"fmt"
)

const size = 4

var errLate = errors.New("late")

type lease struct{ n int }

func (l *lease) renew(n int, rest ...int) (left int, err error) {
	defer func() {
		if err != nil {
			left = -1
		}
	}()
	left, err = l.take(n)
next:
	for _, r := range rest {
		for i := 0; i < l.n; i++ {
			if r == i || r > size {
				continue next
			}
			left += r
		}
	}
	return left, err
}

func (l *lease) take(n int) (int, error) {
	if n > l.n {
		return n, errLate
	}
	l.n -= n
	add := func(m int) { l.n += m }
	add(1)
	return l.n, nil
}

func (lease) constant() int { return 7 }

func (l *lease) clear() {
	l.n = 0
}

func Print() {
	l := lease{3}
	for i := range 5 {
		left, err := l.renew(i, 1, 2, i, 5)
		fmt.Print(left, err, l, l.constant(), " ")
	}
	l.clear()
	fmt.Print(l)
}
`

// The program with all mutants does what the one with a single mutant does, if that is chosen, and what the one without
// a mistake does, if none is.
func TestSchemata(t *testing.T) {
	root := t.TempDir()
	write := func(file, text string) {
		t.Helper()
		file = filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("lock/lease.go", lockSource)
	list, err := edits("lock/lease.go", []byte(lockSource))
	if err != nil {
		t.Fatal(err)
	}
	// A program with a package for each mutant that compiles by itself, to have one compilation.
	write("go.mod", "module locksim\n\ngo 1.26\n\nrequire github.com/redis/go-redis/v9 v9.0.0\nreplace "+
		"github.com/redis/go-redis/v9 => ./redis\n")
	write("redis/go.mod", "module github.com/redis/go-redis/v9\n")
	write("redis/redis.go", "package redis\n\nfunc NewScript(string) int { return 0 }\n")
	compile, err := NewCompiler(t.Context(), mustRoot(t), "lock")
	if err != nil {
		t.Fatal(err)
	}
	clear(compile.parsed) // only the imports are those of the real package
	var all []Edit
	imports, cases := "\tm0 \"locksim/m0\"\n", "\tcase \"\":\n\t\tm0.Print()\n"
	write("m0/lease.go", lockSource)
	for _, e := range list {
		text, err := e.Mutated(root)
		if err != nil {
			t.Fatal(err)
		}
		if compile.CheckAll(map[string]string{e.File: text}) != nil {
			continue
		}
		all = append(all, e)
		name := fmt.Sprintf("m%d", len(all))
		write(name+"/lease.go", text)
		imports += fmt.Sprintf("\t%s \"locksim/%s\"\n", name, name)
		cases += fmt.Sprintf("\tcase %q:\n\t\t%s.Print()\n", e.Name, name)
	}
	texts, has, err := Schemata(root, all)
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range texts {
		write(file, text)
	}
	const program = "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\n\t\"locksim/lock\"\n%s)\n\nfunc main() " +
		"{\n\tlock.Print()\n\tfmt.Println()\n\tswitch os.Getenv(%q) {\n%s\t}\n}\n"
	write("main.go", fmt.Sprintf(program, imports, Chooser, cases))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "program", ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(name string) (chosen, single string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "program"))
		cmd.Env = append(os.Environ(), Chooser+"="+name)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		chosen, single, _ = strings.Cut(string(out), "\n")
		return chosen, single
	}
	right, want := run("")
	if right != want {
		t.Errorf("without a mutant the program prints\n%s\nwant\n%s", right, want)
	}
	apart, differ := 0, 0
	for _, e := range all {
		if !has[e.Name] {
			apart++
			continue
		}
		got, want := run(e.Name)
		if got != want {
			t.Errorf("%s: the program prints\n%s\nwant\n%s", e.Name, got, want)
		}
		if got != right {
			differ++
		}
	}
	// The constant of the package and the function without a name for its receiver: two edits each.
	if apart != 4 || differ < 20 {
		t.Errorf("%d mutants are left out, %d print something else than the right program; want 4, and 20 at least", apart,
			differ)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "program"))
	cmd.Env = append(os.Environ(), Chooser+"=mechanical/other")
	if out, err := cmd.CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "does not have the mutant mechanical/other") {
		t.Errorf("a mutant that the program does not have: %v\n%s", err, out)
	}
}

func mustRoot(t *testing.T) string {
	t.Helper()
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// The program with the mutants of the sample compiles, and has nearly all.
func TestSchemataOfTheSample(t *testing.T) {
	root := mustRoot(t)
	all, err := List(root)
	if err != nil {
		t.Fatal(err)
	}
	sample, err := ReadSample(root)
	if err != nil {
		t.Fatal(err)
	}
	drawn := slices.DeleteFunc(all, func(e Edit) bool {
		return !slices.ContainsFunc(sample.Mutants, func(u Tested) bool { return u.Killed && u.Is(e) })
	})
	texts, has, err := Schemata(root, drawn)
	if err != nil {
		t.Fatal(err)
	}
	compile, err := NewCompiler(t.Context(), root, "lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := compile.CheckAll(texts); err != nil {
		t.Error(err)
	}
	if len(has) < len(drawn)*95/100 {
		t.Errorf("the program has %d of %d mutants", len(has), len(drawn))
	}
}
