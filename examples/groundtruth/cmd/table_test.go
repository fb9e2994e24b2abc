package main

import (
	"strings"
	"testing"

	"locksim/examples/groundtruth"
	"locksim/internal/book"
)

// A cell says what each first seed came to; a run without a verdict is neither a find nor a pass.
func TestOutcome(t *testing.T) {
	is := func(found, unjudged bool, runs int) result {
		return result{Found: found, NoVerdict: unjudged, Runs: runs, CPU: 1.5}
	}
	for want, checks := range map[string][]result{
		"not measured": nil,
		"found in 3 runs, 1.5 s": {is(true, false, 9), is(true, false, 3),
			is(true, false, 1)},
		"found without a fault, 1.5 s": {is(true, false, 0), is(true, false, 0),
			is(true, false, 0)},
		"passes in 2000 runs, 1.5 s": {is(false, false, 2000), is(false, false, 2000),
			is(false, false, 1900)},
		"passes in 7 runs, 1.5 s, of 1 first seed": {is(false, false, 7)},
		"found from 1 of 3 seeds in 5 runs, 1.5 s": {is(true, false, 1), is(false, false, 5),
			is(false, false, 5)},
		"passes in 5 runs, 1.5 s; **no verdict** from 1 of 3 seeds": {is(false, true, 1), is(false, false, 5),
			is(false, false, 5)},
	} {
		if got := outcome(checks, "found"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A result of a program that no commit has, or of too few schedules, is made anew.
func TestLasts(t *testing.T) {
	for name, c := range map[string]struct {
		r    result
		want bool
	}{
		"found":       {result{Program: "p", Commit: "c", Found: true, Runs: 3}, true},
		"passed":      {result{Program: "p", Commit: "c", Runs: 2000}, true},
		"out of time": {result{Program: "p", Commit: "c", Runs: 700, OutOfTime: true}, true},
		"few runs":    {result{Program: "p", Commit: "c", Runs: 400}, false},
		"dirty":       {result{Program: "p", Commit: "c-dirty", Found: true}, false},
		"restored":    {result{Commit: "c", Found: true}, false},
	} {
		if got := c.r.lasts(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Lines without code, and imports, are no glue.
func TestLinesOf(t *testing.T) {
	const text = `// Command c is one.
package main

import "os"

import (
	"fmt"
)

// main says it.
func main() {
	fmt.Println(os.Args) // all

	/* nothing
	   here */
}
`
	if n, err := linesOf([]byte(text)); n != 3 || err != nil {
		t.Errorf("%d lines, want 3: %v", n, err)
	}
}

// The page shows the text of a check that found something, whichever it was.
func TestShown(t *testing.T) {
	passed, found := result{Text: "passed"}, result{Text: "found", Found: true}
	for want, checks := range map[string][]result{"found": {passed, found, found}, "passed": {passed, passed}} {
		if got, ok := shown(checks); !ok || got.Text != want {
			t.Errorf("%v: %q, %v; want %s", checks, got.Text, ok, want)
		}
	}
	if _, ok := shown(nil); ok {
		t.Error("no check is shown")
	}
}

// A find by another bug, a feature request, and a bug of our own do not count as a published bug that is found.
func TestStrictCounts(t *testing.T) {
	none, err := book.Open("", result.key)
	if err != nil {
		t.Fatal(err)
	}
	m := &measurement{results: none}
	var bugs []groundtruth.Bug
	for _, id := range []string{"redsync-38", "redsync-71", "redsync-164", "redsync-late", "etcd-22123", "redislock-79"} {
		b, ok := groundtruth.Find(id)
		if !ok {
			t.Fatal(id)
		}
		bugs = append(bugs, b)
		r := result{Bug: id, Version: b.Has, Seed: groundtruth.FirstSeeds[0], Found: id != "redislock-79"}
		if err := none.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir("..")
	page, err := m.page(bugs)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| published bugs | 4 | 2 |", "mended by a later version | 3 | 1 |",
		"closed without a change | 1 | 1 |",
		"| feature requests, and declined | 1 | 1 |", "1 more rows are",
		"| [redsync-38](groundtruth/redsync-38.md) | mended | v1.2.0: found", "| [redsync-71](groundtruth/redsync-71.md) | " +
			"mended | v4.3.0: **missed**"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// The pages in the repository are those of the stored results.
func TestPagesAreOfTheStoredResults(t *testing.T) {
	t.Chdir("..")
	stored, err := book.Read("results.jsonl", result.key)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := (&measurement{results: stored}).pages(groundtruth.Bugs())
	if err != nil {
		t.Fatal(err)
	}
	names, err := book.Differ(reports, folder, pages)
	if err != nil || len(names) > 0 {
		t.Errorf("%v are not of the stored results: run go run ./cmd -table -stored; %v", names, err)
	}
}
