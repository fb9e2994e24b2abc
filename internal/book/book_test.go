package book_test

import (
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"locksim/internal/book"
)

type result struct {
	Name   string
	Runs   int
	Commit string
}

func byName(r result) string { return r.Name }

// Of the results with one key the latest counts, also when the book is opened again after an interruption in the middle
// of a line. A book that is read leaves its file as it is.
func TestLatest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.jsonl")
	if _, err := book.Read(file, byName); err == nil {
		t.Error("no error for a book that is not there")
	}
	const before = `{"Name":"a","Runs":1}` + "\n" + `{"Name":"b","Runs":2}` + "\n" + `{"Name":"a","Ru`
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(b *book.Book[string, result], want map[string]int, all int) {
		t.Helper()
		have := map[string]int{}
		for _, name := range []string{"a", "b", "c"} {
			if r, ok := b.Latest(name); ok {
				have[name] = r.Runs
			}
		}
		if !maps.Equal(have, want) || len(b.All()) != all {
			t.Errorf("%v of %d, want %v of %d", have, len(b.All()), want, all)
		}
	}
	read, err := book.Read(file, byName)
	if err != nil {
		t.Fatal(err)
	}
	check(read, map[string]int{"a": 1, "b": 2}, 2)
	if err := errors.Join(read.Add(result{Name: "c", Runs: 9}), read.Close()); err != nil {
		t.Error(err)
	}
	check(read, map[string]int{"a": 1, "b": 2, "c": 9}, 3)
	if text, err := os.ReadFile(file); string(text) != before {
		t.Errorf("a book that was read has changed its file: %q, %v", text, err)
	}
	for range 2 { // the second time from the file
		open, err := book.Open(file, byName)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := open.Latest("c"); !ok {
			for _, r := range []result{{Name: "a", Runs: 3}, {Name: "c", Runs: 4}} {
				if err := open.Add(r); err != nil {
					t.Error(err)
				}
			}
		}
		check(open, map[string]int{"a": 3, "b": 2, "c": 4}, 4)
		if err := open.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A job that fails does not stop the others, no more than some are done at a time, and an error is told once, in the
// order of the jobs.
func TestDo(t *testing.T) {
	var now, most, done atomic.Int32
	same := errors.New("the build failed")
	var jobs []func() error
	for i := range 20 {
		jobs = append(jobs, func() error {
			n := now.Add(1)
			defer now.Add(-1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			done.Add(1)
			switch i {
			case 0, 5:
				return same
			case 3:
				return errors.New("the third")
			}
			return nil
		})
	}
	err := book.Do(3, jobs)
	if err == nil || err.Error() != "the build failed\nthe third" || !errors.Is(err, same) {
		t.Errorf("the error is %v", err)
	}
	if done.Load() != 20 || most.Load() > 3 {
		t.Errorf("%d jobs were done, %d at a time", done.Load(), most.Load())
	}
	if err := book.Do(3, nil); err != nil {
		t.Error(err)
	}
}

// git runs git in the working folder.
func git(t *testing.T, args ...string) {
	t.Helper()
	args = append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"}, args...)
	if _, _, err := book.Output(exec.Command("git", args...)); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func now(t *testing.T) *book.Checkout {
	t.Helper()
	c, err := book.ThisCheckout()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A result is older than the checkout if its commit is another one, and more has changed since than what the commands
// with a book write; a result of changed files is that of no commit. The commands run in a folder below the root.
func TestAge(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	git(t, "init", "-q")
	write(t, "lock.go", "package lock")
	write(t, "examples/groundtruth/results.jsonl", "")
	git(t, "add", ".")
	git(t, "commit", "-q", "-m", "first")
	t.Chdir("examples/groundtruth")
	first := now(t)
	if book.Dirty(first.State) || first.State != first.Head {
		t.Errorf("the state is %+v", first)
	}
	write(t, "results.jsonl", "{}\n")
	write(t, "../../reports/GROUNDTRUTH.md", "one")
	git(t, "add", "../..")
	if c := now(t); c.State != first.Head {
		t.Errorf("what a command writes is a change: %+v", c)
	}
	git(t, "commit", "-q", "-m", "results")
	second := now(t)
	write(t, "../../lock.go", "package lock // changed")
	changed := now(t)
	if !book.Dirty(changed.State) || changed.State != second.Head+"-dirty" {
		t.Errorf("a changed file is no change: %+v", changed)
	}
	git(t, "commit", "-q", "-a", "-m", "changed")
	third := now(t)
	for _, c := range []struct {
		made, at *book.Checkout
		same     bool
	}{
		{first, first, true}, {first, second, true}, {second, third, false}, {third, third, true}, {changed, third, false},
		{second, changed, false},
	} {
		if got, err := c.at.Same(c.made.State); got != c.same || err != nil {
			t.Errorf("a result of %s is what %s makes: %v, %v", c.made.State, c.at.State, got, err)
		}
	}
	states := []string{first.State, second.State, third.State, changed.State, "0123456", ""}
	age, err := third.Age(states)
	if want := (book.Age{Head: third.Head, All: 6, Older: 3, Dirty: 2}); age != want || err != nil {
		t.Errorf("%+v, want %+v: %v", age, want, err)
	}
	if text := age.String(); !strings.Contains(text, "6 results: 3 are of an older commit") {
		t.Error(text)
	}
	age, err = second.Age(states[:2])
	if age.Older+age.Dirty > 0 || err != nil || !strings.Contains(age.String(), "none") {
		t.Errorf("%+v, %v", age, err)
	}
}

// A book keeps any result, and with -anew those that this checkout would make. With -stored it leaves its file as it
// is.
func TestKept(t *testing.T) {
	t.Chdir(t.TempDir())
	git(t, "init", "-q")
	write(t, "lock.go", "package lock")
	git(t, "add", ".")
	git(t, "commit", "-q", "-m", "first")
	first := now(t).State
	write(t, "lock.go", "package lock // changed")
	git(t, "commit", "-q", "-a", "-m", "second")
	second := now(t).State
	lines := `{"Name":"old","Commit":"` + first + `"}` + "\n" + `{"Name":"new","Commit":"` + second + `"}` + "\n" +
		`{"Name":"dirty","Commit":"` + second + `-dirty"}` + "\n"
	write(t, "results.jsonl", lines)
	for _, c := range []struct {
		choices book.Choices
		want    string
	}{
		{book.Choices{Journal: "results.jsonl"}, "old new dirty"},
		{book.Choices{Journal: "results.jsonl", Anew: true}, "new"},
		{book.Choices{Journal: "results.jsonl", Stored: true}, "old new dirty"},
		{book.Choices{Anew: true}, ""},
	} {
		b, err := book.Chosen(&c.choices, byName, func(r result) string { return r.Commit })
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, name := range []string{"old", "new", "dirty", "missing"} {
			if _, ok, err := b.Kept(name); err != nil {
				t.Error(err)
			} else if ok {
				kept = append(kept, name)
			}
		}
		if got := strings.Join(kept, " "); got != c.want {
			t.Errorf("%+v keeps %q, want %q", c.choices, got, c.want)
		}
		if err := errors.Join(b.Add(result{Name: "added", Commit: second}), b.Close()); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile("results.jsonl")
		if stored := string(text) != lines; stored != (c.choices.Journal != "" && !c.choices.Stored) || err != nil {
			t.Errorf("%+v stores: %v, %v", c.choices, stored, err)
		}
		write(t, "results.jsonl", lines)
	}
}

// A program is built once for all who ask for it, and its build is in one result. One whose build fails is not built
// again, and does not hinder others.
func TestBuilder(t *testing.T) {
	module := t.TempDir()
	write(t, filepath.Join(module, "go.mod"), "module hello\n\ngo 1.26\n")
	write(t, filepath.Join(module, "main.go"), "package main\n\nimport \"os\"\n\nfunc main() { "+
		"println(\"hidden\"); os.Stdout.WriteString(`{\"Runs\":7}`); os.Exit(len(os.Args) - 1) }\n")
	b := &book.Builder{Dir: t.TempDir()}
	var builds, ended atomic.Int32
	how := func(target string) func(file string) (book.Build, error) {
		return func(string) (book.Build, error) {
			builds.Add(1)
			return book.Build{Folder: module, Target: target, Built: func() error { ended.Add(1); return nil }}, nil
		}
	}
	var all sync.WaitGroup
	var took atomic.Int32
	for range 8 {
		all.Go(func() {
			p, err := b.Program("hello", how("."))
			if err != nil {
				t.Error(err)
				return
			}
			if p.Took() > 0 {
				took.Add(1)
			}
		})
	}
	all.Wait()
	if builds.Load() != 1 || ended.Load() != 1 || took.Load() != 1 || b.Took() == 0 {
		t.Errorf("%d builds, %d that ended, %d results with one, %v", builds.Load(), ended.Load(), took.Load(), b.Took())
	}
	for range 2 {
		if _, err := b.Program("missing", how("./nothing")); err == nil || !strings.Contains(err.Error(), "build missing") {
			t.Errorf("the build of nothing: %v", err)
		}
	}
	if builds.Load() != 2 {
		t.Errorf("%d builds", builds.Load())
	}
	p, err := b.Program("hello", how("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"1"}} { // the exit codes 0 and 1
		var r result
		if cpu, err := book.Ask(&r, p.File, args...); r.Runs != 7 || cpu == 0 || err != nil {
			t.Errorf("%v: %+v, %v, %v", args, r, cpu, err)
		}
	}
	var r result
	_, err = book.Ask(&r, p.File, "1", "2")
	if code, ok := errors.AsType[*exec.ExitError](err); !ok || code.ExitCode() != 2 || !strings.Contains(err.Error(),
		"hidden") {
		t.Errorf("the exit code 2 comes with %v", err)
	}
	if err := book.Call(p.File, "go run ./cmd hello", []string{"1", "2", "3"}); !errors.Is(err, book.Ended{Code: 3}) {
		t.Errorf("a command of locksim ends with %v", err)
	}
	if err := book.Call(p.File+"-missing", "", nil); err == nil || errors.As(err, new(book.Ended)) {
		t.Errorf("a program that is not there ends with %v", err)
	}
}

// Pages that are no more are removed, and what differs from the pages is told.
func TestPublish(t *testing.T) {
	root := t.TempDir()
	pages := map[string][]byte{"TABLE.md": []byte("table"), "table/one.md": []byte("one"), "table/two/2.yaml": []byte("2")}
	differ := func(want ...string) {
		t.Helper()
		if have, err := book.Differ(root, "table", pages); !slices.Equal(have, want) || err != nil {
			t.Errorf("%v differ, want %v: %v", have, want, err)
		}
	}
	differ("TABLE.md", "table/one.md", "table/two/2.yaml")
	write(t, filepath.Join(root, "table/old.md"), "old")
	write(t, filepath.Join(root, "OTHER.md"), "other")
	differ("TABLE.md", "table/old.md", "table/one.md", "table/two/2.yaml")
	if err := book.Publish(root, "table", pages); err != nil {
		t.Fatal(err)
	}
	differ()
	write(t, filepath.Join(root, "table/one.md"), "changed")
	differ("table/one.md")
	if _, err := os.Stat(filepath.Join(root, "OTHER.md")); err != nil {
		t.Error(err)
	}
}

// Flags that contradict each other are refused.
func TestFlags(t *testing.T) {
	for line, ok := range map[string]bool{
		"": true, "-table": true, "-table -stored": true, "-table -anew -journal x": true,
		"-table -stored -anew": false, "-stored": false, "-anew": false,
	} {
		flags := flag.NewFlagSet("cmd", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		c := book.Flags(flags, "results.jsonl")
		if err := flags.Parse(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
		if err := c.Check(); (err == nil) != ok {
			t.Errorf("%q: %v", line, err)
		}
	}
}
