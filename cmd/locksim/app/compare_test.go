package app

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"locksim/cmd/locksim/internal/console"
	"locksim/internal/testruns"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
)

// docs/reference/compare.md is the output of the command. Without LOCKSIM_SOAK=1 the test looks only which locks it
// has: which scenarios count for a lock depends on the others.
func TestComparisonIsUpToDate(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many runs")
	}
	t.Setenv(asChild, "yes")
	page, err := os.ReadFile("../../../docs/reference/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range ownLocks() {
		if strings.Contains(string(page), "\n### "+l.Name+"\n") == strings.HasPrefix(l.Name, kinds.BrokenPrefix) {
			t.Errorf("docs/reference/compare.md has no section of %s, or one of a specimen: run make compare", l.Name)
		}
	}
	if os.Getenv("LOCKSIM_SOAK") != "1" {
		return
	}
	testruns.NeedsPostgres(t)
	code, out, errs := own(t, "compare", "--markdown", "--quiet")
	if code != console.ExitExpected || errs != "" {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if d := cmp.Diff(string(page), out); d != "" {
		t.Errorf("docs/reference/compare.md is out of date: run make compare (-is +now):\n%s", d)
	}
}

// A lock that is passed to Main is compared with the built-in ones, within the width of a
// terminal.
func TestCompareExtraLock(t *testing.T) {
	testruns.OnlyWhole(t)
	t.Setenv(asChild, "yes")
	code, out, errs := call(t, []subject.Lock{mylock()}, "compare", "--quiet", "mylock", "single", "watchdog-fenced",
		"reentrant-fenced", "redlock-watchdog", "fair")
	if code != console.ExitExpected || errs != "" {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	for _, want := range []string{"6 locks side by side\n",
		"\nmylock            1 redis  no      1        1        1                 ",
		"\nredlock-watchdog  5 redis  no      1 (5)    1 (5)    1 (5), by itself  "} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q:\n%s", want, out)
		}
	}
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > compareWidth {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	if _, out, _ := call(t, []subject.Lock{mylock()}, "__complete", "compare", ""); !strings.Contains(out, "mylock\n") {
		t.Errorf("completion does not offer mylock:\n%s", out)
	}
}

// A lock that no client can use is an error of its author, and the message has the cause;
// a child that exits is a failure of the harness.
func TestCompareUnusableLock(t *testing.T) {
	t.Setenv(asChild, "yes")
	t.Setenv(misbehaving, "exit")
	extra := []subject.Lock{{Name: "mylock", New: misbehave}}
	if code, out, errs := call(t, extra, "compare", "mylock"); code != console.ExitBroken || out != "" ||
		!strings.Contains(errs, "measure mylock: the worker process ended") {
		t.Errorf("a child that ends: exit code %d\n%s%s", code, out, errs)
	}
}
